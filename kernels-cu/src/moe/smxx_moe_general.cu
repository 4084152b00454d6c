// Entry points of the MoE over aligned lanes, looked up by name, in launch order. The alignment is one block of kAlignThreads; the
// sum has blocks of kSumThreads, a thread for 8 output channels. GEMMs: maxBlocks * gateUpParts, then maxBlocks * downParts
// blocks of the MoeBlock, dynamic shared memory sharedBytes(lanes). The number in a name is the lanes a block. A call may cut
// its GEMMs by aligned blocks (firstBlock, and so many fewer blocks) and by experts (-1 in expertRows): one alignment before,
// one sum after all. The two for rows in host memory take aligned blocks of any length, in blocks of kAligned32.
#include "moe/smxx_moe_align.cuh"
#include "moe/smxx_moe_general.cuh"

using pool::Bf16, pool::Aligned8, pool::Aligned16, pool::Aligned32;
POOL_DYNAMIC_SHARED(alignedShared);

extern "C" __global__ void __launch_bounds__(pool::kAlignThreads)
    smxx_moe_align(const __grid_constant__ pool::MoeParams params) {
  pool::alignLanes(params);
}

extern "C" __global__ void __launch_bounds__(pool::kAligned8.threads(), 5)
    smxx_moe_gate_up_8(const __grid_constant__ pool::MoeParams params) {
  pool::generalGateUp<Aligned8<Bf16>>(params, alignedShared);
}

extern "C" __global__ void __launch_bounds__(pool::kAligned16.threads(), 4)
    smxx_moe_gate_up_16(const __grid_constant__ pool::MoeParams params) {
  pool::generalGateUp<Aligned8<Bf16>, Aligned16<Bf16>>(params, alignedShared);
}

extern "C" __global__ void __launch_bounds__(pool::kAligned32.threads(), 2)
    smxx_moe_gate_up_32(const __grid_constant__ pool::MoeParams params) {
  pool::generalGateUp<Aligned8<Bf16>, Aligned16<Bf16>, Aligned32<Bf16>>(params, alignedShared);
}

extern "C" __global__ void __launch_bounds__(pool::kAligned8.threads(), 5)
    smxx_moe_down_8(const __grid_constant__ pool::MoeParams params) {
  pool::generalDown<Aligned8<Bf16>>(params, alignedShared);
}

extern "C" __global__ void __launch_bounds__(pool::kAligned16.threads(), 4)
    smxx_moe_down_16(const __grid_constant__ pool::MoeParams params) {
  pool::generalDown<Aligned8<Bf16>, Aligned16<Bf16>>(params, alignedShared);
}

extern "C" __global__ void __launch_bounds__(pool::kAligned32.threads(), 2)
    smxx_moe_down_32(const __grid_constant__ pool::MoeParams params) {
  pool::generalDown<Aligned8<Bf16>, Aligned16<Bf16>, Aligned32<Bf16>>(params, alignedShared);
}

extern "C" __global__ void __launch_bounds__(pool::kAligned32.threads(), 2)
    smxx_moe_host_gate_up(const __grid_constant__ pool::MoeParams params) {
  pool::hostGateUp<pool::OverLink<pool::Bf16>>(params, alignedShared);
}

extern "C" __global__ void __launch_bounds__(pool::kAligned32.threads(), 2)
    smxx_moe_host_down(const __grid_constant__ pool::MoeParams params) {
  pool::hostDown<pool::OverLink<pool::Bf16>>(params, alignedShared);
}

extern "C" __global__ void __launch_bounds__(pool::kSumThreads, 6)
    smxx_moe_sum(const __grid_constant__ pool::MoeParams params) {
  pool::generalSum<Bf16>(params);
}
