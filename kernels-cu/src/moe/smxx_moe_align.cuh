// Groups the lanes of a call into blocks of one expert each (marlin-nvfp4 4.1, invalid experts ignored): two launches, a
// warp an expert, so that a lane's place follows from the ids alone.
#pragma once

#include "pool/constants.h"
#include "pool/moe.h"

namespace pool {

constexpr int kAlignUnroll = 4;

__device__ inline int blocksOf(int lanes, int blockLanes) { return (lanes + blockLanes - 1) / blockLanes; }

// Calls found(lane) for each lane of the expert, with all threads of the warp: mask has the threads whose lane is one.
template <typename Found>
__device__ inline void scanLanes(const int32_t* ids, int lanes, int expert, const Found& found) {
  const int thread = threadIdx.x % kWarp;
  for (int from = 0; from < lanes; from += kAlignUnroll * kWarp) {
    int id[kAlignUnroll];
#pragma unroll
    for (int i = 0; i < kAlignUnroll; ++i) {
      const int lane = from + i * kWarp + thread;
      id[i] = lane < lanes ? ids[lane] : kAbsent;
    }
#pragma unroll
    for (int i = 0; i < kAlignUnroll; ++i) found(from + i * kWarp + thread, __ballot_sync(kFullWarp, id[i] == expert));
  }
}

__device__ inline int warpExpert() { return blockIdx.x * (kAlignThreads / kWarp) + threadIdx.x / kWarp; }

__device__ inline void countLanes(const MoeParams& p) {
  const int expert = warpExpert();
  if (expert >= p.experts) return;
  int count = 0;
  scanLanes(p.ids, p.tokens * p.topK, expert, [&](int, unsigned mask) { count += __popc(mask); });
  if (threadIdx.x % kWarp == 0) p.blocks.laneCounts[expert] = count;
}

__device__ inline void placeLanes(const MoeParams& p) {
  const int expert = warpExpert();
  if (expert >= p.experts) return;
  const LaneBlocks& blocks = p.blocks;
  const int thread = threadIdx.x % kWarp;
  const int lanes = p.tokens * p.topK;
  int before = 0, all = 0, mine = 0;
  for (int e = thread; e < p.experts; e += kWarp) {
    const int count = blocks.laneCounts[e];
    const int needed = blocksOf(count, blocks.blockLanes);
    if (e < expert) before += needed;
    if (e == expert) mine = count;
    all += needed;
  }
  before = __reduce_add_sync(kFullWarp, before);
  all = __reduce_add_sync(kFullWarp, all);
  mine = __reduce_add_sync(kFullWarp, mine);

  int next = before * blocks.blockLanes;
  scanLanes(p.ids, lanes, expert, [&](int lane, unsigned mask) {
    if (mask >> thread & 1u) blocks.sortedLanes[next + __popc(mask & ((1u << thread) - 1u))] = lane;
    next += __popc(mask);
  });
  const int end = before + blocksOf(mine, blocks.blockLanes);
  for (int i = next + thread; i < end * blocks.blockLanes; i += kWarp) blocks.sortedLanes[i] = lanes;
  for (int b = before + thread; b < end; b += kWarp) blocks.blockExperts[b] = expert;

  // What lies past the last block, shared out among the warps.
  for (int b = all + expert * kWarp + thread; b < blocks.maxBlocks; b += p.experts * kWarp) {
    blocks.blockExperts[b] = kAbsent;
    for (int i = 0; i < blocks.blockLanes; ++i) blocks.sortedLanes[b * blocks.blockLanes + i] = lanes;
  }
  if (expert == 0 && thread == 0) *blocks.paddedLanes = all * blocks.blockLanes;
}

}  // namespace pool
