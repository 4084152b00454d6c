// Entry point of the router, looked up by name. Grid ceil(experts / 8) * ceil(tokens / 4), block kRouterThreads.
#include "model/smxx_router.cuh"

extern "C" __global__ void __launch_bounds__(pool::kRouterThreads)
    smxx_router(const __grid_constant__ pool::RouterParams params) {
  pool::route(params);
}
