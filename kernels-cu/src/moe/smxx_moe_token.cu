// Entry point of the MoE of one token, looked up by name. A cooperative launch of at most a block a
// multiprocessor, TokenGrid.fits; dynamic shared memory: TokenGrid.sharedBytes.
#include "moe/smxx_moe_token.cuh"

POOL_DYNAMIC_SHARED(tokenShared);

extern "C" __global__ void __launch_bounds__(pool::kToken.threads(), 1)
    smxx_moe_token(const __grid_constant__ pool::MoeParams params) {
  pool::tokenMoe<pool::Bf16>(params, tokenShared);
}
