// Groups the lanes of a call into blocks of one expert each (marlin-nvfp4 4.1, invalid experts ignored), in one launch.
//
// Every block counts the lanes of all experts for itself; then a warp an expert places its lanes in ascending order, so that
// a lane's place follows from the ids alone. The ids lie in shared memory as 16 bits, a window of them at a time.
#pragma once

#include "moe/device_ops.cuh"
#include "pool/constants.h"
#include "pool/moe.h"

namespace pool {

constexpr int kAlignUnroll = 8;
constexpr int kWindowLanes = 14336;          // with the counts just below 48 KiB
constexpr uint16_t kNoExpert = 0xffff;       // also what lies past the last lane
constexpr int kScanLanes = 8;                // ids a thread looks at at once
static_assert(kWindowLanes % (kWarp * kScanLanes) == 0 && kWindowLanes % (kAlignThreads * kAlignUnroll) == 0);

__device__ inline int blocksOf(int lanes, int blockLanes) { return (lanes + blockLanes - 1) / blockLanes; }

// Brings the ids of lanes from `first` on to the window, and counts them.
__device__ inline void fillWindow(const MoeParams& p, int first, uint16_t* window, int* counts) {
  const int lanes = p.tokens * p.topK;
  const int last = min(kWindowLanes, blocksOf(lanes - first, kWarp * kScanLanes) * kWarp * kScanLanes);
  for (int from = threadIdx.x; from < last; from += kAlignThreads * kAlignUnroll) {
    int id[kAlignUnroll];
#pragma unroll
    for (int i = 0; i < kAlignUnroll; ++i) id[i] = p.ids[min(first + from + i * kAlignThreads, lanes - 1)];
#pragma unroll
    for (int i = 0; i < kAlignUnroll; ++i) {
      const int at = from + i * kAlignThreads;
      if (at >= last) break;
      const bool valid = first + at < lanes && id[i] >= 0 && id[i] < p.experts;
      window[at] = valid ? static_cast<uint16_t>(id[i]) : kNoExpert;
      if (valid && counts != nullptr) atomicAdd(counts + id[i], 1);
    }
  }
}

// A block of kAlignThreads for each kAlignThreads / kWarp experts.
__device__ inline void alignLanes(const MoeParams& p) {
  __shared__ int counts[kMaxExperts];
  alignas(16) __shared__ uint16_t window[kWindowLanes];
  const LaneBlocks& blocks = p.blocks;
  const int thread = threadIdx.x % kWarp;
  const int lanes = p.tokens * p.topK;
  for (int e = threadIdx.x; e < p.experts; e += kAlignThreads) counts[e] = 0;
  __syncthreads();
  // The first window comes last and stays.
  for (int first = (lanes - 1) / kWindowLanes * kWindowLanes; first >= 0; first -= kWindowLanes) {
    fillWindow(p, first, window, counts);
    __syncthreads();
  }

  const int expert = blockIdx.x * (kAlignThreads / kWarp) + threadIdx.x / kWarp;
  const bool mine = expert < p.experts;
  int before = 0, all = 0;
  for (int e = thread; e < p.experts; e += kWarp) {
    const int needed = blocksOf(counts[e], blocks.blockLanes);
    if (e < expert) before += needed;
    all += needed;
  }
  before = __reduce_add_sync(kFullWarp, before);
  all = __reduce_add_sync(kFullWarp, all);

  int next = before * blocks.blockLanes;
  const int end = mine ? before + blocksOf(counts[expert], blocks.blockLanes) : before;
  for (int first = 0; first < lanes; first += kWindowLanes) {
    if (first > 0) {
      __syncthreads();  // all have scanned the window before
      fillWindow(p, first, window, nullptr);
      __syncthreads();
    }
    const int last = min(kWindowLanes, lanes - first);
    for (int from = 0; end > before && from < last; from += kWarp * kScanLanes) {
      const Words4 ids = readShared4(sharedAddress(window + from + thread * kScanLanes));
      unsigned found = 0;
#pragma unroll
      for (int i = 0; i < kScanLanes; ++i) {
        if ((ids.word[i / 2] >> (i % 2 * 16) & 0xffffu) == static_cast<unsigned>(expert)) found |= 1u << i;
      }
      if (__ballot_sync(kFullWarp, found != 0) == 0) continue;
      // Lanes of the threads before, then this thread's own.
      int place = 0, total = 0;
#pragma unroll
      for (int i = 0; i < kScanLanes; ++i) {
        const unsigned have = __ballot_sync(kFullWarp, found >> i & 1u);
        place += __popc(have & ((1u << thread) - 1u));
        total += __popc(have);
      }
#pragma unroll
      for (int i = 0; i < kScanLanes; ++i) {
        if (found >> i & 1u) blocks.sortedLanes[next + place++] = first + from + thread * kScanLanes + i;
      }
      next += total;
    }
  }
  if (!mine) return;
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
