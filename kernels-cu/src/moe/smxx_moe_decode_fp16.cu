// As smxx_moe_decode.cu for fp16 activations.
#include "moe/smxx_moe_decode.cuh"

POOL_DYNAMIC_SHARED(decodeSharedFp16);

extern "C" __global__ void __launch_bounds__(pool::kDecode.threads(), 2)
    smxx_moe_decode_fp16(const __grid_constant__ pool::MoeParams params) {
  pool::decodeMoe<pool::Fp16>(params, decodeSharedFp16);
}
