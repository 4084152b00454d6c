// As smxx_moe_decode.cu for fp16 activations.
#include "moe/smxx_moe_decode.cuh"

POOL_DYNAMIC_SHARED(decodeSharedFp16);

extern "C" __global__ void __launch_bounds__(pool::kDecodeGateUp.threads(), 2)
    smxx_moe_decode_gate_up_fp16(const __grid_constant__ pool::MoeParams params) {
  pool::decodeGateUp<pool::DecodeGateUp<pool::Fp16>>(params, decodeSharedFp16);
}

extern "C" __global__ void __launch_bounds__(pool::kDecodeDown.threads(), 5)
    smxx_moe_decode_down_fp16(const __grid_constant__ pool::MoeParams params) {
  pool::decodeDown<pool::DecodeDown<pool::Fp16>>(params, decodeSharedFp16);
}
