// Groups the lanes of a call into blocks of one expert each (marlin-nvfp4 4.1, invalid experts ignored): a counting sort by
// one block that keeps the order of lanes, so that a lane's place follows from the ids alone.
//
// Lanes are taken a window at a time, a window cut into segments of consecutive lanes, a warp each. A warp counts its lanes by
// expert as it comes to them, which ranks each within its segment; sums over the segments before rank it within the window.
#pragma once

#include "moe/device_ops.cuh"
#include "pool/constants.h"
#include "pool/moe.h"

namespace pool {

constexpr int kAlignWarps = kAlignThreads / kWarp;
constexpr int kAlignRounds = 6;     // most lanes of a window that a thread takes, their ids all under way at once
constexpr int kAlignUnroll = 8;     // counts of segments that a thread reads at once
constexpr int kAlignWords = 12160;  // shared memory for all that is counted: with the rest just below 48 KiB
static_assert(kAlignWarps <= kWarp, "one warp's threads add up all warps");

__device__ inline int blocksOf(int lanes, int blockLanes) { return (lanes + blockLanes - 1) / blockLanes; }

__device__ inline int bitsOf(int number) {
  int bits = 0;
  while (number >> bits != 0) ++bits;
  return bits;
}

struct AlignScratch {
  alignas(16) uint32_t words[kAlignWords];
  int ofWarp[kAlignWarps];
};

class LaneSort {
 public:
  __device__ LaneSort(const MoeParams& p, AlignScratch& scratch)
      : p_(p),
        scratch_(scratch),
        lanes_(p.tokens * p.topK),
        pairs_((p.experts + 7) / 8 * 4),
        segments_(min(kAlignWarps, (kAlignWords - 2 * pairs_) / pairs_ - 1)),
        bits_(bitsOf(p.experts)),
        next_(reinterpret_cast<int*>(scratch.words + (segments_ + 1) * pairs_)) {}

  __device__ void run() {
    for (int e = threadIdx.x; e < 2 * pairs_; e += kAlignThreads) next_[e] = 0;
    // The first window comes last and stays.
    const int window = segments_ * kAlignRounds * kWarp;
    for (int first = (lanes_ - 1) / window * window; first >= 0; first -= window) {
      rankLanes(first);
      addTotals();
      __syncthreads();  // the experts' counts are complete, and the ranks may be made anew
    }
    placeExperts();
    __syncthreads();  // publishes where each expert's lanes go
    placeLanes(0);
    for (int first = window; first < lanes_; first += window) {
      __syncthreads();  // all have placed the window before
      addTotals();
      rankLanes(first);
      placeLanes(first);
    }
  }

 private:
  // Of a segment: lanes of each expert so far, as 16 bits; later those of the segments before it. The last segment is of none.
  __device__ uint16_t* ofSegment(int segment) { return reinterpret_cast<uint16_t*>(scratch_.words + segment * pairs_); }

  __device__ int laneOf(int first, int round) const {
    return first + (static_cast<int>(threadIdx.x) / kWarp * rounds_ + round) * kWarp + static_cast<int>(threadIdx.x) % kWarp;
  }

  // Threads of the warp with the same expert: bit by bit, since the instruction for it takes a turn for each expert.
  __device__ unsigned lanesOf(int expert) const {
    unsigned same = kFullWarp;
    for (int bit = 0; bit < bits_; ++bit) {
      const bool mine = expert >> bit & 1;
      const unsigned ones = __ballot_sync(kFullWarp, mine);
      same &= mine ? ones : ~ones;
    }
    return same;
  }

  // Leaves this thread's experts and their ranks, and what each expert has in the window's segments.
  __device__ void rankLanes(int first) {
    const int warp = threadIdx.x / kWarp;
    const int groups = blocksOf(lanes_ - first, kWarp);
    rounds_ = min(kAlignRounds, blocksOf(groups, segments_));
    const int segments = min(segments_, blocksOf(groups, rounds_));
#pragma unroll
    for (int r = 0; r < kAlignRounds; ++r) {
      const int lane = laneOf(first, r);
      const int id = warp < segments && r < rounds_ && lane < lanes_ ? p_.ids[lane] : kAbsent;
      expert_[r] = id >= 0 && id < p_.experts ? id : kAbsent;
    }
    for (int i = threadIdx.x; i < segments * pairs_ / 4; i += kAlignThreads) {
      writeShared4(sharedAddress(scratch_.words + 4 * i), {});
    }
    __syncthreads();  // all counts are 0
    uint16_t* counts = ofSegment(warp);
    const unsigned before = (1u << threadIdx.x % kWarp) - 1u;
#pragma unroll
    for (int r = 0; r < kAlignRounds; ++r) {
      if (warp >= segments || r >= rounds_) break;
      const unsigned same = lanesOf(expert_[r]);
      if (expert_[r] != kAbsent) rank_[r] = counts[expert_[r]] + __popc(same & before);
      __syncwarp();  // all have read the counts
      if (expert_[r] != kAbsent && (same & before) == 0) counts[expert_[r]] = static_cast<uint16_t>(rank_[r] + __popc(same));
      __syncwarp();
    }
    __syncthreads();  // publishes the segments' counts
    // Two experts at a time: a window has too few lanes to carry from one half into the other.
    static_assert(kAlignWarps * kAlignRounds * kWarp < 65536);
    for (int pair = threadIdx.x; pair < pairs_; pair += kAlignThreads) {
      uint32_t sum = 0;
      for (int first = 0; first < segments; first += kAlignUnroll) {
        uint32_t counts[kAlignUnroll];
#pragma unroll
        for (int i = 0; i < kAlignUnroll; ++i) {
          counts[i] = first + i < segments ? scratch_.words[(first + i) * pairs_ + pair] : 0;
        }
#pragma unroll
        for (int i = 0; i < kAlignUnroll; ++i) {
          if (first + i < segments) scratch_.words[(first + i) * pairs_ + pair] = sum;
          sum += counts[i];
        }
      }
      scratch_.words[segments_ * pairs_ + pair] = sum;
    }
    __syncthreads();  // publishes the sums
  }

  // The last window's lanes to what is counted; by the threads that made the sums.
  __device__ void addTotals() {
    for (int pair = threadIdx.x; pair < pairs_; pair += kAlignThreads) {
      const uint32_t total = scratch_.words[segments_ * pairs_ + pair];
      next_[2 * pair] += total & 0xffffu;
      next_[2 * pair + 1] += total >> 16;
    }
  }

  // From the experts' counts to where their lanes begin; all of the output but the lanes.
  __device__ void placeExperts() {
    const LaneBlocks& blocks = p_.blocks;
    const int thread = threadIdx.x % kWarp;
    const int warp = threadIdx.x / kWarp;
    const int perThread = (p_.experts + kAlignThreads - 1) / kAlignThreads;
    const int firstExpert = threadIdx.x * perThread;
    const int lastExpert = min(firstExpert + perThread, p_.experts);
    int mine = 0;
    for (int e = firstExpert; e < lastExpert; ++e) mine += blocksOf(next_[e], blocks.blockLanes);
    int upTo = mine;
#pragma unroll
    for (int apart = 1; apart < kWarp; apart *= 2) {
      const int other = __shfl_sync(kFullWarp, upTo, max(thread - apart, 0));
      if (thread >= apart) upTo += other;
    }
    if (thread == kWarp - 1) scratch_.ofWarp[warp] = upTo;
    __syncthreads();  // publishes the warps' sums
    const int ofWarp = thread < kAlignWarps ? scratch_.ofWarp[thread] : 0;
    const int all = __reduce_add_sync(kFullWarp, ofWarp);
    int block = __reduce_add_sync(kFullWarp, thread < warp ? ofWarp : 0) + upTo - mine;
    for (int e = firstExpert; e < lastExpert; ++e) {
      const int end = block + blocksOf(next_[e], blocks.blockLanes);
      for (int i = block * blocks.blockLanes + next_[e]; i < end * blocks.blockLanes; ++i) blocks.sortedLanes[i] = lanes_;
      next_[e] = block * blocks.blockLanes;
      for (; block < end; ++block) blocks.blockExperts[block] = e;
    }
    for (int b = all + threadIdx.x; b < blocks.maxBlocks; b += kAlignThreads) blocks.blockExperts[b] = kAbsent;
    for (int i = all * blocks.blockLanes + threadIdx.x; i < blocks.maxBlocks * blocks.blockLanes; i += kAlignThreads) {
      blocks.sortedLanes[i] = lanes_;
    }
    if (threadIdx.x == 0) *blocks.paddedLanes = all * blocks.blockLanes;
  }

  __device__ void placeLanes(int first) {
    const uint16_t* before = ofSegment(threadIdx.x / kWarp);
#pragma unroll
    for (int r = 0; r < kAlignRounds; ++r) {
      const int e = expert_[r];
      if (e != kAbsent) p_.blocks.sortedLanes[next_[e] + before[e] + rank_[r]] = laneOf(first, r);
    }
  }

  const MoeParams& p_;
  AlignScratch& scratch_;
  const int lanes_;
  const int pairs_;     // of experts, a multiple of 4
  const int segments_;  // at most; the fewer, the more experts
  const int bits_;      // of an expert's number, and one that tells kAbsent from all of them
  int* next_;           // [experts] lanes; then the place of its next lane
  int rounds_ = 0;      // lanes of a thread in this window
  int expert_[kAlignRounds];
  int rank_[kAlignRounds];  // within the segment
};

// One block of kAlignThreads.
__device__ inline void alignLanes(const MoeParams& p) {
  __shared__ AlignScratch scratch;
  LaneSort(p, scratch).run();
}

}  // namespace pool
