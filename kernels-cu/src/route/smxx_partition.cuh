// Cuts a layer call by where its experts lie: validated lanes, and the touched experts that the bank lacks, in ascending
// order, so that a caller can bring their rows in that order. One block; every result is independent of timing.
#pragma once

#include "plan/lane_rules.cuh"
#include "pool/constants.h"
#include "pool/partition.h"

namespace pool {

constexpr int kPartitionWarps = kPartitionThreads / kWarp;

// Shared memory of the partition.
struct PartitionScratch {
  int32_t laneCount[kMaxExperts];
  int8_t resident[kMaxExperts];
  int32_t firstInvalid[kPartitionWarps];
};

// Writes safeIds, counts lanes by expert, and returns this thread's first invalid lane, or INT32_MAX.
__device__ inline int32_t sanitiseLanes(const PartitionParams& p, PartitionScratch& scratch) {
  int32_t firstInvalid = INT32_MAX;
  for (int lane = threadIdx.x; lane < p.lanes; lane += kPartitionThreads) {
    const int32_t id = p.ids[lane];
    const bool valid = id >= 0 && id < p.tables.experts && weightIsValid(p.weights[lane]);
    if (!valid && id != kAbsent) firstInvalid = min(firstInvalid, lane);
    if (valid) atomicAdd(&scratch.laneCount[id], 1);
    p.safeIds[lane] = valid ? id : kAbsent;
  }
  return firstInvalid;
}

// The missing experts in ascending order, by warp 0.
__device__ inline void listMissing(const PartitionParams& p, const PartitionScratch& scratch) {
  const int thread = threadIdx.x;
  int missing = 0, touched = 0;
  for (int from = 0; from < p.tables.experts; from += kWarp) {
    const int expert = from + thread;
    const bool inside = expert < p.tables.experts;
    const bool isTouched = inside && scratch.laneCount[expert] > 0;
    const bool isMissing = isTouched && !scratch.resident[expert];
    const unsigned mask = __ballot_sync(kFullWarp, isMissing);
    const int place = missing + __popc(mask & ((1u << thread) - 1u));
    if (isMissing) p.output->experts[place] = expert;
    if (inside) p.ringRows[expert] = isMissing ? place % p.ringSize : kAbsent;
    missing += __popc(mask);
    touched += __popc(__ballot_sync(kFullWarp, isTouched));
  }
  if (thread != 0) return;
  p.output->missing = missing;
  p.output->touched = touched;
}

// The error of the call's first invalid lane, by one thread; sticky, as the planner sets it.
__device__ inline void reportInvalid(const PartitionParams& p, const PartitionScratch& scratch) {
  int32_t first = INT32_MAX;
  for (int warp = 0; warp < kPartitionWarps; ++warp) first = min(first, scratch.firstInvalid[warp]);
  p.output->invalidLane = first == INT32_MAX ? kAbsent : first;
  if (first == INT32_MAX) return;
  PlanState* state = p.tables.state;
  if (state->error == 0) {
    state->errorLayer = p.layer;
    state->errorLane = first;
  }
  state->error = 1;
}

__device__ inline void partitionLanes(const PartitionParams& p) {
  __shared__ PartitionScratch scratch;
  const int32_t* hotRow = p.tables.hotRow + static_cast<int64_t>(p.layer) * p.tables.experts;
  for (int e = threadIdx.x; e < p.tables.experts; e += kPartitionThreads) {
    scratch.laneCount[e] = 0;
    scratch.resident[e] = hotRow[e] != kAbsent;
  }
  __syncthreads();  // counts are zero before the first lane is added
  const int32_t firstInvalid = __reduce_min_sync(kFullWarp, sanitiseLanes(p, scratch));
  if (threadIdx.x % kWarp == 0) scratch.firstInvalid[threadIdx.x / kWarp] = firstInvalid;
  __syncthreads();  // counts and each warp's first invalid lane are complete
  for (int e = threadIdx.x; e < p.tables.experts; e += kPartitionThreads) p.output->laneCounts[e] = scratch.laneCount[e];
  if (threadIdx.x < kWarp) listMissing(p, scratch);
  if (threadIdx.x == kWarp) reportInvalid(p, scratch);
}

}  // namespace pool
