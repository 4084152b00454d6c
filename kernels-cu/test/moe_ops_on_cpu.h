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
inline float fp16At(uint32_t pair, int place) {
  const uint32_t bits = pair >> (16 * place);
  const int exponent = bits >> 10 & 31;
  const int mantissa = bits & 1023;
  const float magnitude = exponent == 31  ? (mantissa ? NAN : INFINITY)
                          : exponent == 0 ? std::ldexp(float(mantissa), -24)
                                          : std::ldexp(float(1024 + mantissa), exponent - 25);
  return bits & 0x8000u ? -magnitude : magnitude;
}

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
inline Words4 loadShared4(const void* from) {
  Words4 v;
  std::memcpy(&v, from, sizeof v);
  return v;
}
inline void bringNear(const void* /*from*/) {}
// A unit in the last place too large or too small.
inline float reciprocal(float value) { return std::nextafter(1.0f / value, static_cast<int>(value) % 2 == 0 ? 0.0f : 2.0f); }
inline float loadEarly(const float* from) { return *from; }
inline int32_t loadEarly(const int32_t* from) { return *from; }
inline uint32_t loadRelaxed(const uint32_t* from) { return *from; }
inline Words4 loadRelaxed4(const uint32_t* from) {
  Words4 v;
  std::memcpy(&v, from, sizeof v);
  return v;
}
inline void storeRelaxed(uint32_t* to, uint32_t value) { *to = value; }

inline uint32_t roundedToBf16(float value) {
  const uint32_t bits = cpu::asBits(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
  return (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
}
inline uint32_t roundedToFp16(float value) {
  if (value != value) return 0x7fff;
  const uint32_t sign = cpu::asBits(value) >> 16 & 0x8000u;
  const float magnitude = std::fabs(value);
  if (magnitude >= 65520.0f) return sign | 0x7c00u;
  if (magnitude == 0) return sign;
  int exponent;
  std::frexp(magnitude, &exponent);
  const int place = std::max(exponent - 11, -24);  // of the last bit
  // A carry into the next exponent is right by itself.
  const auto units = static_cast<uint32_t>(std::nearbyint(std::ldexp(magnitude, -place)));
  return sign | (units + (static_cast<uint32_t>(place + 24) << 10));
}

// What the two types have in common. A product of two 16-bit numbers is exact in fp32, and those of codes and scales are
// exact in 16 bits too.
template <typename Type>
struct OpsOnCpu {
  static float low(uint32_t pair) { return Type::at(pair, 0); }
  static float high(uint32_t pair) { return Type::at(pair, 1); }
  static uint32_t pack(float low, float high) { return Type::rounded(low) | Type::rounded(high) << 16; }
  static uint32_t times(uint32_t pair, float scale) { return pack(low(pair) * scale, high(pair) * scale); }
  static uint32_t timesLow(uint32_t a, uint32_t s) { return times(a, low(s)); }
  static uint32_t timesHigh(uint32_t a, uint32_t s) { return times(a, high(s)); }
  static void mma(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
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
        sum += double(Type::at(weight, k % 2)) * Type::at(value, k % 2);
      }
      d[i] = static_cast<float>(sum);
    }
  }
};

struct Bf16Ops : OpsOnCpu<Bf16Ops> {
  static float at(uint32_t pair, int place) { return cpu::bf16At(pair, place); }
  static uint32_t rounded(float value) { return roundedToBf16(value); }
};
struct Fp16Ops : OpsOnCpu<Fp16Ops> {
  static float at(uint32_t pair, int place) { return cpu::fp16At(pair, place); }
  static uint32_t rounded(float value) { return roundedToFp16(value); }
};

using SharedAddress = uint8_t*;
inline SharedAddress sharedAddress(const void* pointer) { return static_cast<uint8_t*>(const_cast<void*>(pointer)); }
inline Words4 readShared4(SharedAddress from) {
  Words4 v;
  std::memcpy(&v, from, sizeof v);
  return v;
}
inline Words2 readShared2(SharedAddress from) {
  Words2 v;
  std::memcpy(&v, from, sizeof v);
  return v;
}
inline void writeShared4(SharedAddress to, const Words4& v) { std::memcpy(to, &v, sizeof v); }
inline void copyAsync16(SharedAddress to, const void* from) { cpu::self().beginCopy(to, from); }
inline void copyAsync16If(SharedAddress to, const void* from, bool wanted) {
  if (wanted) copyAsync16(to, from);
}
inline void copyFromHost16(SharedAddress to, const void* from) { copyAsync16(to, from); }
inline void copyFromHost16If(SharedAddress to, const void* from, bool wanted) { copyAsync16If(to, from, wanted); }
inline void copyAsync16OrZeros(SharedAddress to, const void* from, bool valid) { copyAsync16(to, valid ? from : nullptr); }
inline void commitCopies() { cpu::self().copies().endGroup(); }
template <int kPending>
inline void waitCopies() {
  cpu::self().copies().wait(kPending);
}

constexpr bool kHasBulkCopies = true;
inline void makeBarrier(SharedAddress barrier) { cpu::self().bulkCopies().makeBarrier(barrier); }
inline void endBarrier(SharedAddress barrier) { cpu::self().bulkCopies().endBarrier(barrier); }
inline void announceBytes(SharedAddress barrier, uint32_t bytes) { cpu::self().bulkCopies().announce(barrier, static_cast<int>(bytes)); }
inline void awaitPhase(SharedAddress barrier, uint32_t parity) { cpu::self().awaitPhase(barrier, parity); }
inline void copyBulk(SharedAddress to, const void* from, uint32_t bytes, SharedAddress barrier) {
  cpu::self().beginBulk(to, from, static_cast<int>(bytes), barrier);
}
inline void fenceBulkCopies() {}

// Thread i gets the words of row i / 4 of each matrix, whose rows the threads name, eight a matrix.
template <int kTiles>
inline void loadLanes(uint32_t (&b)[kTiles][2], SharedAddress row) {
  const auto rows = cpu::all(reinterpret_cast<uint64_t>(row));
  const int lane = cpu::self().lane();
  for (int m = 0; m < 2 * kTiles; ++m) {
    b[m / 2][m % 2] = reinterpret_cast<const uint32_t*>(rows[m * 8 + lane / 4])[lane % 4];
  }
}

}  // namespace pool
