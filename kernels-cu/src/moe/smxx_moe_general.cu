// Entry points of the MoE over aligned lanes, looked up by name, in launch order. Blocks of kAlignThreads: count and place
// with a warp an expert, sum with a thread for 8 output channels. Blocks of kGeneralThreads, maxBlocks * ceil(width/128)
// of them, then maxBlocks * ceil(hidden/256). The number in a name is the lanes a block. A call may cut its GEMMs by aligned
// blocks (firstBlock, and so many fewer blocks) and by experts (-1 in expertRows): one alignment before, one sum after all.
#include "moe/smxx_moe_align.cuh"
#include "moe/smxx_moe_general.cuh"

extern "C" __global__ void __launch_bounds__(pool::kAlignThreads)
    smxx_moe_align_count(const __grid_constant__ pool::MoeParams params) {
  pool::countLanes(params);
}

extern "C" __global__ void __launch_bounds__(pool::kAlignThreads)
    smxx_moe_align_place(const __grid_constant__ pool::MoeParams params) {
  pool::placeLanes(params);
}

extern "C" __global__ void __launch_bounds__(pool::kGeneralThreads, 5)
    smxx_moe_gate_up_8(const __grid_constant__ pool::MoeParams params) {
  pool::generalGateUp<1>(params);
}

extern "C" __global__ void __launch_bounds__(pool::kGeneralThreads, 4)
    smxx_moe_gate_up_16(const __grid_constant__ pool::MoeParams params) {
  pool::generalGateUp<2>(params);
}

extern "C" __global__ void __launch_bounds__(pool::kGeneralThreads, 2)
    smxx_moe_gate_up_32(const __grid_constant__ pool::MoeParams params) {
  pool::generalGateUp<4>(params);
}

extern "C" __global__ void __launch_bounds__(pool::kGeneralThreads, 5)
    smxx_moe_down_8(const __grid_constant__ pool::MoeParams params) {
  pool::generalDown<1>(params);
}

extern "C" __global__ void __launch_bounds__(pool::kGeneralThreads, 4)
    smxx_moe_down_16(const __grid_constant__ pool::MoeParams params) {
  pool::generalDown<2>(params);
}

extern "C" __global__ void __launch_bounds__(pool::kGeneralThreads, 2)
    smxx_moe_down_32(const __grid_constant__ pool::MoeParams params) {
  pool::generalDown<4>(params);
}

extern "C" __global__ void __launch_bounds__(pool::kAlignThreads)
    smxx_moe_sum(const __grid_constant__ pool::MoeParams params) {
  pool::generalSum(params);
}
