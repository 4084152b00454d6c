// As smxx_moe_general.cu for fp16 activations; the alignment is the same kernel.
#include "moe/smxx_moe_general.cuh"

using pool::Fp16, pool::Aligned8, pool::Aligned16, pool::Aligned32;
POOL_DYNAMIC_SHARED(alignedSharedFp16);

extern "C" __global__ void __launch_bounds__(pool::kAligned8.threads(), 5)
    smxx_moe_gemms_8_fp16(const __grid_constant__ pool::MoeParams params) {
  pool::generalGemms<Aligned8<Fp16>>(params, alignedSharedFp16);
}

extern "C" __global__ void __launch_bounds__(pool::kAligned16.threads(), 4)
    smxx_moe_gemms_16_fp16(const __grid_constant__ pool::MoeParams params) {
  pool::generalGemms<Aligned8<Fp16>, Aligned16<Fp16>>(params, alignedSharedFp16);
}

extern "C" __global__ void __launch_bounds__(pool::kAligned32.threads(), 2)
    smxx_moe_gemms_32_fp16(const __grid_constant__ pool::MoeParams params) {
  pool::generalGemms<Aligned8<Fp16>, Aligned16<Fp16>, Aligned32<Fp16>>(params, alignedSharedFp16);
}

extern "C" __global__ void __launch_bounds__(pool::kAligned32.threads(), 2)
    smxx_moe_host_gemms_fp16(const __grid_constant__ pool::MoeParams params) {
  pool::generalGemms<pool::OverLink<Fp16>>(params, alignedSharedFp16);
}

extern "C" __global__ void __launch_bounds__(pool::kSumThreads, 6)
    smxx_moe_sum_fp16(const __grid_constant__ pool::MoeParams params) {
  pool::generalSum<Fp16>(params);
}
