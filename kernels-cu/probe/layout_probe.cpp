// Prints every field of every shared struct as CSV: struct, field, offset and size in bytes. A row without a field is the
// struct itself, or a shared number with its value in the last column.
#include <cstdio>
#include <initializer_list>

#include "pool/convert.h"
#include "pool/layout.h"
#include "pool/model.h"
#include "pool/moe.h"
#include "pool/partition.h"
#include "pool/route.h"

#define NUMBER(name) std::printf(#name ",,0,%d\n", static_cast<int>(pool::name))
#define STRUCT(type) std::printf(#type ",,0,%zu\n", sizeof(pool::type))
#define FIELD(type, field) \
  std::printf(#type "," #field ",%zu,%zu\n", offsetof(pool::type, field), sizeof(pool::type::field))

#define BLOCK(name) block(#name, pool::name)

static void block(const char* name, const pool::MoeBlock& block) {
  std::printf("%s,threads,0,%d\n", name, block.threads());
  std::printf("%s,lanes,0,%d\n", name, block.lanes());
  std::printf("%s,gateUpParts,832,%d\n", name, block.tiles < 2 ? 0 : block.gateUpParts(832));
  std::printf("%s,downParts,832,%d\n", name, block.downParts(832));
  for (int lanes : {1, 3, block.lanes()}) std::printf("%s,sharedBytes,%d,%d\n", name, lanes, block.sharedBytes(lanes));
}

int main() {
  std::printf("struct,field,offset,bytes\n");
  NUMBER(kLayoutVersion);
  NUMBER(kMaxLanes);
  NUMBER(kMaxExperts);
  NUMBER(kMaxRowParts);
  NUMBER(kPlanThreads);
  NUMBER(kCopyThreads);
  NUMBER(kTileChannels);
  NUMBER(kMaxDecodeLanes);
  NUMBER(kChunkK);
  NUMBER(kAlignThreads);
  NUMBER(kSumThreads);
  NUMBER(kPartitionThreads);
  NUMBER(kRouteThreads);
  NUMBER(kStandInThreads);
  NUMBER(kStandInBlocksPerProcessor);
  NUMBER(kRouterTokens);
  NUMBER(kRouterWarps);
  NUMBER(kChooseThreads);
  NUMBER(kConvertThreads);
  NUMBER(kProjections);
  NUMBER(kScaleValues);
  NUMBER(kFastestDecodeTokens);
  for (int tokens : {1, 128, 129, 640, 641, 8192}) {
    std::printf("fastestBlockLanes,,%d,%d\n", tokens, pool::fastestBlockLanes(tokens));
  }
  for (int words : {4, 8192, 8196, 1048576, 1048577}) std::printf("routeBlocks,,%d,%d\n", words, pool::routeBlocks(words));
  std::printf("decodeCounts,,2560,%lld\n", static_cast<long long>(pool::decodeCounts(2560)));
  for (const pool::TokenGrid& grid : {pool::TokenGrid{10, 2560, 640, 132}, pool::TokenGrid{8, 2048, 768, 114}, pool::TokenGrid{2, 192, 64, 5}}) {
    std::printf("TokenGrid,sharedBytes,%d,%d\n", grid.blocks, grid.sharedBytes());
    std::printf("TokenGrid,exchangeWords,%d,%lld\n", grid.blocks, static_cast<long long>(grid.exchangeWords()));
    std::printf("TokenGrid,fits,%d,%d\n", grid.blocks, grid.fits(grid.sharedBytes()) && !grid.fits(grid.sharedBytes() - 1));
  }
  // Refused for one reason alone: units of a block, its turns, blocks.
  for (const pool::TokenGrid& grid : {pool::TokenGrid{10, 2560, 640, 1}, pool::TokenGrid{1, 65536, 1024, 64}, pool::TokenGrid{10, 2560, 640, 1024}}) {
    std::printf("TokenGrid,fits,%d,%d\n", grid.blocks, grid.fits(int64_t{1} << 40));
  }
  BLOCK(kDecode);
  BLOCK(kToken);
  BLOCK(kAligned8);
  BLOCK(kAligned16);
  BLOCK(kAligned32);

  STRUCT(PlanState);
  FIELD(PlanState, clock);
  FIELD(PlanState, forwards);
  FIELD(PlanState, error);
  FIELD(PlanState, errorLayer);
  FIELD(PlanState, errorLane);
  FIELD(PlanState, reserved);

  STRUCT(PlanControls);
  FIELD(PlanControls, gate);
  FIELD(PlanControls, promoteLimit);
  FIELD(PlanControls, promoteInterval);
  FIELD(PlanControls, promoteMinMisses);
  FIELD(PlanControls, protectRecent);
  FIELD(PlanControls, reserved);

  STRUCT(RowCopy);
  FIELD(RowCopy, expert);
  FIELD(RowCopy, row);

  STRUCT(StepOutput);
  FIELD(StepOutput, promoted);
  FIELD(StepOutput, staged);
  FIELD(StepOutput, reserved);
  FIELD(StepOutput, copies);
  FIELD(StepOutput, routes);
  FIELD(StepOutput, safeIds);
  FIELD(StepOutput, missRows);

  STRUCT(PlanTables);
  FIELD(PlanTables, hotRow);
  FIELD(PlanTables, coldRow);
  FIELD(PlanTables, rowKey);
  FIELD(PlanTables, rowUse);
  FIELD(PlanTables, missCount);
  FIELD(PlanTables, state);
  FIELD(PlanTables, controls);
  FIELD(PlanTables, layers);
  FIELD(PlanTables, experts);
  FIELD(PlanTables, poolRows);
  FIELD(PlanTables, rows);

  STRUCT(PlanParams);
  FIELD(PlanParams, tables);
  FIELD(PlanParams, ids);
  FIELD(PlanParams, weights);
  FIELD(PlanParams, output);
  FIELD(PlanParams, stepMap);
  FIELD(PlanParams, layer);
  FIELD(PlanParams, lanes);

  STRUCT(RowPart);
  FIELD(RowPart, bank);
  FIELD(RowPart, bankStrideBytes);
  FIELD(RowPart, sourceOffsetBytes);
  FIELD(RowPart, bytes);

  STRUCT(RowCopyParams);
  FIELD(RowCopyParams, plan);
  FIELD(RowCopyParams, sourceLayers);
  FIELD(RowCopyParams, sourceRowBytes);
  FIELD(RowCopyParams, parts);
  FIELD(RowCopyParams, layer);
  FIELD(RowCopyParams, partCount);

  STRUCT(RowBase);
  FIELD(RowBase, base);
  FIELD(RowBase, strideBytes);

  STRUCT(ExpertAlphas);
  FIELD(ExpertAlphas, gate);
  FIELD(ExpertAlphas, up);
  FIELD(ExpertAlphas, down);

  STRUCT(LaneBlocks);
  FIELD(LaneBlocks, sortedLanes);
  FIELD(LaneBlocks, blockExperts);
  FIELD(LaneBlocks, paddedLanes);
  FIELD(LaneBlocks, blockLanes);
  FIELD(LaneBlocks, maxBlocks);

  STRUCT(MoeParams);
  FIELD(MoeParams, activations);
  FIELD(MoeParams, ids);
  FIELD(MoeParams, rows);
  FIELD(MoeParams, missRows);
  FIELD(MoeParams, expertRows);
  FIELD(MoeParams, weights);
  FIELD(MoeParams, alphas);
  FIELD(MoeParams, w13);
  FIELD(MoeParams, s13);
  FIELD(MoeParams, w2);
  FIELD(MoeParams, s2);
  FIELD(MoeParams, host);
  FIELD(MoeParams, inner);
  FIELD(MoeParams, laneOut);
  FIELD(MoeParams, out);
  FIELD(MoeParams, counts);
  FIELD(MoeParams, blocks);
  FIELD(MoeParams, tokens);
  FIELD(MoeParams, topK);
  FIELD(MoeParams, hidden);
  FIELD(MoeParams, width);
  FIELD(MoeParams, experts);
  FIELD(MoeParams, blockLanes);
  FIELD(MoeParams, hostLanes);
  FIELD(MoeParams, firstBlock);
  STRUCT(PoolTokenParams);
  FIELD(PoolTokenParams, plan);
  FIELD(PoolTokenParams, moe);

  STRUCT(PartitionOutput);
  FIELD(PartitionOutput, missing);
  FIELD(PartitionOutput, touched);
  FIELD(PartitionOutput, invalidLane);
  FIELD(PartitionOutput, reserved);
  FIELD(PartitionOutput, experts);
  FIELD(PartitionOutput, laneCounts);

  STRUCT(PartitionParams);
  FIELD(PartitionParams, tables);
  FIELD(PartitionParams, ids);
  FIELD(PartitionParams, weights);
  FIELD(PartitionParams, safeIds);
  FIELD(PartitionParams, ringRows);
  FIELD(PartitionParams, output);
  FIELD(PartitionParams, layer);
  FIELD(PartitionParams, lanes);
  FIELD(PartitionParams, ringSize);
  FIELD(PartitionParams, reserved);

  STRUCT(RouteState);
  FIELD(RouteState, forward);
  FIELD(RouteState, hash);
  FIELD(RouteState, selected);
  FIELD(RouteState, promoted);
  FIELD(RouteState, staged);
  FIELD(RouteState, sum);
  FIELD(RouteState, pending);
  FIELD(RouteState, tapeForward);
  FIELD(RouteState, ended);
  FIELD(RouteState, reserved);

  STRUCT(RouteParams);
  FIELD(RouteParams, tapeIds);
  FIELD(RouteParams, tapeWeights);
  FIELD(RouteParams, state);
  FIELD(RouteParams, hashes);
  FIELD(RouteParams, output);
  FIELD(RouteParams, plan);
  FIELD(RouteParams, digest);
  FIELD(RouteParams, ids);
  FIELD(RouteParams, weights);
  FIELD(RouteParams, layer);
  FIELD(RouteParams, layers);
  FIELD(RouteParams, lanes);
  FIELD(RouteParams, experts);
  FIELD(RouteParams, tapeForwards);
  FIELD(RouteParams, hashSlots);
  FIELD(RouteParams, outputWords);
  FIELD(RouteParams, sanitise);

  STRUCT(StandInState);
  FIELD(StandInState, digest);
  FIELD(StandInState, sum);
  FIELD(StandInState, arrived);
  FIELD(StandInState, reserved);

  STRUCT(StandInParams);
  FIELD(StandInParams, memory);
  FIELD(StandInParams, bytes);
  FIELD(StandInParams, bytesPerUnit);
  FIELD(StandInParams, units);
  FIELD(StandInParams, maxUnits);
  FIELD(StandInParams, after);
  FIELD(StandInParams, state);
  FIELD(StandInParams, afterCount);
  FIELD(StandInParams, reserved);

  STRUCT(RouterParams);
  FIELD(RouterParams, activations);
  FIELD(RouterParams, matrix);
  FIELD(RouterParams, logits);
  FIELD(RouterParams, ids);
  FIELD(RouterParams, weights);
  FIELD(RouterParams, tokens);
  FIELD(RouterParams, hidden);
  FIELD(RouterParams, experts);
  FIELD(RouterParams, topK);

  STRUCT(ScaleCounts);
  FIELD(ScaleCounts, firstBad);
  FIELD(ScaleCounts, counts);

  STRUCT(ConvertParams);
  FIELD(ConvertParams, plain);
  FIELD(ConvertParams, rows);
  FIELD(ConvertParams, counts);
  FIELD(ConvertParams, codes);
  FIELD(ConvertParams, experts);
  FIELD(ConvertParams, hidden);
  FIELD(ConvertParams, width);
  FIELD(ConvertParams, reserved);
  return 0;
}
