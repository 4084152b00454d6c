// Entry points of the router, looked up by name, in launch order. Logits: grid ceil(experts / kRouterWarps) *
// ceil(tokens / kRouterTokens), block kRouterWarps * kWarp. Choice: grid tokens, block kChooseThreads.
#include "model/smxx_router.cuh"

extern "C" __global__ void __launch_bounds__(pool::kRouterWarps * pool::kWarp)
    smxx_router_logits(const __grid_constant__ pool::RouterParams params) {
  pool::routerLogits(params);
}

extern "C" __global__ void __launch_bounds__(pool::kChooseThreads)
    smxx_router_choose(const __grid_constant__ pool::RouterParams params) {
  pool::chooseExperts(params);
}
