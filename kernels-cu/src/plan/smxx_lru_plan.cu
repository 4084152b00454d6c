// Entry point of the planner, looked up by name. Grid 1, block kPlanThreads.
#include "plan/smxx_lru_plan.cuh"

extern "C" __global__ void __launch_bounds__(pool::kPlanThreads, 1)
    smxx_lru_plan(const __grid_constant__ pool::PlanParams params) {
  pool::planStep<pool::kPlanThreads, pool::kPlanPairs>(params);
}
