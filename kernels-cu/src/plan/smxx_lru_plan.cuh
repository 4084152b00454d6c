// The pool's planner: one step of pool-semantics section 4, by one block, without the host.
//
// Order of work: every thread loads its part of the layer's hotRow slice; warp 0 then classifies the lanes, two a
// thread; only if misses may be promoted does the block scan rowUse for victims. The victims of a step are the
// smallest (rowUse, row) in order and do not depend on one another, because a row taken in this step is never eligible
// again and a selected resident row was stamped before; so they are chosen together.
#pragma once

#include "plan/lane_rules.cuh"
#include "pool/check.cuh"
#include "pool/constants.h"
#include "pool/layout.h"

namespace pool {

// Pairs of rowUse a thread has in flight where it looks again, which is rare: small code matters more than speed.
constexpr int kAgainPairs = 2;

// A row with the clock of its last use, ordered by (use, row).
struct RowAge {
  int64_t use;
  int32_t row;
};

constexpr int32_t kNoRow = INT32_MAX;

// A place for each thread's word, a warp's places 33 apart: 32 threads of one column lie in distinct banks.
template <int kThreads>
struct ColumnSlots {
  static constexpr int kCount = kThreads + kThreads / kWarp;
  __device__ static int of(int thread) { return thread + thread / kWarp; }
};

// Lanes of a step as warp 0 classified them: two a thread.
struct StepLanes {
  int32_t safeId[kMaxLanes];
  uint64_t missing;    // first lanes of experts that are not resident
  uint64_t candidate;  // those of them that may be promoted if a victim is found
};

// Shared memory of a step.
template <int kThreads>
struct PlanScratch {
  int32_t rowOfExpert[kMaxExperts];  // the layer's slice of hotRow as the step found it
  StepLanes lanes;                   // not in registers: those are for the scan
  int64_t clock;                     // after the step
  int64_t useBelow;                  // a victim's rowUse is below this
  int32_t victimsWanted;
  int32_t oldThreads;
  int32_t candidates;
  RowAge cut;
  RowAge floor;  // the last row taken
  int64_t oldestUse[ColumnSlots<kThreads>::kCount];  // of each thread's rows
  int32_t oldestRow[ColumnSlots<kThreads>::kCount];
  RowAge columnOldest[kThreads / kWarp];
  int16_t oldThread[kThreads];  // those with a row at or below the cut
  RowAge candidate[kMaxCandidates];
  int32_t candidateKey[kMaxCandidates];
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

__device__ inline int lanesBefore(uint64_t mask, int lane) {
  return __popcll(mask & ((uint64_t{1} << lane) - 1));
}

__device__ inline bool hasLane(uint64_t mask, int lane) { return mask >> lane & 1; }

// Which rows may be victims, and the rows taken so far (all up to floor).
struct VictimRule {
  const PlanTables& tables;
  bool ownedOnly;       // look at rowKey too
  bool fromStart;       // nothing taken yet
  const RowAge& floor;  // in shared memory

  __device__ bool admitsAll() const { return fromStart && !ownedOnly; }

  // Whether a row that is old enough may be taken.
  __device__ bool admits(const RowAge& row) const {
    return (fromStart || before(floor, row)) && (!ownedOnly || tables.rowKey[row.row] != kAbsent);
  }

  // An odd count's last pair ends in the first staging row: readable, and its Long.MAX is never below useBelow.
  __device__ int pairs() const { return (tables.poolRows + 1) / 2; }

  // Rows 2 * pair and 2 * pair + 1; past the end, rows that are never taken.
  __device__ longlong2 pair(int pair) const {
    if (pair >= pairs()) return longlong2{INT64_MAX, INT64_MAX};
    return reinterpret_cast<const longlong2*>(tables.rowUse)[pair];
  }
};

// Calls visit for each row of this thread's pairs, kThreads apart, in ascending order; kPairs of them are in flight at once.
template <int kThreads, int kPairs, typename Visit>
__device__ inline void visitRows(const VictimRule& rule, Visit visit) {
  for (int first = threadIdx.x; first < rule.pairs(); first += kThreads * kPairs) {
    longlong2 loaded[kPairs];
#pragma unroll
    for (int i = 0; i < kPairs; ++i) loaded[i] = rule.pair(first + i * kThreads);
#pragma unroll
    for (int i = 0; i < kPairs; ++i) {
      const int row = 2 * (first + i * kThreads);
      visit(RowAge{loaded[i].x, row});
      visit(RowAge{loaded[i].y, row + 1});
    }
  }
}

// Lanes of the warp below this one that are in the mask.
__device__ inline int rankInWarp(unsigned mask) { return __popc(mask & ((1u << (threadIdx.x % kWarp)) - 1)); }

// Takes a place for each flagged thread of the warp and returns this thread's: one atomic a warp.
__device__ inline int takePlaces(int32_t* counter, unsigned first, unsigned second) {
  int start = 0;
  if (threadIdx.x % kWarp == 0) start = atomicAdd(counter, __popc(first) + __popc(second));
  return __shfl_sync(kFullWarp, start, 0);
}

// Lists the threads that have a row at or below the cut; `mine` is this thread's oldest row.
template <int kThreads>
__device__ inline void listOldThreads(const RowAge& mine, PlanScratch<kThreads>& scratch) {
  const bool old = !before(scratch.cut, mine);
  const unsigned mask = __ballot_sync(kFullWarp, old);
  if (mask == 0) return;
  const int start = takePlaces(&scratch.oldThreads, mask, 0);
  if (old) scratch.oldThread[start + rankInWarp(mask)] = static_cast<int16_t>(threadIdx.x);
}

template <int kThreads>
__device__ inline void putCandidate(int at, const RowAge& row, int32_t key, PlanScratch<kThreads>& scratch) {
  if (at >= kMaxCandidates) return;
  scratch.candidate[at] = row;
  scratch.candidateKey[at] = key;
}

// Lists the rows at or below the cut with their owners, up to kMaxCandidates of them, and counts them all. The pairs of the listed threads are
// shared out over the whole block: few threads have any, and looking through their own one by one would be slow.
template <int kThreads>
__device__ inline void listCandidates(const VictimRule& rule, PlanScratch<kThreads>& scratch) {
  const int rounds = (rule.pairs() + kThreads - 1) / kThreads;  // pairs a thread
  const int shift = kWarp - __clz(rounds - 1);                  // rounded up to a power of two
  const int places = scratch.oldThreads << shift;
  for (int base = 0; base < places; base += kThreads) {
    const int place = base + static_cast<int>(threadIdx.x);
    const int round = place & ((1 << shift) - 1);
    const bool live = place < places && round < rounds;
    const int pair = live ? scratch.oldThread[place >> shift] + round * kThreads : INT32_MAX / 2;
    const longlong2 use = rule.pair(pair);
    const RowAge even = {use.x, 2 * pair};
    const RowAge odd = {use.y, 2 * pair + 1};
    const bool takesEven = !before(scratch.cut, even) && rule.admits(even);
    const bool takesOdd = !before(scratch.cut, odd) && rule.admits(odd);
    int32_t evenKey = kAbsent;
    int32_t oddKey = kAbsent;
    if (takesEven) evenKey = rule.tables.rowKey[even.row];  // under way while places are taken
    if (takesOdd) oddKey = rule.tables.rowKey[odd.row];
    const unsigned evens = __ballot_sync(kFullWarp, takesEven);
    const unsigned odds = __ballot_sync(kFullWarp, takesOdd);
    if ((evens | odds) == 0) continue;
    const int start = takePlaces(&scratch.candidates, evens, odds);
    if (takesEven) putCandidate(start + rankInWarp(evens), even, evenKey, scratch);
    if (takesOdd) putCandidate(start + __popc(evens) + rankInWarp(odds), odd, oddKey, scratch);
  }
}

// Writes the candidates that are older than all but `wanted` - 1 others to their places among the victims, from `first` on:
// a warp for a candidate, a lane for each other one. Returns whether this thread wrote one without an owner.
template <int kThreads>
__device__ inline bool rankCandidates(int count, int wanted, int first, PlanScratch<kThreads>& scratch) {
  const int lane = threadIdx.x % kWarp;
  bool unowned = false;
  for (int i = threadIdx.x / kWarp; i < count; i += kThreads / kWarp) {
    const RowAge row = scratch.candidate[i];
    int older = 0;
    for (int base = 0; base < count; base += kWarp) {
      const bool isOlder = base + lane < count && before(scratch.candidate[base + lane], row);
      older += __popc(__ballot_sync(kFullWarp, isOlder));
    }
    if (lane != 0 || older >= wanted) continue;
    scratch.victim[first + older] = row.row;
    scratch.victimKey[first + older] = scratch.candidateKey[i];
    unowned |= scratch.candidateKey[i] == kAbsent;
  }
  return unowned;
}

// Writes the first victimsWanted victims in order, with their owners, and returns how many there are, or -1 where one of
// them has no owner; all threads take part.
//
// A column is the threads of equal index modulo the number of warps, so that neighbouring pairs of rows lie in different
// columns. Every round cuts at the r-th smallest of the columns' oldest rows: at least r rows lie at or below the cut,
// usually few more, since a run of old rows is spread over all columns; those are listed and ranked. Where too many lie
// below it, r is halved; r = 1 is the oldest row itself.
template <int kThreads, int kPairs>
__device__ int selectVictims(VictimRule rule, PlanScratch<kThreads>& scratch) {
  constexpr int kWarps = kThreads / kWarp;
  static_assert(kWarps <= kWarp, "the columns' oldest rows are ranked by one warp");
  using Slots = ColumnSlots<kThreads>;
  const int warp = threadIdx.x / kWarp;
  const int lane = threadIdx.x % kWarp;
  int found = 0;
  while (found < scratch.victimsWanted) {
    // Ages are not looked at here: rows too young to be victims are younger than all others.
    RowAge mine = noRow();
    if (rule.admitsAll()) {
      // The usual, only look: two selects a row, no branch.
      visitRows<kThreads, kPairs>(rule, [&](const RowAge& row) { mine = row.use < mine.use ? row : mine; });
    } else {
      visitRows<kThreads, kAgainPairs>(rule, [&](const RowAge& row) {
        if (row.use < mine.use && rule.admits(row)) mine = row;
      });
    }
    scratch.oldestUse[Slots::of(threadIdx.x)] = mine.use;
    scratch.oldestRow[Slots::of(threadIdx.x)] = mine.row;
    if (threadIdx.x == 0) scratch.oldThreads = scratch.candidates = 0;
    __syncthreads();  // publishes the threads' oldest and the cleared counters
    const int slot = Slots::of(lane * kWarps + warp);
    const RowAge columnOldest = warpMin({scratch.oldestUse[slot], scratch.oldestRow[slot]});
    int32_t columnKey = kAbsent;
    if (lane == 0) {
      scratch.columnOldest[warp] = columnOldest;
      // Under way while the columns are ranked; wanted where one victim is.
      if (columnOldest.row != kNoRow) columnKey = rule.tables.rowKey[columnOldest.row];
    }
    __syncthreads();  // publishes columnOldest
    const RowAge other = lane < kWarps ? scratch.columnOldest[lane] : noRow();
    const int rank = __popc(__ballot_sync(kFullWarp, before(other, columnOldest)));
    const int live = __popc(__ballot_sync(kFullWarp, other.use < scratch.useBelow));
    if (live == 0) break;
    int reach = min(scratch.victimsWanted - found, live);
    int count = 1;
    for (; reach > 1; reach /= 2) {
      if (lane == 0 && rank == reach - 1) scratch.cut = columnOldest;  // exactly one warp: live rows are distinct
      __syncthreads();  // publishes the cut
      listOldThreads<kThreads>(mine, scratch);
      __syncthreads();  // publishes the list
      listCandidates<kThreads>(rule, scratch);
      __syncthreads();  // publishes the candidates
      count = scratch.candidates;
      if (count <= kMaxCandidates) break;
      __syncthreads();  // all have read the counter; the clearing below is published by the cut's barrier
      if (threadIdx.x == 0) scratch.oldThreads = scratch.candidates = 0;
    }
    bool unowned = false;
    if (reach == 1) {
      count = 1;
      if (lane == 0 && rank == 0) {  // exactly one warp
        scratch.victim[found] = columnOldest.row;
        scratch.victimKey[found] = columnKey;
        scratch.floor = columnOldest;
        unowned = columnKey == kAbsent;
      }
    } else {
      unowned = rankCandidates<kThreads>(count, scratch.victimsWanted - found, found, scratch);
      if (threadIdx.x == 0) scratch.floor = scratch.cut;
    }
    found += min(count, scratch.victimsWanted - found);
    rule.fromStart = false;
    // Publishes the victims; candidates and the oldest rows may be rewritten.
    if (__syncthreads_or(unowned)) return -1;
  }
  return found;
}

// Pool rows own a key in every state that the table check accepts, so owners are read for the chosen rows alone; were one
// without an owner, the choice is made again with the owners of all rows read.
template <int kThreads, int kPairs>
__device__ int selectOwnedVictims(const PlanTables& tables, PlanScratch<kThreads>& scratch) {
  const int found = selectVictims<kThreads, kPairs>({tables, false, true, scratch.floor}, scratch);
  if (found >= 0) return found;
  return selectVictims<kThreads, kAgainPairs>({tables, true, true, scratch.floor}, scratch);
}

// The lanes' inputs, loaded by warp 0 together with the slice, so that their latencies overlap.
struct LaneInputs {
  int32_t id[kLaneHalves];
  float weight[kLaneHalves];
  int32_t missCount[kLaneHalves];  // of the lane's key, before it is known which lanes miss
  PlanState state;
  PlanControls controls;
};

__device__ inline bool isExpert(int32_t id, const PlanTables& tables) { return id >= 0 && id < tables.experts; }

// The expert of a lane that counts, else kAbsent.
__device__ inline int32_t safeIdOf(int32_t id, float weight, const PlanTables& tables) {
  return isExpert(id, tables) && weightIsValid(weight) ? id : kAbsent;
}

__device__ inline LaneInputs loadLanes(const PlanParams& p) {
  const PlanTables& tables = p.tables;
  LaneInputs in;
  for (int half = 0; half < kLaneHalves; ++half) {
    const int lane = threadIdx.x + half * kWarp;
    in.id[half] = lane < p.lanes ? p.ids[lane] : kAbsent;
    in.weight[half] = lane < p.lanes ? p.weights[lane] : 0.0f;
  }
  in.state = *tables.state;
  in.controls = *tables.controls;
  for (int half = 0; half < kLaneHalves; ++half) {
    const bool known = isExpert(in.id[half], tables);
    in.missCount[half] = known ? tables.missCount[p.layer * tables.experts + in.id[half]] : 0;
  }
  return in;
}

// Validation, selection, recency and miss counts (pool-semantics 4, points 1 to 5's first line), by warp 0.
template <int kThreads>
__device__ void classifyLanes(const PlanParams& p, const LaneInputs& in, PlanScratch<kThreads>& scratch) {
  const PlanTables& tables = p.tables;
  const PlanControls& controls = in.controls;
  PlanState state = in.state;
  const int thread = threadIdx.x;
  const int32_t firstKey = p.layer * tables.experts;
  int32_t safeId[kLaneHalves];
  bool invalid[kLaneHalves];
  for (int half = 0; half < kLaneHalves; ++half) {
    safeId[half] = safeIdOf(in.id[half], in.weight[half], tables);
    scratch.lanes.safeId[thread + half * kWarp] = safeId[half];
    invalid[half] = safeId[half] == kAbsent && in.id[half] != kAbsent;
  }
  bool first[kLaneHalves];
  markFirst(safeId, p.lanes, first);

  const bool gateOpen = controls.gate != 0;
  if (gateOpen) {
    state.clock += 1;
    // i32 arithmetic wraps, as in Java.
    if (p.layer == 0) state.forwards = static_cast<int32_t>(static_cast<uint32_t>(state.forwards) + 1u);
  }
  const int32_t forwardIndex = static_cast<int32_t>(static_cast<uint32_t>(state.forwards) - 1u);
  // The remainder is some 40 dependent instructions; the usual interval needs none.
  const bool onInterval = controls.promoteInterval == 1 || forwardIndex % controls.promoteInterval == 0;
  const bool mayPromote = gateOpen && onInterval;

  bool missing[kLaneHalves];
  bool candidate[kLaneHalves];
  for (int half = 0; half < kLaneHalves; ++half) {
    const int32_t row = first[half] ? scratch.rowOfExpert[safeId[half]] : kAbsent;
    missing[half] = first[half] && row == kAbsent;
    candidate[half] = false;
    if (!gateOpen) continue;
    if (row != kAbsent) tables.rowUse[row] = state.clock;
    if (missing[half]) {
      const int32_t misses = static_cast<int32_t>(static_cast<uint32_t>(in.missCount[half]) + 1u);
      tables.missCount[firstKey + safeId[half]] = misses;
      candidate[half] = mayPromote && misses >= controls.promoteMinMisses;
    }
  }
  const uint64_t missingMask = laneBallot(missing);
  const uint64_t candidateMask = laneBallot(candidate);
  const uint64_t invalidMask = laneBallot(invalid);
  if (thread == 0) {
    scratch.lanes.missing = missingMask;
    scratch.lanes.candidate = candidateMask;
    const int candidates = __popcll(candidateMask);
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
}

// Marks, on its way through shared memory, a row that this step fills: rows are fewer.
constexpr int32_t kCopiedRow = 1 << 30;

// Of the candidates, the first `found` have a victim.
__device__ inline bool isPromoted(const StepLanes& lanes, int lane, int found) {
  return hasLane(lanes.candidate, lane) && lanesBefore(lanes.candidate, lane) < found;
}

// Copy list, routes and counts, by warp 0.
template <int kThreads>
__device__ void publishStep(const PlanParams& p, int found, PlanScratch<kThreads>& scratch) {
  const PlanTables& tables = p.tables;
  const StepLanes& lanes = scratch.lanes;
  const int thread = threadIdx.x;
  bool staged[kLaneHalves];
  for (int half = 0; half < kLaneHalves; ++half) {
    const int lane = thread + half * kWarp;
    staged[half] = hasLane(lanes.missing, lane) && !isPromoted(lanes, lane, found);
  }
  const uint64_t stagedMask = laneBallot(staged);
  for (int half = 0; half < kLaneHalves; ++half) {
    const int lane = thread + half * kWarp;
    if (!hasLane(lanes.missing, lane)) continue;
    const int order = lanesBefore(staged[half] ? stagedMask : lanes.candidate, lane);
    const int32_t row = staged[half] ? tables.poolRows + order : scratch.victim[order];
    POOL_DEVICE_ASSERT(row >= 0 && row < (staged[half] ? tables.rows : tables.poolRows));
    const int32_t expert = lanes.safeId[lane];
    p.output->copies[staged[half] ? found + order : order] = {expert, row};
    scratch.rowOfExpert[expert] = row + kCopiedRow;
  }
  if (thread == 0) {
    p.output->promoted = found;
    p.output->staged = __popcll(stagedMask);
  }
  __syncwarp();  // the rows of first lanes are read by their duplicates below
  for (int half = 0; half < kLaneHalves; ++half) {
    const int32_t expert = lanes.safeId[thread + half * kWarp];
    p.output->safeIds[thread + half * kWarp] = expert;
    const int32_t marked = expert == kAbsent ? kAbsent : scratch.rowOfExpert[expert];
    const bool copied = marked >= kCopiedRow;
    const int32_t row = copied ? marked - kCopiedRow : marked;
    p.output->routes[thread + half * kWarp] = row;
    p.output->missRows[thread + half * kWarp] = copied ? row : kAbsent;
  }
}

// Tables and step map as a published step leaves them, by warp 0. The step map already holds the layer's slice of hotRow.
template <int kThreads>
__device__ void commitStep(const PlanParams& p, int found, const PlanScratch<kThreads>& scratch) {
  const PlanTables& tables = p.tables;
  const StepLanes& lanes = scratch.lanes;
  const int32_t firstKey = p.layer * tables.experts;
  for (int half = 0; half < kLaneHalves; ++half) {
    const int lane = threadIdx.x + half * kWarp;
    if (!hasLane(lanes.missing, lane)) continue;
    const int32_t expert = lanes.safeId[lane];
    const int32_t row = scratch.rowOfExpert[expert] - kCopiedRow;
    p.stepMap[expert] = row;
    if (!isPromoted(lanes, lane, found)) continue;
    const int32_t key = firstKey + expert;
    const int32_t evicted = scratch.victimKey[lanesBefore(lanes.candidate, lane)];
    const int32_t evictedExpert = evicted % tables.experts;
    POOL_DEVICE_ASSERT(evicted != key);
    tables.hotRow[evicted] = kAbsent;
    tables.coldRow[evicted] = evictedExpert;
    tables.hotRow[key] = row;
    tables.coldRow[key] = kAbsent;
    tables.rowKey[row] = key;
    tables.rowUse[row] = scratch.clock;
    tables.missCount[key] = 0;
    if (evicted - evictedExpert == firstKey) p.stepMap[evictedExpert] = kAbsent;
  }
}

// What a step does, and how many victims it has found, but for what publishStep and commitStep write; by one block of
// kThreads threads, each of which reads the clocks of kPairs pairs of rows at once.
template <int kThreads, int kPairs>
__device__ int decideStep(const PlanParams& p, PlanScratch<kThreads>& scratch) {
  static_assert(kThreads % kWarp == 0 && kThreads >= kMaxLanes, "a thread each for the victims of the widest step");
  const PlanTables& tables = p.tables;
  const bool planner = threadIdx.x < kWarp;
  POOL_DEVICE_ASSERT(tables.experts <= kMaxExperts && p.lanes <= kMaxLanes && p.layer < tables.layers);

  LaneInputs in = {};
  if (planner) in = loadLanes(p);
  const int32_t* slice = tables.hotRow + p.layer * tables.experts;
  for (int expert = threadIdx.x; expert < tables.experts; expert += kThreads) {
    const int32_t row = slice[expert];
    scratch.rowOfExpert[expert] = row;
    p.stepMap[expert] = row;  // commitStep patches what the step changes
  }
  __syncthreads();  // publishes the slice to warp 0, and orders the step map before its patches

  if (planner) classifyLanes<kThreads>(p, in, scratch);
  __syncthreads();  // publishes victimsWanted and useBelow, and orders the stamped rows before the scan

  return scratch.victimsWanted > 0 ? selectOwnedVictims<kThreads, kPairs>(tables, scratch) : 0;
}

// One step, by one block.
template <int kThreads, int kPairs>
__device__ void planStep(const PlanParams& p) {
  __shared__ PlanScratch<kThreads> scratch;
  const int found = decideStep<kThreads, kPairs>(p, scratch);
  if (threadIdx.x >= kWarp) return;
  publishStep<kThreads>(p, found, scratch);
  commitStep<kThreads>(p, found, scratch);
}

}  // namespace pool
