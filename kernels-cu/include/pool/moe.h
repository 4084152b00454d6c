// What the MoE kernels share with their callers. Host-compilable.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pool/constants.h"
#include "pool/layout.h"

#ifdef __CUDACC__
#define POOL_HOST_DEVICE __host__ __device__
#else
#define POOL_HOST_DEVICE
#endif

namespace pool {

// K of a GEMM is cut into chunks of this length, the last one shorter; the same for every shape and every M.
constexpr int kChunkK = 160;

// One MMA: 16 output channels (weights) by 8 lanes (activations) over 16 k. The same roles for every M.
constexpr int kMmaChannels = 16;
constexpr int kMmaLanes = 8;
constexpr int kMmaK = 16;
constexpr int kChunkSteps = kChunkK / kMmaK;
constexpr int kChunkVectors = kChunkK / 8;  // 16-byte vectors of bf16

// A warp reads 16 bytes a thread of the Marlin words: one k16 step of this many output channels.
constexpr int kTileChannels = 64;

// Widest call of the decode kernel: each warp groups the lanes by itself, four ids a thread.
constexpr int kMaxDecodeLanes = 128;

// A warp's weights come through a ring in shared memory, half a chunk a place: words, then scale codes. Behind it lie the
// expanded scales of two half chunks. A line of 128 bytes must go to a whole line, or it is asked for in pieces. Where two
// tiles share the lines of their scales, one warp's ring takes them for the first steps, the other's for the rest.
constexpr int kLineBytes = 128;
constexpr int kHalfSteps = kChunkSteps / 2;
constexpr int kFirstSteps = (kHalfSteps + 1) / 2;
constexpr int kStepWordBytes = kTileChannels * kMmaK / 2;
constexpr int kStepScaleBytes = kTileChannels;
constexpr int kHalfBytes = kHalfSteps * kStepWordBytes + kFirstSteps * kLineBytes;
static_assert(2 * kStepScaleBytes == kLineBytes && kStepWordBytes % kLineBytes == 0);
constexpr int kHalfExpandedBytes = 2 * kHalfSteps * kStepScaleBytes;
static_assert(kHalfExpandedBytes % kLineBytes == 0);

// How the threads of a GEMM's block share its work (src/moe/block_product.cuh).
struct MoeBlock {
  int tiles;       // groups of 64 channels
  int chunkWarps;  // warps a tile that take chunks of K side by side; one keeps its sums in registers
  int laneTiles;   // groups of 8 lanes
  int slots;       // half chunks in a warp's ring, an even number

  POOL_HOST_DEVICE constexpr int warps() const { return tiles * chunkWarps; }
  POOL_HOST_DEVICE constexpr int threads() const { return warps() * kWarp; }
  POOL_HOST_DEVICE constexpr int lanes() const { return laneTiles * kMmaLanes; }
  // Blocks for a group of lanes: a block of gate and up takes both for half as many tiles of the width.
  POOL_HOST_DEVICE constexpr int gateUpParts(int width) const { return (width / kTileChannels + tiles / 2 - 1) / (tiles / 2); }
  POOL_HOST_DEVICE constexpr int downParts(int hidden) const { return (hidden / kTileChannels + tiles - 1) / tiles; }
  POOL_HOST_DEVICE constexpr int parts(int hidden, int width) const { return gateUpParts(width) + downParts(hidden); }
  // Dynamic shared memory of a block for groups of at most so many lanes: rings, rounds of activations, sums.
  POOL_HOST_DEVICE constexpr int ringBytes() const { return warps() * (slots * kHalfBytes + 2 * kHalfExpandedBytes); }
  POOL_HOST_DEVICE constexpr int rowBytes() const { return chunkWarps * kChunkK * 2 + 16; }
  POOL_HOST_DEVICE constexpr int activationBytes(int lanesAtMost) const { return (slots / 2 + 1) * lanesAtMost * rowBytes(); }
  POOL_HOST_DEVICE constexpr int sumRow() const { return kTileChannels + (chunkWarps == 1 ? 4 : 0); }
  POOL_HOST_DEVICE constexpr int sumBytes(int lanesAtMost) const { return tiles * lanesAtMost * sumRow() * 4; }
  POOL_HOST_DEVICE constexpr int sharedBytes(int lanesAtMost) const {
    const int product = ringBytes() + activationBytes(lanesAtMost);
    if (chunkWarps > 1) return product + (chunkWarps + 1) * sumBytes(lanesAtMost);
    return product > sumBytes(lanesAtMost) ? product : sumBytes(lanesAtMost);  // the sums take the rings' place
  }
};

// Blocks of the decode kernel, for both GEMMs, whose groups are of 1 to 8 lanes; and those of a missed row's gate and up.
constexpr MoeBlock kDecode = {2, 4, 1, 2};
constexpr MoeBlock kMissedGateUp = {4, 2, 1, 2};
static_assert(kMissedGateUp.threads() == kDecode.threads());
static_assert(kMissedGateUp.sharedBytes(1) <= kDecode.sharedBytes(1) && kMissedGateUp.sharedBytes(8) <= kDecode.sharedBytes(8));

// Blocks of a decode call.
constexpr int64_t decodeBlocks(int64_t lanes, int hidden, int width) {
  return lanes * kDecode.parts(hidden, width);
}

// The kernel for one token, whose blocks all run at the same time, one a multiprocessor. Its warps take chunks of tiles in
// turn, each chunk whole in one of two places: words, then scale codes; behind the places lie the expanded scales of one
// chunk. Gate and up of missed rows are by blocks of this shape; their down, whose bytes come last, is shared out over more
// multiprocessors.
constexpr MoeBlock kToken = {4, 4, 1, 2};
constexpr MoeBlock kTokenMissedDown = {2, 8, 1, 2};
static_assert(kTokenMissedDown.threads() == kToken.threads());
constexpr int kTokenPlaces = 2;
constexpr int kMaxTokenLanes = kWarp;
constexpr int kMaxTokenBlocks = 1023;  // whose square the kernel divides exactly
constexpr int kChunkWordBytes = kChunkSteps * kStepWordBytes;
constexpr int kChunkBytes = kChunkWordBytes + kChunkSteps * kStepScaleBytes;
constexpr int kChunkExpandedBytes = 2 * kChunkSteps * kStepScaleBytes;
constexpr int kTokenWarpBytes = kTokenPlaces * kChunkBytes + kChunkExpandedBytes;
static_assert(kChunkBytes % kLineBytes == 0 && kTokenWarpBytes % kLineBytes == 0);

// How so many blocks share the work of one token: units of gate and up, 64 channels of both of one lane, and tiles of down, those
// of a lane side by side, are each cut into runs of equal length. So blocks with fewer units lie evenly among the others. Blocks
// fill one group of multiprocessors after another, and a launch may begin with any group: were those with fewer units the last
// ones, a call's time would depend on which groups they come to.
struct TokenGrid {
  int topK;
  int hidden;
  int width;
  int blocks;

  constexpr int gateUpTiles() const { return width / kTileChannels; }
  constexpr int downTiles() const { return hidden / kTileChannels; }
  constexpr int gateUpChunks() const { return (hidden + kChunkK - 1) / kChunkK; }
  constexpr int downChunks() const { return (width + kChunkK - 1) / kChunkK; }
  constexpr int mostUnits() const { return (topK * gateUpTiles() + blocks - 1) / blocks; }
  constexpr int mostTiles() const { return (topK * downTiles() + blocks - 1) / blocks; }
  constexpr int mostLanes() const { return (mostTiles() + downTiles() - 2) / downTiles() + 1; }
  // Chunks that a block multiplies, of either GEMM, and that a warp does.
  constexpr int gateUpJobs() const { return 2 * mostUnits() * gateUpChunks(); }
  constexpr int downJobs() const { return mostTiles() * downChunks(); }
  constexpr int mostTurns() const {
    const int warps = kToken.warps();
    return (gateUpJobs() + warps - 1) / warps + (downJobs() + warps - 1) / warps;
  }
  // Most dynamic shared memory of a block: chunks, activations, sums of chunks and, behind those, h of the lanes of its tiles.
  constexpr int activationBytes() const { return gateUpChunks() * kChunkK * 2; }
  constexpr int innerBytes() const { return downChunks() * kChunkK * 2; }
  constexpr int sumBytes() const {
    return (gateUpJobs() > downJobs() ? gateUpJobs() : downJobs()) * kTileChannels * 4;
  }
  constexpr int sharedBytes() const {
    return kToken.warps() * kTokenWarpBytes + activationBytes() + mostLanes() * innerBytes() + sumBytes();
  }
  // Whether the kernel can take a token of this shape by blocks that may have so much shared memory.
  constexpr bool fits(int64_t sharedBytesAtMost) const {
    if (topK > kMaxTokenLanes || blocks < 1 || blocks > kMaxTokenBlocks) return false;
    if (mostUnits() > kToken.warps() || mostTiles() > kToken.warps()) return false;
    if (mostTurns() + kTokenPlaces > kWarp) return false;  // each thread of a warp knows one of its turns
    return sharedBytes() <= sharedBytesAtMost;
  }
  // 32-bit words through which the blocks exchange h and lane outputs.
  constexpr int64_t exchangeWords() const { return int64_t(topK) * (width + hidden) / 2; }
};

// 32-bit words that a decode call counts with (DecodeCounts); those of TokenGrid::exchangeWords come behind them.
POOL_HOST_DEVICE constexpr int decodeCounts(int hidden) {
  return (hidden / kTileChannels + 4 + 2 * kMaxDecodeLanes + 3) / 4 * 4;
}

// Blocks of the kernels over aligned lanes; the number is the lanes of a group.
constexpr MoeBlock kAligned8 = {4, 1, 1, 2};
constexpr MoeBlock kAligned16 = {4, 1, 2, 2};
constexpr MoeBlock kAligned32 = {4, 1, 4, 2};

// The way for so many tokens, as measured on an H200 (top-10 of 512): the decode kernel with a lane a block up to this many,
// above it aligned lanes, with so many in a block. Java's MoeWay chooses by these.
constexpr int kFastestDecodeTokens = 4;
constexpr int fastestBlockLanes(int tokens) { return tokens <= 128 ? 8 : tokens <= 640 ? 16 : 32; }

// Threads of a block of the alignment, with a warp an expert, and of the sum, with a thread for 8 output channels.
constexpr int kAlignThreads = 256;
constexpr int kSumThreads = 128;

// One of the four parts of an expert row in a bank: row r lies at base + r * strideBytes, on 16 bytes.
struct alignas(8) RowBase {
  const uint8_t* base;
  uint64_t strideBytes;
};
static_assert(sizeof(RowBase) == 16);

// Factors of one expert's accumulators; a table [layers * experts] is resident, indexed by key and not by row.
struct ExpertAlphas {
  float gate;
  float up;
  float down;
};
static_assert(sizeof(ExpertAlphas) == 12);

// Groups of lanes of one expert, made by the alignment kernel (marlin-nvfp4 4). Device memory.
struct alignas(8) LaneBlocks {
  int32_t* sortedLanes;   // [maxBlocks * blockLanes] ascending within an expert; `lanes` where no lane is
  int32_t* blockExperts;  // [maxBlocks] expert, or -1 past the last block
  int32_t* paddedLanes;   // [1] live blocks * blockLanes
  int32_t blockLanes;     // 8, 16 or 32
  int32_t maxBlocks;      // see maxLaneBlocks
};
static_assert(sizeof(LaneBlocks) == 32);

// One layer call: out[t] = sum over t's lanes of weight * down(silu(gate(x)) * up(x)). Hidden and width: multiples of 64.
// Rows of missed lanes are read on the host and, by the same blocks, written to their place in the bank.
struct alignas(8) MoeParams {
  const uint16_t* activations;  // bf16 [tokens, hidden], on 16 bytes
  const int32_t* ids;           // [lanes] expert; a lane outside [0, experts) is not computed
  const int32_t* rows;          // [lanes] bank row of each valid lane; -1: another call has left its output (decode of 2 tokens and more)
  const int32_t* missRows;      // [lanes] -1: the lane's row is in the bank; else it is on the host; null: all in the bank (decode)
  const int32_t* expertRows;    // [experts] bank row of each routed expert; -1: not in this launch (general, both GEMMs)
  const float* weights;         // [lanes] router weights
  const ExpertAlphas* alphas;   // [experts] of this layer
  RowBase w13;                  // Marlin words [hidden/16, 4*width]; gate columns first
  RowBase s13;                  // scale codes [hidden/16, 2*width]
  RowBase w2;                   // Marlin words [width/16, 2*hidden]
  RowBase s2;                   // scale codes [width/16, hidden]
  RowBase host;                 // w13 of the layer's experts on the host; the other parts lie as far from it as in the bank (decode)
  uint16_t* inner;              // bf16 [lanes, width] scratch, on 16 bytes
  uint16_t* laneOut;            // bf16 [lanes, hidden] scratch, on 16 bytes
  uint16_t* out;                // bf16 [tokens, hidden], on 16 bytes
  int32_t* counts;              // [decodeCounts, exchangeWords], or [maxBlocks] (general); on 16 bytes, 0 before and after a call
  LaneBlocks blocks;            // (general)
  int32_t tokens;
  int32_t topK;
  int32_t hidden;
  int32_t width;
  int32_t experts;
  int32_t blockLanes;  // most lanes of a decode block, 1 .. 8: 1 reads a row for each lane, 8 once for 8 lanes
  int32_t hostLanes;   // the same for rows on the host, each of which should cross the link once
  int32_t firstBlock;  // aligned block that the launch's first block takes: GEMMs may be launched in parts (general)
};
static_assert(sizeof(MoeParams) == 232);

// One token's call through the pool: its step, of topK lanes with the same weights and experts as the MoE's, and its MoE, whose
// ids, rows and missRows the kernel finds itself; blockLanes and hostLanes are 1.
struct alignas(8) PoolTokenParams {
  PlanParams plan;
  MoeParams moe;
};
static_assert(sizeof(PoolTokenParams) == sizeof(PlanParams) + sizeof(MoeParams));

// Why the kernels can't take a call of this shape, or null where they can; they check nothing themselves.
constexpr const char* refusedMoe(int64_t tokens, int64_t topK, int64_t hidden, int64_t width, int64_t experts) {
  if (hidden < kTileChannels || hidden % kTileChannels != 0) return "hidden must be a positive multiple of 64";
  if (width < kTileChannels || width % kTileChannels != 0) return "width must be a positive multiple of 64";
  if (hidden > 65536 || width > 65536) return "hidden and width must be at most 65536";
  if (experts < 1 || experts > kMaxExperts) return "experts must be 1 .. 4096";
  if (topK < 1 || topK > experts) return "topK must be 1 .. experts";
  if (tokens < 1 || tokens > 8192) return "tokens must be 1 .. 8192";
  return nullptr;
}

// Most blocks that `lanes` lanes of `experts` experts can need.
constexpr int64_t maxLaneBlocks(int64_t lanes, int64_t experts, int64_t blockLanes) {
  const int64_t padded = lanes + experts * (blockLanes - 1);
  const int64_t most = lanes < experts && lanes * blockLanes < padded ? lanes * blockLanes : padded;
  return (most + blockLanes - 1) / blockLanes;
}

}  // namespace pool
