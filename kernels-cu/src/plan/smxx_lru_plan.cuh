// The pool's planner: one step of pool-semantics section 4, by one block, without the host.
//
// Order of work: every thread loads its part of the layer's hotRow slice; warp 0 then classifies the lanes, two a
// thread; only if misses may be promoted does the block scan rowUse for victims. The victims of a step are the
// smallest (rowUse, row) in order and do not depend on one another, because a row taken in this step is never eligible
// again and a selected resident row was stamped before; so they are chosen together.
#pragma once

#include "pool/check.cuh"
#include "pool/constants.h"
#include "pool/layout.h"

namespace pool {

// Lanes handled by one thread of warp 0.
constexpr int kLaneHalves = kMaxLanes / kWarp;
static_assert(kLaneHalves == 2, "lane masks are 64 bits wide");

// Pairs of rowUse a thread has in flight while it scans.
constexpr int kScanPairs = 7;  // 14,336 rows in one batch of 1,024 threads

// A row with the clock of its last use, ordered by (use, row).
struct RowAge {
  int64_t use;
  int32_t row;
};

constexpr int32_t kNoRow = INT32_MAX;

struct alignas(16) UsePair {
  int64_t even;
  int64_t odd;
};

// Shared memory of a step.
template <int kThreads>
struct PlanScratch {
  int32_t rowOfExpert[kMaxExperts];  // the layer's slice of hotRow as the step found it
  int64_t clock;                     // after the step
  int64_t useBelow;                  // a victim's rowUse is below this
  int32_t victimsWanted;
  int32_t candidates;
  RowAge cut;
  RowAge warpOldest[kThreads / kWarp];
  RowAge candidate[kMaxCandidates];
  int32_t victim[kMaxLanes];
  int32_t victimKey[kMaxLanes];
};

__device__ inline RowAge noRow() { return {INT64_MAX, kNoRow}; }

__device__ inline bool before(const RowAge& a, const RowAge& b) {
  return a.use < b.use || (a.use == b.use && a.row < b.row);
}

// Smallest (use, row) of the warp, in all its threads: three 32-bit reductions, most significant word first.
__device__ inline RowAge warpMin(const RowAge& mine) {
  const int32_t high = static_cast<int32_t>(mine.use >> 32);
  const uint32_t low = static_cast<uint32_t>(mine.use);
  const int32_t minHigh = __reduce_min_sync(kFullWarp, high);
  const uint32_t minLow = __reduce_min_sync(kFullWarp, high == minHigh ? low : UINT32_MAX);
  const bool oldest = high == minHigh && low == minLow;
  const int32_t minRow = __reduce_min_sync(kFullWarp, oldest ? mine.row : kNoRow);
  return {static_cast<int64_t>((static_cast<uint64_t>(static_cast<uint32_t>(minHigh)) << 32) | minLow), minRow};
}

// Bit i is lane i's flag; lane i lies in half i / 32 of thread i % 32 of warp 0.
__device__ inline uint64_t laneBallot(const bool (&flag)[kLaneHalves]) {
  const uint64_t low = __ballot_sync(kFullWarp, flag[0]);
  const uint64_t high = __ballot_sync(kFullWarp, flag[1]);
  return low | high << kWarp;
}

__device__ inline int lanesBefore(uint64_t mask, int lane) {
  return __popcll(mask & ((uint64_t{1} << lane) - 1));
}

__device__ inline bool hasLane(uint64_t mask, int lane) { return mask >> lane & 1; }

// Finite and not negative; -0 is not negative. On the bits, so that no compiler flag can change it.
__device__ inline bool weightIsValid(float weight) {
  const uint32_t bits = __float_as_uint(weight);
  const bool finite = (bits & 0x7f800000u) != 0x7f800000u;
  return finite && (bits < 0x80000000u || bits == 0x80000000u);
}

// Which rows may be victims, and the rows taken so far (all up to floor).
struct VictimRule {
  const PlanTables& tables;
  int64_t useBelow;
  bool ownedOnly;  // look at rowKey too
  RowAge floor;

  __device__ bool admits(const RowAge& row) const {
    return row.use < useBelow && before(floor, row) && (!ownedOnly || tables.rowKey[row.row] != kAbsent);
  }
};

// Calls visit for each admitted row of this thread's slice, in ascending order of row.
template <int kThreads, typename Visit>
__device__ inline void visitRows(const VictimRule& rule, Visit visit) {
  const int poolRows = rule.tables.poolRows;
  // An odd count's last pair ends in the first staging row: readable, and its Long.MAX is never below useBelow.
  const int pairs = (poolRows + 1) / 2;
  const UsePair* use = reinterpret_cast<const UsePair*>(rule.tables.rowUse);
  for (int first = threadIdx.x; first < pairs; first += kThreads * kScanPairs) {
    UsePair loaded[kScanPairs];
#pragma unroll
    for (int i = 0; i < kScanPairs; ++i) {
      const int pair = first + i * kThreads;
      loaded[i] = pair < pairs ? use[pair] : UsePair{INT64_MAX, INT64_MAX};
    }
#pragma unroll
    for (int i = 0; i < kScanPairs; ++i) {
      const int row = 2 * (first + i * kThreads);
      const RowAge even = {loaded[i].even, row};
      const RowAge odd = {loaded[i].odd, row + 1};
      if (rule.admits(even)) visit(even);
      if (rule.admits(odd)) visit(odd);
    }
  }
}

// Writes the first `wanted` victims in order to scratch.victim and returns how many there are; all threads take part.
//
// Every round cuts at the r-th smallest of the warps' oldest rows: at least r rows lie at or below the cut, usually few
// more, and those are collected and ranked. Where too many lie below it, r is halved; r = 1 leaves exactly one.
template <int kThreads>
__device__ int selectVictims(VictimRule rule, int wanted, PlanScratch<kThreads>& scratch) {
  constexpr int kWarps = kThreads / kWarp;
  static_assert(kWarps <= kWarp, "the warps' oldest rows are ranked by one warp");
  const int warp = threadIdx.x / kWarp;
  const int lane = threadIdx.x % kWarp;
  int found = 0;
  while (found < wanted) {
    RowAge mine = noRow();
    visitRows<kThreads>(rule, [&](const RowAge& row) {
      if (before(row, mine)) mine = row;
    });
    const RowAge warpOldest = warpMin(mine);
    if (lane == 0) scratch.warpOldest[warp] = warpOldest;
    if (threadIdx.x == 0) scratch.candidates = 0;
    __syncthreads();  // publishes warpOldest and the cleared counter to all warps
    const RowAge other = lane < kWarps ? scratch.warpOldest[lane] : noRow();
    const int rank = __popc(__ballot_sync(kFullWarp, before(other, warpOldest)));
    const int live = __popc(__ballot_sync(kFullWarp, other.row != kNoRow));
    if (live == 0) break;
    RowAge cut;
    int count;
    for (int reach = min(wanted - found, live);; reach /= 2) {
      if (lane == 0 && rank == reach - 1) scratch.cut = warpOldest;  // exactly one warp: live rows are distinct
      __syncthreads();  // publishes the cut
      cut = scratch.cut;
      if (!before(cut, mine)) {
        visitRows<kThreads>(rule, [&](const RowAge& row) {
          if (before(cut, row)) return;
          const int i = atomicAdd(&scratch.candidates, 1);
          if (i < kMaxCandidates) scratch.candidate[i] = row;
        });
      }
      __syncthreads();  // publishes the candidates
      count = scratch.candidates;
      if (count <= kMaxCandidates) break;
      __syncthreads();  // all have read the counter; the clearing below is published by the cut's barrier
      if (threadIdx.x == 0) scratch.candidates = 0;
    }
    const int taken = min(count, wanted - found);
    for (int i = threadIdx.x; i < count; i += kThreads) {
      const RowAge row = scratch.candidate[i];
      int older = 0;
      for (int j = 0; j < count; ++j) older += before(scratch.candidate[j], row);
      if (older < taken) scratch.victim[found + older] = row.row;
    }
    found += taken;
    rule.floor = cut;
    __syncthreads();  // publishes victim; candidates and warpOldest may be rewritten
  }
  return found;
}

// Victims with their owners. Pool rows own a key in every state that the table check accepts, so owners are read for
// the chosen rows alone; were one without an owner, the choice is made again with the owners of all rows read.
template <int kThreads>
__device__ int selectOwnedVictims(const PlanTables& tables, PlanScratch<kThreads>& scratch) {
  for (bool ownedOnly = false;; ownedOnly = true) {
    const VictimRule rule = {tables, scratch.useBelow, ownedOnly, {INT64_MIN, kAbsent}};
    const int found = selectVictims<kThreads>(rule, scratch.victimsWanted, scratch);
    int32_t key = 0;
    if (threadIdx.x < found) {
      key = tables.rowKey[scratch.victim[threadIdx.x]];
      scratch.victimKey[threadIdx.x] = key;
    }
    // The barrier inside also publishes victimKey.
    if (!__syncthreads_or(key == kAbsent)) return found;
  }
}

// Warp 0's view of a step: two lanes a thread.
struct StepLanes {
  int32_t safeId[kLaneHalves];
  uint64_t missing;    // first lanes of experts that are not resident
  uint64_t candidate;  // those of them that may be promoted if a victim is found
};

// First lane of its expert, among valid lanes.
__device__ inline void markFirst(const StepLanes& lanes, int laneCount, bool (&first)[kLaneHalves]) {
  const int thread = threadIdx.x;
  const unsigned sameLow = __match_any_sync(kFullWarp, lanes.safeId[0]);
  first[0] = lanes.safeId[0] != kAbsent && __ffs(static_cast<int>(sameLow)) - 1 == thread;
  first[1] = false;
  if (laneCount <= kWarp) return;
  const unsigned sameHigh = __match_any_sync(kFullWarp, lanes.safeId[1]);
  first[1] = lanes.safeId[1] != kAbsent && __ffs(static_cast<int>(sameHigh)) - 1 == thread;
  for (int i = 0; i < kWarp; ++i) {
    first[1] &= __shfl_sync(kFullWarp, lanes.safeId[0], i) != lanes.safeId[1];
  }
}

// Validation, selection, recency and miss counts (pool-semantics 4, points 1 to 5's first line), by warp 0.
template <int kThreads>
__device__ StepLanes classifyLanes(const PlanParams& p, const int32_t (&id)[kLaneHalves],
                                   const float (&weight)[kLaneHalves], PlanState state, const PlanControls& controls,
                                   PlanScratch<kThreads>& scratch) {
  const PlanTables& tables = p.tables;
  const int thread = threadIdx.x;
  const int32_t firstKey = p.layer * tables.experts;
  StepLanes lanes;
  bool invalid[kLaneHalves];
  for (int half = 0; half < kLaneHalves; ++half) {
    const bool valid = id[half] >= 0 && id[half] < tables.experts && weightIsValid(weight[half]);
    lanes.safeId[half] = valid ? id[half] : kAbsent;
    invalid[half] = !valid && id[half] != kAbsent;
  }
  bool first[kLaneHalves];
  markFirst(lanes, p.lanes, first);

  const bool gateOpen = controls.gate != 0;
  if (gateOpen) {
    state.clock += 1;
    // i32 arithmetic wraps, as in Java.
    if (p.layer == 0) state.forwards = static_cast<int32_t>(static_cast<uint32_t>(state.forwards) + 1u);
  }
  const int32_t forwardIndex = static_cast<int32_t>(static_cast<uint32_t>(state.forwards) - 1u);
  const bool mayPromote = gateOpen && forwardIndex % controls.promoteInterval == 0;

  bool missing[kLaneHalves];
  bool candidate[kLaneHalves];
  for (int half = 0; half < kLaneHalves; ++half) {
    const int32_t row = first[half] ? scratch.rowOfExpert[lanes.safeId[half]] : kAbsent;
    missing[half] = first[half] && row == kAbsent;
    candidate[half] = false;
    if (!gateOpen) continue;
    if (row != kAbsent) tables.rowUse[row] = state.clock;
    if (missing[half]) {
      int32_t* missCount = &tables.missCount[firstKey + lanes.safeId[half]];
      const int32_t misses = static_cast<int32_t>(static_cast<uint32_t>(*missCount) + 1u);
      *missCount = misses;
      candidate[half] = mayPromote && misses >= controls.promoteMinMisses;
    }
  }
  lanes.missing = laneBallot(missing);
  lanes.candidate = laneBallot(candidate);

  const uint64_t invalidMask = laneBallot(invalid);
  if (thread == 0) {
    const int candidates = __popcll(lanes.candidate);
    scratch.victimsWanted = controls.promoteLimit == 0 ? candidates : min(candidates, controls.promoteLimit);
    scratch.clock = state.clock;
    scratch.useBelow = state.clock - static_cast<int64_t>(controls.protectRecent) * tables.layers;
    if (gateOpen) {
      tables.state->clock = state.clock;
      tables.state->forwards = state.forwards;
    }
    if (invalidMask != 0) {
      tables.state->error = 1;
      if (state.error == 0) {
        tables.state->errorLayer = p.layer;
        tables.state->errorLane = __ffsll(static_cast<long long>(invalidMask)) - 1;
      }
    }
  }
  return lanes;
}

// Tables, copy list, step map and routes, by warp 0. The step map already holds the layer's slice of hotRow.
template <int kThreads>
__device__ void commitStep(const PlanParams& p, const StepLanes& lanes, int found, PlanScratch<kThreads>& scratch) {
  const PlanTables& tables = p.tables;
  const int thread = threadIdx.x;
  const int32_t firstKey = p.layer * tables.experts;
  bool staged[kLaneHalves];
  for (int half = 0; half < kLaneHalves; ++half) {
    const int lane = thread + half * kWarp;
    const int order = lanesBefore(lanes.candidate, lane);
    const bool promoted = hasLane(lanes.candidate, lane) && order < found;
    staged[half] = hasLane(lanes.missing, lane) && !promoted;
    if (!promoted) continue;
    const int32_t expert = lanes.safeId[half];
    const int32_t key = firstKey + expert;
    const int32_t row = scratch.victim[order];
    const int32_t evicted = scratch.victimKey[order];
    const int32_t evictedExpert = evicted % tables.experts;
    POOL_DEVICE_ASSERT(row >= 0 && row < tables.poolRows && evicted != key);
    tables.hotRow[evicted] = kAbsent;
    tables.coldRow[evicted] = evictedExpert;
    tables.hotRow[key] = row;
    tables.coldRow[key] = kAbsent;
    tables.rowKey[row] = key;
    tables.rowUse[row] = scratch.clock;
    tables.missCount[key] = 0;
    p.output->copies[order] = {expert, row};
    if (evicted - evictedExpert == firstKey) p.stepMap[evictedExpert] = kAbsent;
    scratch.rowOfExpert[expert] = row;
    p.stepMap[expert] = row;
  }
  const uint64_t stagedMask = laneBallot(staged);
  for (int half = 0; half < kLaneHalves; ++half) {
    if (!staged[half]) continue;
    const int order = lanesBefore(stagedMask, thread + half * kWarp);
    const int32_t expert = lanes.safeId[half];
    const int32_t row = tables.poolRows + order;
    POOL_DEVICE_ASSERT(row < tables.rows);
    p.output->copies[found + order] = {expert, row};
    scratch.rowOfExpert[expert] = row;
    p.stepMap[expert] = row;
  }
  if (thread == 0) {
    p.output->promoted = found;
    p.output->staged = __popcll(stagedMask);
  }
  __syncwarp();  // the rows of first lanes are read by their duplicates below
  for (int half = 0; half < kLaneHalves; ++half) {
    const int32_t expert = lanes.safeId[half];
    p.output->safeIds[thread + half * kWarp] = expert;
    p.output->routes[thread + half * kWarp] = expert == kAbsent ? kAbsent : scratch.rowOfExpert[expert];
  }
}

// One step, by one block of kThreads threads.
template <int kThreads>
__device__ void planStep(const PlanParams& p) {
  static_assert(kThreads % kWarp == 0 && kThreads >= kMaxLanes, "a thread each for the victims of the widest step");
  __shared__ PlanScratch<kThreads> scratch;
  const PlanTables& tables = p.tables;
  const bool planner = threadIdx.x < kWarp;
  POOL_DEVICE_ASSERT(tables.experts <= kMaxExperts && p.lanes <= kMaxLanes && p.layer < tables.layers);

  // Warp 0's inputs are loaded together with the slice, so that their latencies overlap.
  int32_t id[kLaneHalves];
  float weight[kLaneHalves];
  PlanState state = {};
  PlanControls controls = {};
  if (planner) {
    for (int half = 0; half < kLaneHalves; ++half) {
      const int lane = threadIdx.x + half * kWarp;
      id[half] = lane < p.lanes ? p.ids[lane] : kAbsent;
      weight[half] = lane < p.lanes ? p.weights[lane] : 0.0f;
    }
    state = *tables.state;
    controls = *tables.controls;
  }
  const int32_t* slice = tables.hotRow + p.layer * tables.experts;
  for (int expert = threadIdx.x; expert < tables.experts; expert += kThreads) {
    const int32_t row = slice[expert];
    scratch.rowOfExpert[expert] = row;
    p.stepMap[expert] = row;  // commitStep patches what the step changes
  }
  __syncthreads();  // publishes the slice to warp 0, and orders the step map before its patches

  StepLanes lanes = {};
  if (planner) lanes = classifyLanes<kThreads>(p, id, weight, state, controls, scratch);
  __syncthreads();  // publishes victimsWanted and useBelow, and orders the stamped rows before the scan

  const int found = scratch.victimsWanted > 0 ? selectOwnedVictims<kThreads>(tables, scratch) : 0;
  if (planner) commitStep<kThreads>(p, lanes, found, scratch);
}

}  // namespace pool
