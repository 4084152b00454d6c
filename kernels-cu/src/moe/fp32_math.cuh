// exp, silu and bf16 rounding from operations that IEEE 754 fixes to the last bit; pool-impl's Fp32Math and Bf16 are the
// same, and say how exp works.
#pragma once

#include <cstdint>

namespace pool {

__device__ inline float bf16ToFloat(uint16_t bits) { return __uint_as_float(static_cast<uint32_t>(bits) << 16); }

// Nearest, ties to even; NaN stays NaN.
__device__ inline uint16_t floatToBf16(float value) {
  const uint32_t bits = __float_as_uint(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>(bits >> 16 | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

__device__ inline float roundToBf16(float value) { return bf16ToFloat(floatToBf16(value)); }

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

// bf16(bf16(silu(xg)) * xu) of two accumulators.
__device__ inline uint16_t swiGlu(float accGate, float accUp, float alphaGate, float alphaUp) {
  const float gate = roundToBf16(__fmul_rn(accGate, alphaGate));
  const float up = roundToBf16(__fmul_rn(accUp, alphaUp));
  return floatToBf16(__fmul_rn(roundToBf16(silu(gate)), up));
}

}  // namespace pool
