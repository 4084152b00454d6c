// The instructions of the MoE kernels that C++ has no words for. A CPU run brings its own (test/moe_ops_on_cpu.h).
#pragma once

#ifdef __CUDACC__

#include <cuda_bf16.h>

#include <cstdint>

namespace pool {

#define POOL_DYNAMIC_SHARED(name) extern __shared__ __align__(16) uint8_t name[]

struct alignas(8) Words2 {
  uint32_t word[2];
};
struct alignas(16) Words4 {
  uint32_t word[4];
};

// Loads of what one warp reads once: past L1, so that the activations stay there. Nothing happens where !wanted; a
// predicate, no branch.
__device__ inline void loadOnce4(Words4& v, const void* from, bool wanted) {
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %5, 0;"
      " @p ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4]; }"
      : "+r"(v.word[0]), "+r"(v.word[1]), "+r"(v.word[2]), "+r"(v.word[3])
      : "l"(from), "r"(static_cast<uint32_t>(wanted)));
}

__device__ inline void loadOnce2(Words2& v, const void* from, bool wanted) {
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %3, 0; @p ld.global.nc.L1::no_allocate.v2.u32 {%0, %1}, [%2]; }"
      : "+r"(v.word[0]), "+r"(v.word[1])
      : "l"(from), "r"(static_cast<uint32_t>(wanted)));
}

// A load that sees what other blocks of this launch stored before they were counted as arrived.
__device__ inline uint16_t loadShared16(const uint16_t* from) { return __ldcg(from); }

// a * (s.low, s.low) and a * (s.high, s.high) in bf16; no flush of subnormals.
__device__ inline __nv_bfloat162 bf16x2(uint32_t bits) { return *reinterpret_cast<__nv_bfloat162*>(&bits); }
__device__ inline uint32_t bits(__nv_bfloat162 pair) { return *reinterpret_cast<uint32_t*>(&pair); }
__device__ inline uint32_t timesLow(uint32_t a, uint32_t s) { return bits(__hmul2(bf16x2(a), __low2bfloat162(bf16x2(s)))); }
__device__ inline uint32_t timesHigh(uint32_t a, uint32_t s) { return bits(__hmul2(bf16x2(a), __high2bfloat162(bf16x2(s)))); }

// d += a * b, m16n8k16, bf16 in, fp32 sums.
__device__ inline void mma(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// 16 bytes from global to shared memory, without a register; zero instead where !valid.
__device__ inline void copyAsync16(void* to, const void* from, bool valid) {
  const uint32_t shared = static_cast<uint32_t>(__cvta_generic_to_shared(to));
  const int bytes = valid ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(from), "r"(bytes) : "memory");
}
__device__ inline void commitCopies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
__device__ inline void waitCopies() { asm volatile("cp.async.wait_group 0;" ::: "memory"); }

}  // namespace pool

#endif
