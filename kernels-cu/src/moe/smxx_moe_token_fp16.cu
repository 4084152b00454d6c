// As smxx_moe_token.cu for fp16 activations.
#include "moe/smxx_moe_token.cuh"

POOL_DYNAMIC_SHARED(tokenSharedFp16);

extern "C" __global__ void __launch_bounds__(pool::kToken.threads(), 1)
    smxx_moe_token_fp16(const __grid_constant__ pool::MoeParams params) {
  pool::tokenMoe<pool::Fp16>(params, tokenSharedFp16);
}
