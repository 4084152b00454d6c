// CPU versions of moe/device_ops.cuh. An MMA adds its 16 products and the sum so far in float64 and rounds once, as the
// Java engine does; real tensor cores may differ in the last bits.
#pragma once

#include "cuda_on_cpu.h"

#include <array>

#define __host__

namespace cpu {

inline std::vector<uint8_t>& dynamicShared() {
  static std::vector<uint8_t> bytes(256 * 1024);
  return bytes;
}

inline float asFloat(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
inline uint32_t asBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
inline float bf16At(uint32_t pair, int place) { return asFloat(pair >> (16 * place) << 16); }

inline std::array<uint64_t, 32> all(uint64_t mine) {
  return self().exchange<std::array<uint64_t, 32>>(mine, [](const uint64_t* slot) {
    std::array<uint64_t, 32> values;
    std::copy(slot, slot + 32, values.begin());
    return values;
  });
}

}  // namespace cpu

inline float __uint_as_float(uint32_t bits) { return cpu::asFloat(bits); }
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline void __threadfence() {}
inline int32_t __reduce_add_sync(unsigned, int32_t value) {
  int32_t sum = 0;
  for (uint64_t other : cpu::all(static_cast<uint32_t>(value))) sum += static_cast<int32_t>(other);
  return sum;
}

namespace pool {

#define POOL_DYNAMIC_SHARED(name) static uint8_t* const name = cpu::dynamicShared().data()

struct alignas(8) Words2 {
  uint32_t word[2];
};
struct alignas(16) Words4 {
  uint32_t word[4];
};

inline void loadOnce4(Words4& v, const void* from, bool wanted) {
  if (wanted) std::memcpy(&v, from, sizeof v);
}
inline void loadOnce2(Words2& v, const void* from, bool wanted) {
  if (wanted) std::memcpy(&v, from, sizeof v);
}
inline uint16_t loadShared16(const uint16_t* from) { return *from; }

// The product of two bf16 is exact in fp32; the kernels' products are exact in bf16 too, and this says so if not.
inline uint32_t timesBf16(uint32_t pair, float scale) {
  uint32_t result = 0;
  for (int i = 0; i < 2; ++i) {
    const uint32_t bits = cpu::asBits(cpu::bf16At(pair, i) * scale);
    if (bits & 0xffffu) {
      std::fprintf(stderr, "code times scale is not a bf16: %08x\n", bits);
      std::exit(1);
    }
    result |= bits >> 16 << (16 * i);
  }
  return result;
}
inline uint32_t timesLow(uint32_t a, uint32_t s) { return timesBf16(a, cpu::bf16At(s, 0)); }
inline uint32_t timesHigh(uint32_t a, uint32_t s) { return timesBf16(a, cpu::bf16At(s, 1)); }

inline void mma(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  const auto a01 = cpu::all(a[0] | uint64_t(a[1]) << 32);
  const auto a23 = cpu::all(a[2] | uint64_t(a[3]) << 32);
  const auto b01 = cpu::all(b[0] | uint64_t(b[1]) << 32);
  const int lane = cpu::self().lane();
  for (int i = 0; i < 4; ++i) {
    const int row = lane / 4;
    const int column = lane % 4 * 2 + i % 2;
    double sum = d[i];
    for (int k = 0; k < 16; ++k) {
      const int q = k % 8 / 2;
      const uint64_t weights = k < 8 ? a01[row * 4 + q] : a23[row * 4 + q];
      const uint64_t lanes = b01[column * 4 + q];
      const uint32_t weight = static_cast<uint32_t>(i < 2 ? weights : weights >> 32);
      const uint32_t value = static_cast<uint32_t>(k < 8 ? lanes : lanes >> 32);
      sum += double(cpu::bf16At(weight, k % 2)) * cpu::bf16At(value, k % 2);
    }
    d[i] = static_cast<float>(sum);
  }
}

inline void copyAsync16(void* to, const void* from, bool valid) {
  if (valid) std::memcpy(to, from, 16);
  else std::memset(to, 0, 16);
}
inline void commitCopies() {}
inline void waitCopies() {}

}  // namespace pool
