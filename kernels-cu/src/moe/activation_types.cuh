// The 16-bit types of the activations: how weights expand to them in registers, and their instructions.
//
// expandCodes<I> makes a pair of two E2M1 codes of a word, from places 4*I and 4*I + 16 (marlin-nvfp4 2.2). expandEvenScales
// and expandOddScales make one of two scale codes, bytes 0 and 2, or 1 and 3 (2.4), times 128.
#pragma once

#include "moe/device_ops.cuh"

namespace pool {

// Codes come times 2^-126.
struct Bf16 : Bf16Ops {
  static constexpr bool kMayExpandToNan = false;  // no byte does, so one that is no scale code harms no lane of zeros

  // One multiply moves sign and magnitude to their places, and off the pipe of the masks.
  template <int kPlace>
  __device__ static uint32_t expandCodes(uint32_t word) {
    constexpr uint32_t kCodes = 0x000f000fu << (4 * kPlace);
    constexpr uint32_t kMove = 1u << (12 - 4 * kPlace) | 1u << (6 - 4 * kPlace);
    return ((word & kCodes) * kMove) & 0x81c081c0u;
  }

  // A code moved to the exponent's place is the scale times 2^-105, which an exact multiply mends with fewer instructions than
  // the two masks of marlin-nvfp4 2.4; 0 stays 0.
  static constexpr uint32_t kTwoTo112 = 0x77807780u;
  __device__ static uint32_t expandEvenScales(uint32_t codes) { return timesLow((codes << 4) & 0x0ff00ff0u, kTwoTo112); }
  __device__ static uint32_t expandOddScales(uint32_t codes) { return timesLow((codes >> 4) & 0x0ff00ff0u, kTwoTo112); }
};

// Codes come times 2^-14. Every scale code is exact; bytes from 0xf8 on, which none is, expand to infinity and NaN.
struct Fp16 : Fp16Ops {
  static constexpr bool kMayExpandToNan = true;

  // Two moves: the places of the sign and of the magnitude's uppermost bit are but three apart, and one multiply would carry
  // from one into the other.
  template <int kPlace>
  __device__ static uint32_t expandCodes(uint32_t word) {
    return ((word << (12 - 4 * kPlace)) & 0x80008000u) | ((word << (9 - 4 * kPlace)) & 0x0e000e00u);
  }

  __device__ static uint32_t expandEvenScales(uint32_t codes) { return (codes << 7) & 0x7f807f80u; }
  __device__ static uint32_t expandOddScales(uint32_t codes) { return (codes >> 1) & 0x7f807f80u; }
};

}  // namespace pool
