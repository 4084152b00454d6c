// Entry point of the decode MoE, looked up by name. Grid: decodeBlocks of kDecode; dynamic shared memory:
// kDecode.sharedBytes(the larger of blockLanes and hostLanes).
#include "moe/smxx_moe_decode.cuh"

POOL_DYNAMIC_SHARED(decodeShared);

extern "C" __global__ void __launch_bounds__(pool::kDecode.threads(), 2)
    smxx_moe_decode(const __grid_constant__ pool::MoeParams params) {
  pool::decodeMoe<pool::Bf16>(params, decodeShared);
}
