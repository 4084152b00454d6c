// Entry points of the MoE over aligned lanes, looked up by name, in launch order. The alignment has blocks of kAlignThreads, a warp
// an expert, the sum of kSumThreads, a thread for 8 output channels. GEMMs: maxBlocks * (gateUpParts + downParts) blocks of the
// MoeBlock, dynamic shared memory sharedBytes(lanes). The number in a name is the lanes a block. A call may cut its GEMMs by
// aligned blocks (firstBlock, and so many fewer blocks) and by experts (-1 in expertRows): one alignment before, one sum after
// all. Those for rows in host memory take aligned blocks of any length, in blocks of kAligned32.
#include "moe/smxx_moe_align.cuh"
#include "moe/smxx_moe_general.cuh"

using pool::Bf16, pool::Aligned8, pool::Aligned16, pool::Aligned32;
POOL_DYNAMIC_SHARED(alignedShared);

extern "C" __global__ void __launch_bounds__(pool::kAlignThreads)
    smxx_moe_align(const __grid_constant__ pool::MoeParams params) {
  pool::alignLanes(params);
}

extern "C" __global__ void __launch_bounds__(pool::kAligned8.threads(), 5)
    smxx_moe_gemms_8(const __grid_constant__ pool::MoeParams params) {
  pool::generalGemms<Aligned8<Bf16>>(params, alignedShared);
}

extern "C" __global__ void __launch_bounds__(pool::kAligned16.threads(), 4)
    smxx_moe_gemms_16(const __grid_constant__ pool::MoeParams params) {
  pool::generalGemms<Aligned8<Bf16>, Aligned16<Bf16>>(params, alignedShared);
}

extern "C" __global__ void __launch_bounds__(pool::kAligned32.threads(), 2)
    smxx_moe_gemms_32(const __grid_constant__ pool::MoeParams params) {
  pool::generalGemms<Aligned8<Bf16>, Aligned16<Bf16>, Aligned32<Bf16>>(params, alignedShared);
}

extern "C" __global__ void __launch_bounds__(pool::kAligned32.threads(), 2)
    smxx_moe_host_gemms(const __grid_constant__ pool::MoeParams params) {
  pool::generalGemms<pool::OverLink<pool::Bf16>>(params, alignedShared);
}

extern "C" __global__ void __launch_bounds__(pool::kSumThreads, 6)
    smxx_moe_sum(const __grid_constant__ pool::MoeParams params) {
  pool::generalSum<Bf16>(params);
}
