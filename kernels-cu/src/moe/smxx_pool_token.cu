// Entry point of a pool's call of one token, looked up by name. A cooperative launch of TokenGrid.blocks + 1 blocks, at most
// one a multiprocessor, the last of which plans; TokenGrid.fits; dynamic shared memory: TokenGrid.sharedBytes.
#include "moe/smxx_pool_token.cuh"

POOL_DYNAMIC_SHARED(poolTokenShared);

extern "C" __global__ void __launch_bounds__(pool::kToken.threads(), 1)
    smxx_pool_token(const __grid_constant__ pool::PoolTokenParams params) {
  pool::poolToken<pool::Bf16>(params.plan, params.moe, poolTokenShared);
}
