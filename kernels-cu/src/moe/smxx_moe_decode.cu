// Entry points of the decode MoE, looked up by name. Grid: lanes * gateUpParts, then lanes * downParts blocks of the MoeBlock;
// dynamic shared memory: sharedBytes(blockLanes).
#include "moe/smxx_moe_decode.cuh"

POOL_DYNAMIC_SHARED(decodeShared);

extern "C" __global__ void __launch_bounds__(pool::kDecodeGateUp.threads(), 2)
    smxx_moe_decode_gate_up(const __grid_constant__ pool::MoeParams params) {
  pool::decodeGateUp<pool::DecodeGateUp<pool::Bf16>>(params, decodeShared);
}

extern "C" __global__ void __launch_bounds__(pool::kDecodeDown.threads(), 5)
    smxx_moe_decode_down(const __grid_constant__ pool::MoeParams params) {
  pool::decodeDown<pool::DecodeDown<pool::Bf16>>(params, decodeShared);
}
