// The missed lanes of one token's call: blocks of the kernel for one token, all of which run at the same time, read their rows on
// the host by large copies, keep them in the bank and multiply them on the way, w13 before w2.
#pragma once

#include "moe/smxx_moe_decode.cuh"
#include "moe/token_lanes.cuh"

namespace pool {

// Of a lane's down: w2 is asked for once all of w13 has been. By then the block has done all else, or the link would run dry.
template <typename Rows>
struct AfterGateUp : WaitForInner<Rows> {
  const int32_t* requested;
  __device__ AfterGateUp(const Rows& rows, int lane, const DecodeCounts& counts, int parts)
      : WaitForInner<Rows>(rows, lane, counts.inner + lane, parts), requested(counts.requested + lane) {}
  __device__ void waitToRequest() const { waitUntil(requested, this->parts); }
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

  // By the call's first `blocks` blocks alone: each part is counted once.
  template <typename Rows>
  __device__ static void gateUp(const MoeParams& p, const TokenLanes& lanes, const Rows& rows, int blocks, uint8_t* shared) {
    const int parts = gateUpParts(p), turns = lanes.countMissed() * parts;
    const DecodeCounts counts = countsOf(p);
#pragma unroll 1
    for (int turn = blockIdx.x; turn < turns; turn += blocks) {
      const LaneTurn at(lanes, turn, parts);
      const CountRequests<Rows, true> count(rows, at.lane, counts.requested + at.lane);
      gateUpGroup<GateUp>(p, begin(lanes, at.lane, shared), at.part, 1, shared, count);
      waitCopies<0>();
      __syncthreads();  // no copies are on their way, and the block's h is stored; the first thread's count publishes it
      if (threadIdx.x == 0) countUp(counts.inner + at.lane);
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
      const LaneTurn at(lanes, turn, parts);
      const LaneGroup group = begin(lanes, at.lane, shared);
      const AfterGateUp<Rows> wait(rows, at.lane, counts, gateUps);
      downGroup<Down>(p, group, at.part, 1, shared, wait, store);
    }
    if (threadIdx.x == 0) forgetCounts(p, lanes.missed, gateUps, blocks);  // the thread that has waited for them
  }

 private:
  // A part of a missed lane's product.
  struct LaneTurn {
    int lane, part;

    __device__ LaneTurn(const TokenLanes& lanes, int turn, int parts) {
      const int n = turn / parts;
      lane = placeOfBit(lanes.missed, n);
      part = turn - n * parts;
    }
  };

  // A missed lane, once what the block has used before is free, also of copies on their way.
  __device__ static LaneGroup begin(const TokenLanes& lanes, int lane, uint8_t* shared) {
    waitCopies<0>();
    fenceBulkCopies();
    __syncthreads();  // the block's memory is free
    const int expert = __shfl_sync(kFullWarp, lanes.own.expert, lane);
    const int row = max(__shfl_sync(kFullWarp, lanes.own.row, lane), 0);  // of one that only the planner knows: 0
    int32_t* laneOf = reinterpret_cast<int32_t*>(shared + kProductBytes);
    if (threadIdx.x == 0) *laneOf = lane;
    __syncthreads();  // and the group there
    return {laneOf, 1, expert, row, true};
  }

  // The last block that waits for no count any more leaves the counts as they were: takes off what is due, so that a part that
  // counted twice shows.
  __device__ static void forgetCounts(const MoeParams& p, unsigned missed, int gateUps, int blocks) {
    const DecodeCounts counts = countsOf(p);
    if (countUpAndSee(counts.parts) != blocks - 1) return;
    *counts.parts = *counts.planned = 0;
#pragma unroll 1
    for (; missed != 0; missed &= missed - 1) {
      const int lane = placeOfBit(missed, 0);
      atomicAdd(counts.inner + lane, -gateUps);
      atomicAdd(counts.requested + lane, -gateUps);
    }
  }
};

}  // namespace pool
