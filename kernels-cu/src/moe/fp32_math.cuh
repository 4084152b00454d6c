// exp, silu and bf16 rounding from operations that IEEE 754 fixes to the last bit; pool-impl's Fp32Math and Bf16 are the
// same, and say how exp works.
#pragma once

#include <cstdint>

#include "moe/device_ops.cuh"

namespace pool {

__device__ inline float lowBf16(uint32_t pair) { return __uint_as_float(pair << 16); }
__device__ inline float highBf16(uint32_t pair) { return __uint_as_float(pair & 0xffff0000u); }

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

// bf16(bf16(silu(xg)) * xu) of two pairs of accumulators.
__device__ inline uint32_t swiGlu(const float* accGate, const float* accUp, float alphaGate, float alphaUp) {
  const uint32_t gate = packBf16(__fmul_rn(accGate[0], alphaGate), __fmul_rn(accGate[1], alphaGate));
  const uint32_t up = packBf16(__fmul_rn(accUp[0], alphaUp), __fmul_rn(accUp[1], alphaUp));
  const uint32_t activated = packBf16(silu(lowBf16(gate)), silu(highBf16(gate)));
  return packBf16(__fmul_rn(lowBf16(activated), lowBf16(up)), __fmul_rn(highBf16(activated), highBf16(up)));
}

}  // namespace pool
