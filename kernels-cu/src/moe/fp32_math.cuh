// exp and silu from operations that IEEE 754 fixes to the last bit; pool-impl's Fp32Math is the same, and says how exp works.
#pragma once

#include <cstdint>

#include "moe/device_ops.cuh"

namespace pool {

__device__ inline float powerOfTwo(int exponent) { return __uint_as_float(static_cast<uint32_t>(exponent + 127) << 23); }

__device__ inline float expFp32(float x) {
  constexpr float kRoundToWhole = 0x1.8p+23f;
  if (x != x) return x;
  if (x > 89.0f) return __uint_as_float(0x7f800000u);
  if (x < -104.0f) return 0.0f;
  const float n = __fsub_rn(__fmaf_rn(x, 0x1.715476p+0f, kRoundToWhole), kRoundToWhole);
  const float r = __fmaf_rn(n, 0x1.bd0106p-13f, __fmaf_rn(n, -0x1.63p-1f, x));
  float p = 0x1.a01a02p-13f;
  p = __fmaf_rn(p, r, 0x1.6c16c2p-10f);
  p = __fmaf_rn(p, r, 0x1.111112p-7f);
  p = __fmaf_rn(p, r, 0x1.555556p-5f);
  p = __fmaf_rn(p, r, 0x1.555556p-3f);
  p = __fmaf_rn(p, r, 0.5f);
  p = __fmaf_rn(p, r, 1.0f);
  p = __fmaf_rn(p, r, 1.0f);
  const int exponent = static_cast<int>(n);
  const int half = exponent >> 1;
  return __fmul_rn(__fmul_rn(p, powerOfTwo(half)), powerOfTwo(exponent - half));
}

__device__ inline float silu(float x) { return __fdiv_rn(x, __fadd_rn(1.0f, expFp32(-x))); }

// round(round(silu(xg)) * xu) of two pairs of accumulators, xg and xu rounded too.
template <typename Type>
__device__ inline uint32_t swiGlu(const float* accGate, const float* accUp, float alphaGate, float alphaUp) {
  const uint32_t gate = Type::pack(__fmul_rn(accGate[0], alphaGate), __fmul_rn(accGate[1], alphaGate));
  const uint32_t up = Type::pack(__fmul_rn(accUp[0], alphaUp), __fmul_rn(accUp[1], alphaUp));
  const uint32_t activated = Type::pack(silu(Type::low(gate)), silu(Type::high(gate)));
  return Type::pack(__fmul_rn(Type::low(activated), Type::low(up)), __fmul_rn(Type::high(activated), Type::high(up)));
}

}  // namespace pool
