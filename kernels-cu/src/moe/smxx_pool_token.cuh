// A step of the planner and the MoE of its one token in one kernel (pool-semantics 4 and 5).
//
// The last block plans. The others look up the token's rows by themselves and begin at once: what is resident they compute as
// the kernel for one token does, what is missing they ask the host for. Where a missing row is to be kept they need to know
// only when its first bytes have come, and by then the planner, which must look through all rows for a victim, has decided.
//
// The planner changes nothing that the others look up before all of them have; and no row is a victim that this step reads.
// A cooperative launch, as the kernel for one token.
#pragma once

#include "moe/smxx_moe_token.cuh"
#include "plan/smxx_lru_plan.cuh"

namespace pool {

// What a step asks for lane i, by thread i of each warp.
struct AskedSelection {
  int id;
  float weight;
  const int32_t* rows;  // [experts] of the layer

  __device__ explicit AskedSelection(const PlanParams& plan) {
    constexpr int kLineRows = kLineBytes / sizeof(int32_t);
    rows = plan.tables.hotRow + plan.layer * plan.tables.experts;
#pragma unroll 1
    for (int e = threadIdx.x * kLineRows; e < plan.tables.experts; e += kPlanThreads * kLineRows) bringNear(rows + e);  // each line once
    const int lane = min(static_cast<int>(threadIdx.x % kWarp), plan.lanes - 1);
    id = loadEarly(plan.ids + lane);
    weight = loadEarly(plan.weights + lane);
  }

  // The lane as the tables have it before the step, once `prepared` is known.
  __device__ TokenLane lookUp(const PlanParams& plan, const MoeParams& p, NotNegative prepared) const {
    const int asked = prepared.before(id);
    const bool inside = static_cast<int>(threadIdx.x % kWarp) < plan.lanes;
    // Without a branch, or the compiler asks for the ids only in front of it, behind all that is prepared.
    const bool isSelected = inside & (asked >= 0) & (asked < plan.tables.experts) & weightIsValid(weight);
    const int expert = isSelected ? asked : kAbsent;
    const int found = rows[max(expert, 0)], row = isSelected ? found : kAbsent;
    return {expert, row, row == kAbsent, weight, alphasOf(p, expert)};
  }
};

// Where missed rows are kept: as the planner decides while they are on their way. The call's lanes say row 0.
struct PlannedRows {
  static constexpr bool kLate = true;
  const PlanParams& plan;
  const MoeParams& p;
  // All warps of the block know their lanes: it reads the tables no more. Counted before anything is asked of the host, behind which
  // it would come, and without a release: what the block has read has come, or it could not know its lanes.
  __device__ void allLookedUp() const {
    if (threadIdx.x == 0) countRelaxed(countsOf(p).lookedUp);
  }
  // Called by the whole block.
  __device__ int64_t bytesFurther(int lane) const {
    waitUntil(countsOf(p).planned, 1);
    return static_cast<int64_t>(__ldcg(plan.output->routes + lane) * p.w13.strideBytes);
  }
};

// Pairs of rows whose clocks a thread of the planner reads at once: it has more time than registers here.
constexpr int kBesidePairs = 6;

// By one block, while `blocks` others run.
__device__ inline void planBeside(const PlanParams& plan, const DecodeCounts& counts, int blocks, uint8_t* shared) {
  auto& scratch = *reinterpret_cast<PlanScratch<kPlanThreads>*>(shared);
  const int found = decideStep<kPlanThreads, kBesidePairs>(plan, scratch);
  if (threadIdx.x >= kWarp) return;
  publishStep<kPlanThreads>(plan, found, scratch);
  if (scratch.lanes.missing == 0) return;
  __syncwarp();  // the step is stored; the first thread's count publishes it
  if (threadIdx.x == 0) {
    countUp(counts.planned);
    while (loadAcquire(counts.lookedUp) < blocks) pauseBriefly();
    *counts.lookedUp = 0;
  }
  __syncwarp();  // and only now the tables change
  commitStep<kPlanThreads>(plan, found, scratch);
}

template <typename Type>
__device__ void poolToken(const PlanParams& plan, const MoeParams& p, uint8_t* shared) {
  static_assert(kPlanThreads == kToken.threads() && sizeof(PlanScratch<kPlanThreads>) <= kToken.warps() * kTokenWarpBytes);
  const int blocks = gridDim.x - 1;
  if (blockIdx.x == blocks) {
    planBeside(plan, countsOf(p), blocks, shared);
    return;
  }
  const AskedSelection asked(plan);
  TokenCall<Type, PlannedRows> call(p, PlannedRows{plan, p}, blocks, shared);
  call.run(TokenLanes(asked.lookUp(plan, p, call.prepared())));
}

}  // namespace pool
