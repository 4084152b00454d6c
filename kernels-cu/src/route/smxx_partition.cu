// Entry point of the partition, looked up by name. One block of kPartitionThreads.
#include "route/smxx_partition.cuh"

extern "C" __global__ void __launch_bounds__(pool::kPartitionThreads)
    smxx_partition(const __grid_constant__ pool::PartitionParams params) {
  pool::partitionLanes(params);
}
