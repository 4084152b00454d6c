// Entry points of the stand-ins, looked up by name: the same code under a name for each purpose. Any grid, block
// kStandInThreads.
#include "model/smxx_stand_in.cuh"

extern "C" __global__ void __launch_bounds__(pool::kStandInThreads, 2)
    smxx_dense_stand_in(const __grid_constant__ pool::StandInParams params) {
  pool::standIn<pool::kStandInThreads, pool::kStandInVectors>(params);
}

extern "C" __global__ void __launch_bounds__(pool::kStandInThreads, 2)
    smxx_kv_stand_in(const __grid_constant__ pool::StandInParams params) {
  pool::standIn<pool::kStandInThreads, pool::kStandInVectors>(params);
}
