// Entry points of the decode MoE, looked up by name. Grid: lanes * width/64, then lanes * hidden/(64 * sides), rounded
// up; dynamic shared memory: DecodeLayout::bytes(blockLanes).
#include "moe/smxx_moe_decode.cuh"

POOL_DYNAMIC_SHARED(decodeShared);

// For one token: 8 chunks of K at a time and all of a chunk requested, so that few blocks have enough loads under way.
extern "C" __global__ void __launch_bounds__(pool::DecodeLayout<pool::kWideChunkWarps, 2>::kThreads, 1)
    smxx_moe_decode_gate_up_wide(const __grid_constant__ pool::MoeParams params) {
  pool::decodeGateUp<pool::kWideChunkWarps>(params, decodeShared);
}

extern "C" __global__ void __launch_bounds__(pool::DecodeLayout<pool::kNarrowChunkWarps, 2>::kThreads, 3)
    smxx_moe_decode_gate_up(const __grid_constant__ pool::MoeParams params) {
  pool::decodeGateUp<pool::kNarrowChunkWarps>(params, decodeShared);
}

extern "C" __global__ void __launch_bounds__(pool::DecodeLayout<pool::kNarrowChunkWarps, 1>::kThreads, 4)
    smxx_moe_decode_down(const __grid_constant__ pool::MoeParams params) {
  pool::decodeDown<1>(params, decodeShared);
}
