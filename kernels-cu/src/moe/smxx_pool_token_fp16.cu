// As smxx_pool_token.cu for fp16 activations.
#include "moe/smxx_pool_token.cuh"

POOL_DYNAMIC_SHARED(poolTokenFp16Shared);

extern "C" __global__ void __launch_bounds__(pool::kToken.threads(), 1)
    smxx_pool_token_fp16(const __grid_constant__ pool::PoolTokenParams params) {
  pool::poolToken<pool::Fp16>(params.plan, params.moe, poolTokenFp16Shared);
}
