// The missed lanes of one token's call: blocks of the kernel for one token, all of which run at the same time, read their rows on
// the host by large copies, keep them in the bank and multiply them on the way, w13 before w2.
#pragma once

#include "moe/smxx_moe_decode.cuh"

namespace pool {

// What thread i of each warp knows of lane i.
struct TokenLane {
  int expert;           // -1: none
  int row;              // in the bank
  bool missed;          // the row is on the host
  float weight;         // of the router
  ExpertAlphas alphas;  // of the expert
};

// Loads that stay where they stand; of an expert or, where there is none, of any.
__device__ inline ExpertAlphas alphasOf(const MoeParams& p, int expert) {
  const ExpertAlphas* of = p.alphas + max(expert, 0);
  return {loadEarly(&of->gate), loadEarly(&of->up), loadEarly(&of->down)};
}

// Numbers that are not negative, which the compiler does not know: what is made to depend on them comes after them, though it does
// not change. Left to itself, it would compute what is wanted while loads are under way after those have come.
struct NotNegative {
  int ored;

  __device__ int before(int value) const { return value | ored >> 31; }
};

// Place of the n-th bit, from 0 on, of those that are set; -1 where there are not so many.
__device__ inline int placeOfBit(unsigned bits, int n) {
  if ((bits & (bits + 1)) == 0) return n < __popc(bits) ? n : -1;  // the first ones are
#pragma unroll 1
  for (; n > 0; --n) bits &= bits - 1;
  return __ffs(static_cast<int>(bits)) - 1;
}

// The lanes of a token, as each warp has them.
struct TokenLanes {
  TokenLane own;    // of lane `thread`
  unsigned valid;   // those with an expert
  unsigned inBank;  // and a row in the bank
  unsigned missed;  // or on the host

  __device__ explicit TokenLanes(const TokenLane& lane)
      : own(lane),
        valid(__ballot_sync(kFullWarp, lane.expert >= 0)),
        inBank(__ballot_sync(kFullWarp, lane.expert >= 0 && !lane.missed && lane.row >= 0)),
        missed(__ballot_sync(kFullWarp, lane.expert >= 0 && lane.missed)) {}

  __device__ int countInBank() const { return __popc(inBank); }
  __device__ int countMissed() const { return __popc(missed); }
  __device__ bool computed(int lane) const { return ((inBank | missed) >> lane & 1u) != 0; }
};

// For one type of activations.
template <typename Type>
struct MissedLanes {
  using GateUp = ProductOf<Type, kToken, WeightsFrom::kHostInBulk>;
  using Down = ProductOf<Type, kTokenMissedDown, WeightsFrom::kHostInBulk>;
  static_assert(GateUp::kThreads == Down::kThreads);
  static constexpr int kGateUpBytes = GateUp::sharedBytes(1), kDownBytes = Down::sharedBytes(1);
  static constexpr int kProductBytes = kGateUpBytes > kDownBytes ? kGateUpBytes : kDownBytes;
  static_assert(kProductBytes + sizeof(int32_t) <= kToken.warps() * kTokenWarpBytes);

  // Blocks of gate and up that a lane takes.
  __device__ static int gateUpParts(const MoeParams& p) { return GateUp::block().gateUpParts(p.width); }

  // By the call's first `blocks` blocks.
  template <typename Rows>
  __device__ static void gateUp(const MoeParams& p, const TokenLanes& lanes, const Rows& rows, int blocks, uint8_t* shared) {
    const int parts = gateUpParts(p), turns = lanes.countMissed() * parts;
    const DecodeCounts counts = countsOf(p);
#pragma unroll 1
    for (int turn = blockIdx.x; turn < turns; turn += blocks) {
      const LaneGroup group = begin(lanes, turn / parts, shared);
      const int lane = placeOfBit(lanes.missed, turn / parts);
      const CountRequests<Rows, true> count(rows, lane, counts.requested + lane);
      gateUpGroup<GateUp>(p, group, turn % parts, 1, shared, count);
      waitCopies<0>();
      __syncthreads();  // no copies are on their way, and the block's h is stored; the first thread's count publishes it
      if (threadIdx.x == 0) countUp(counts.inner + lane);
    }
  }

  // By all blocks of the call, this one the `block`-th of so many; lane outputs go to store(lane, channel, eight of them).
  template <typename Rows, typename Store>
  __device__ static void down(const MoeParams& p, const TokenLanes& lanes, const Rows& rows, int block, int blocks, uint8_t* shared,
                              const Store& store) {
    const int parts = Down::block().downParts(p.hidden), turns = lanes.countMissed() * parts, gateUps = gateUpParts(p);
    const DecodeCounts counts = countsOf(p);
#pragma unroll 1
    for (int turn = block; turn < turns; turn += blocks) {
      const LaneGroup group = begin(lanes, turn / parts, shared);
      const int lane = placeOfBit(lanes.missed, turn / parts);
      waitUntil(counts.requested + lane, gateUps);
      const WaitForInner<Rows> wait(rows, lane, counts.inner + lane, gateUps);
      downGroup<Down>(p, group, turn % parts, 1, shared, wait, store);
    }
    if (threadIdx.x == 0) forgetCounts(p, blocks);  // the thread that has waited for them
  }

 private:
  // The n-th missed lane, once what the block has used before is free, also of copies on their way.
  __device__ static LaneGroup begin(const TokenLanes& lanes, int n, uint8_t* shared) {
    waitCopies<0>();
    fenceBulkCopies();
    __syncthreads();  // the block's memory is free
    const int lane = placeOfBit(lanes.missed, n);
    const int expert = __shfl_sync(kFullWarp, lanes.own.expert, lane);
    const int row = max(__shfl_sync(kFullWarp, lanes.own.row, lane), 0);  // of one that only the planner knows: 0
    int32_t* laneOf = reinterpret_cast<int32_t*>(shared + kProductBytes);
    if (threadIdx.x == 0) *laneOf = lane;
    __syncthreads();
    return {laneOf, 1, expert, row, true};
  }

  // The last block that waits for nothing more leaves the counts as they were.
  __device__ static void forgetCounts(const MoeParams& p, int blocks) {
    const DecodeCounts counts = countsOf(p);
    if (countUpAndSee(counts.parts) != blocks - 1) return;
    *counts.parts = *counts.planned = 0;
    for (int i = 0; i < p.topK; ++i) counts.inner[i] = counts.requested[i] = 0;
  }
};

}  // namespace pool
