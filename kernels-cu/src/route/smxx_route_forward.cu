// Entry point of the routing of whole forwards from a recording, looked up by name. A block of kRouteThreads a layer.
#include "route/smxx_route_forward.cuh"

extern "C" __global__ void __launch_bounds__(pool::kRouteThreads, 1)
    smxx_route_forward(const __grid_constant__ pool::RouteParams params) {
  pool::routeForward(params);
}
