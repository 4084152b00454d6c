// Entry point of the replay of recorded routing, looked up by name. routeBlocks blocks of kRouteThreads.
#include "route/smxx_route_replay.cuh"

extern "C" __global__ void __launch_bounds__(pool::kRouteThreads, 1)
    smxx_route_replay(const __grid_constant__ pool::RouteParams params) {
  pool::replayRoute(params);
}
