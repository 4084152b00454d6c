// The MoE of a few tokens in one kernel: gate and up with SwiGLU, then down with the sum over the top-k slots.
//
// Every warp finds by itself which lanes share the expert: the first of each `blockLanes` of them does the work for all, the
// blocks of the others leave. The blocks of gate and up come first; those of down bring their weights while h is computed,
// and wait for it. Of the blocks of one part of the output channels the last to finish adds up the lanes of every token.
//
// Rows that the bank lacks are read on the host, w13 before w2, and kept in the bank on the way: they cross the link once,
// while the other lanes are computed, and the link is never without requests.
//
// No block waits for one that may not run: blocks start in the order of their numbers, and only down's wait, for gate and
// up's before them.
#pragma once

#include "moe/expert_gemms.cuh"

namespace pool {

// The products of a decode call. Missed rows' take two tiles of 64 channels side by side, for whole lines over the link.
template <typename Type>
struct DecodeProducts {
  using Product = ProductOf<Type, kDecode>;
  using MissedGateUp = ProductOf<Type, kMissedGateUp, WeightsFrom::kHost>;
  using MissedDown = ProductOf<Type, kDecode, WeightsFrom::kHost>;
  static_assert(Product::kThreads == MissedGateUp::kThreads && Product::kThreads == MissedDown::kThreads);

  // Blocks of gate and up for a lane that is missed, and for another.
  __device__ static int gateUpParts(const MoeParams& p, bool missed) {
    return missed ? MissedGateUp::block().gateUpParts(p.width) : Product::block().gateUpParts(p.width);
  }
};

// What a block of a decode call shares beside its product's memory.
struct DecodeShared {
  int32_t laneOf[kMmaLanes];
  int32_t ids[kMaxDecodeLanes];
  int32_t isLast;
};

// Called by whole warps with the same lane: the group it leads, count 0 where another block leads, the expert is invalid or
// its row absent. The lanes go to laneOf (kMmaLanes places) by the first warp alone.
__device__ inline LaneGroup findGroup(const MoeParams& p, int lane, int32_t* laneOf) {
  const int thread = threadIdx.x % kWarp;
  const bool writes = threadIdx.x < kWarp;
  const int lanes = p.tokens * p.topK;
  const int expert = p.ids[lane];
  const int row = p.rows[lane];
  const bool missed = p.missRows != nullptr && p.missRows[lane] >= 0;
  const int blockLanes = missed ? p.hostLanes : p.blockLanes;
  if (expert < 0 || expert >= p.experts || row < 0) return {laneOf, 0, -1, -1, false};
  if (blockLanes == 1) {
    if (threadIdx.x == 0) laneOf[0] = lane;
    return {laneOf, 1, expert, row, missed};
  }
  int ids[kMaxDecodeLanes / kWarp];
#pragma unroll
  for (int i = 0; i < kMaxDecodeLanes / kWarp; ++i) {
    const int other = i * kWarp + thread;
    ids[i] = other < lanes ? p.ids[other] : -1;
  }
  // A lane's rank is the count of the same expert's lanes before it.
  unsigned same[kMaxDecodeLanes / kWarp];
  int rank = 0;
  int total = 0;
#pragma unroll
  for (int i = 0; i < kMaxDecodeLanes / kWarp; ++i) {
    same[i] = __ballot_sync(kFullWarp, ids[i] == expert);
    const int before = lane - i * kWarp;
    if (before >= kWarp) rank += __popc(same[i]);
    else if (before > 0) rank += __popc(same[i] & ((1u << before) - 1u));
    total += __popc(same[i]);
  }
  if (rank % blockLanes != 0) return {laneOf, 0, expert, row, missed};
  int seen = 0;
#pragma unroll
  for (int i = 0; i < kMaxDecodeLanes / kWarp; ++i) {
    const int place = seen + __popc(same[i] & ((1u << thread) - 1u)) - rank;
    if (writes && ids[i] == expert && place >= 0 && place < blockLanes) laneOf[place] = i * kWarp + thread;
    seen += __popc(same[i]);
  }
  return {laneOf, min(total - rank, blockLanes), expert, row, missed};
}

// What the blocks of a call have counted; all 0 before and after it.
struct DecodeCounts {
  int32_t* ended;      // [down parts] blocks of down that have ended
  int32_t* parts;      // [1] down parts all of whose blocks have; of the kernel for one token, blocks that wait for no count any more
  int32_t* inner;      // [lanes] blocks of gate and up that have ended, of the group that the lane leads
  int32_t* requested;  // [lanes] the same, that have asked for all their weights (missed)
  int32_t* readers;    // [1] blocks of the kernel for one token that have read h of the lanes in the bank
  int32_t* lookedUp;   // [1] those that know their rows (where the launch plans them, and some are missed)
  int32_t* planned;    // [1] 1: the rows to keep are known (the same)
};

__device__ inline DecodeCounts countsOf(const MoeParams& p) {
  int32_t* parts = p.counts + p.hidden / kTileChannels;
  int32_t* readers = parts + 1 + 2 * kMaxDecodeLanes;
  return {p.counts, parts, parts + 1, parts + 1 + kMaxDecodeLanes, readers, readers + 1, readers + 2};
}

// The block goes on when so many have been counted.
__device__ inline void waitUntil(const int32_t* count, int32_t value) {
  if (threadIdx.x == 0) {
    while (loadAcquire(count) < value) pauseBriefly();
  }
  __syncthreads();
}

// Where missed rows are kept: as the call's lanes say.
struct KnownRows {
  static constexpr bool kLate = false;
  __device__ void allLookedUp() const {}  // as PlannedRows (smxx_pool_token.cuh) has it
  __device__ int64_t bytesFurther(int /*lane*/) const { return 0; }
};

// kLateRequests: once the first half of the last chunks has come, for more warps would hold up the last of w13 with w2.
template <typename Rows, bool kLate>
struct CountRequests : NothingElse {
  static constexpr bool kLateRequests = kLate;
  static constexpr bool kKeepsLate = Rows::kLate;
  const Rows& rows;
  int lane;
  int32_t* requested;
  __device__ CountRequests(const Rows& rows, int lane, int32_t* requested) : rows(rows), lane(lane), requested(requested) {}
  __device__ int64_t bytesFurther() const { return rows.bytesFurther(lane); }
  __device__ void allRequested() const {
    if (threadIdx.x == 0) countRelaxed(requested);
  }
};

template <typename Rows>
struct WaitForInner : NothingElse {
  static constexpr bool kLate = true;
  static constexpr bool kKeepsLate = Rows::kLate;
  const Rows& rows;
  int lane;
  const int32_t* inner;
  int parts;
  __device__ WaitForInner(const Rows& rows, int lane, const int32_t* inner, int parts)
      : rows(rows), lane(lane), inner(inner), parts(parts) {}
  __device__ int64_t bytesFurther() const { return rows.bytesFurther(lane); }
  __device__ void waitForActivations() const { waitUntil(inner, parts); }
};

// Part `part` of h of the group that a lane leads.
template <typename Type>
__device__ void decodeGateUp(const MoeParams& p, int lane, int part, int32_t* laneOf, uint8_t* shared) {
  using Products = DecodeProducts<Type>;
  const DecodeCounts counts = countsOf(p);
  const LaneGroup group = findGroup(p, lane, laneOf);
  if (group.count == 0 || part >= Products::gateUpParts(p, group.missed)) return;
  __syncthreads();
  if (group.missed) {
    const KnownRows rows;
    const CountRequests<KnownRows, false> count(rows, lane, counts.requested + lane);
    gateUpGroup<typename Products::MissedGateUp>(p, group, part, p.hostLanes, shared, count);
  } else {
    gateUpGroup<typename Products::Product>(p, group, part, p.blockLanes, shared);
  }
  __syncthreads();  // the block's h is stored; the first thread's count publishes it
  if (threadIdx.x == 0) countUp(counts.inner + lane);
}

// Part `part` of the outputs of the group that a lane leads.
template <typename Type>
__device__ void decodeOutputs(const MoeParams& p, int lane, int part, int32_t* laneOf, uint8_t* shared) {
  using Products = DecodeProducts<Type>;
  const DecodeCounts counts = countsOf(p);
  const LaneGroup group = findGroup(p, lane, laneOf);
  constexpr MoeBlock kBlock = kDecode;
  if (group.count == 0 || part >= kBlock.downParts(p.hidden)) return;
  __syncthreads();
  const int gateUpParts = Products::gateUpParts(p, group.missed);
  const KnownRows rows;
  const WaitForInner<KnownRows> wait(rows, lane, counts.inner + lane, gateUpParts);
  if (group.missed) {
    waitUntil(counts.requested + lane, gateUpParts);
    downGroup<typename Products::MissedDown>(p, group, part, p.hostLanes, shared, wait, StoreLane{p});
  } else {
    downGroup<typename Products::Product>(p, group, part, p.blockLanes, shared, wait, StoreLane{p});
  }
}

// The same, and perhaps the sums of these channels.
template <typename Type>
__device__ void decodeDown(const MoeParams& p, int lane, int part, DecodeShared& own, uint8_t* shared) {
  const int lanes = p.tokens * p.topK;
  if (threadIdx.x < lanes) own.ids[threadIdx.x] = p.ids[threadIdx.x];  // for the sum, whose loads wait for them
  const DecodeCounts counts = countsOf(p);
  decodeOutputs<Type>(p, lane, part, own.laneOf, shared);

  __syncthreads();  // the block's lane outputs are stored; the first thread's count publishes those of all
  if (threadIdx.x == 0) own.isLast = countUpAndSee(counts.ended + part) == lanes - 1;
  __syncthreads();  // and what it has seen of others is visible to all
  if (!own.isLast) return;
  constexpr MoeBlock kBlock = kDecode;
  constexpr int kVectors = kBlock.tiles * kTileVectors;
  for (int i = threadIdx.x; i < p.tokens * kVectors; i += kBlock.threads()) {
    const int channel = (part * kVectors + i % kVectors) * 8;
    if (channel < p.hidden) sumSlots<Type>(p, own.ids, i / kVectors, channel);
  }

  // The last of the last blocks leaves the counts as they were: nobody reads them any more.
  if (threadIdx.x != 0) return;
  counts.ended[part] = 0;
  if (countUpAndSee(counts.parts) < kBlock.downParts(p.hidden) - 1) return;
  *counts.parts = 0;
  for (int i = 0; i < lanes; ++i) counts.inner[i] = counts.requested[i] = 0;
}

// Block `block` of a call: gateUpParts for each lane come first, then downParts for each lane.
template <typename Type>
__device__ void decodeBlock(const MoeParams& p, int block, DecodeShared& own, uint8_t* shared) {
  constexpr MoeBlock kBlock = kDecode;
  const int gateUpParts = kBlock.gateUpParts(p.width), downParts = kBlock.downParts(p.hidden);
  const int down = block - p.tokens * p.topK * gateUpParts;
  if (down < 0) decodeGateUp<Type>(p, block / gateUpParts, block % gateUpParts, own.laneOf, shared);
  else decodeDown<Type>(p, down / downParts, down % downParts, own, shared);
}

template <typename Type>
__device__ void decodeMoe(const MoeParams& p, uint8_t* shared) {
  __shared__ DecodeShared own;
  decodeBlock<Type>(p, blockIdx.x, own, shared);
}

}  // namespace pool
