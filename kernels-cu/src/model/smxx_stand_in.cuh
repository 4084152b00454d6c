// Stands in for memory-bound work that is not the experts' (dense weights, the KV cache): reads so many bytes from device
// memory and leaves a digest that depends on each of them and on the layer's output, so that nothing can be left out.
#pragma once

#include "moe/device_ops.cuh"
#include "pool/model.h"

namespace pool {

// Sum over the warp, in all its threads.
__device__ inline uint64_t warpSum(uint64_t value) {
#pragma unroll
  for (int step = kWarp / 2; step > 0; step /= 2) value += __shfl_xor_sync(kFullWarp, value, step);
  return value;
}

// Spreads a sum over all 64 bits.
__device__ inline uint64_t spread(uint64_t x) {
  x = (x ^ x >> 31) * 0x9e3779b97f4a7c15u;
  return x ^ x >> 29;
}

// Any number of blocks of kThreads threads gives the same digest: sums of integers have no order.
template <int kThreads, int kVectors>
__device__ void standIn(const StandInParams& p) {
  __shared__ uint64_t warpSums[kThreads / kWarp];
  const int64_t asked = p.units == nullptr ? 0 : *p.units;
  const uint64_t units = asked < 0 ? 0 : static_cast<uint64_t>(asked < p.maxUnits ? asked : p.maxUnits);
  const uint64_t vectors = (p.bytes + units * p.bytesPerUnit) / sizeof(Words4);
  const Words4* memory = reinterpret_cast<const Words4*>(p.memory);
  uint64_t sum = 0;
  for (uint64_t first = uint64_t(blockIdx.x) * kThreads * kVectors; first < vectors;
       first += uint64_t(gridDim.x) * kThreads * kVectors) {
    Words4 read[kVectors] = {};
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      const uint64_t vector = first + threadIdx.x + i * kThreads;
      loadOnce4(read[i], memory + vector, vector < vectors);
    }
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      sum += (uint64_t(read[i].word[1]) << 32 | read[i].word[0]) + (uint64_t(read[i].word[3]) << 32 | read[i].word[2]);
    }
  }
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < p.afterCount; i += gridDim.x * kThreads) {
    sum += p.after[i] * uint64_t{0x100000001b3u};
  }
  sum = warpSum(sum);
  if (threadIdx.x % kWarp == 0) warpSums[threadIdx.x / kWarp] = sum;
  __syncthreads();  // publishes the warps' sums
  if (threadIdx.x != 0) return;
  sum = 0;
  for (uint64_t other : warpSums) sum += other;
  StandInState& state = *p.state;
  atomicAdd(reinterpret_cast<unsigned long long*>(&state.sum), static_cast<unsigned long long>(sum));
  if (countUpAndSee(&state.arrived) != static_cast<int>(gridDim.x) - 1) return;  // with the sums of all that arrived before
  state.digest = spread(atomicExch(reinterpret_cast<unsigned long long*>(&state.sum), 0ull));
  state.arrived = 0;
}

}  // namespace pool
