// The instructions of the MoE kernels that C++ has no words for. A CPU run brings its own (test/moe_ops_on_cpu.h).
#pragma once

#include "block_counts.cuh"

#ifdef __CUDACC__

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

namespace pool {

#define POOL_DYNAMIC_SHARED(name) extern __shared__ __align__(128) uint8_t name[]

struct alignas(8) Words2 {
  uint32_t word[2];
};
struct alignas(16) Words4 {
  uint32_t word[4];
};

// What is read with this policy leaves L2 before all else: weights must not drive out what the next kernels read.
__device__ inline uint64_t leavesFirst() {
  uint64_t policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

// 16 bytes of what one warp reads once: past L1, and first to leave L2. Nothing happens where !wanted; a predicate, no branch.
__device__ inline void loadOnce4(Words4& v, const void* from, bool wanted) {
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %5, 0;"
      " @p ld.global.nc.L1::no_allocate.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %6; }"
      : "+r"(v.word[0]), "+r"(v.word[1]), "+r"(v.word[2]), "+r"(v.word[3])
      : "l"(from), "r"(static_cast<uint32_t>(wanted)), "l"(leavesFirst()));
}

// 16 bytes as other blocks of this launch stored them before they were counted as arrived.
__device__ inline Words4 loadShared4(const void* from) {
  Words4 v;
  asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.word[0]), "=r"(v.word[1]), "=r"(v.word[2]), "=r"(v.word[3])
               : "l"(from)
               : "memory");
  return v;
}

// Begins to bring a line of 128 bytes near, and waits for nothing.
__device__ inline void bringNear(const void* from) { asm volatile("prefetch.global.L1 [%0];" ::"l"(from)); }

// To a unit in the last place.
__device__ inline float reciprocal(float value) {
  float inverse;
  asm("rcp.approx.f32 %0, %1;" : "=f"(inverse) : "f"(value));
  return inverse;
}

// A load that stays where it stands among the copies.
__device__ inline float loadEarly(const float* from) {
  float value;
  asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(value) : "l"(from) : "memory");
  return value;
}
__device__ inline int32_t loadEarly(const int32_t* from) {
  int32_t value;
  asm volatile("ld.global.nc.s32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
  return value;
}
// Words that other blocks write while this one runs, each by itself.
__device__ inline uint32_t loadRelaxed(const uint32_t* from) {
  uint32_t value;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
  return value;
}
__device__ inline Words4 loadRelaxed4(const uint32_t* from) {
  Words4 v;
  asm volatile("ld.relaxed.gpu.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.word[0]), "=r"(v.word[1]), "=r"(v.word[2]), "=r"(v.word[3])
               : "l"(from) : "memory");
  return v;
}
__device__ inline void storeRelaxed(uint32_t* to, uint32_t value) {
  asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(to), "r"(value) : "memory");
}

// What the 16-bit types of activations have in common: pairs in a word, low half first; `low` and `high` widen exactly.
// timesLow and timesHigh are a * (s.low, s.low) and a * (s.high, s.high), no subnormal flushed. pack rounds two fp32, nearest,
// ties to even; overflow is infinity, any NaN 0x7fff. mma is d += a * b, m16n8k16, fp32 sums.
struct Bf16Ops {
  __device__ static float low(uint32_t pair) { return __uint_as_float(pair << 16); }
  __device__ static float high(uint32_t pair) { return __uint_as_float(pair & 0xffff0000u); }
  __device__ static uint32_t timesLow(uint32_t a, uint32_t s) { return bits(__hmul2(pairOf(a), __low2bfloat162(pairOf(s)))); }
  __device__ static uint32_t timesHigh(uint32_t a, uint32_t s) { return bits(__hmul2(pairOf(a), __high2bfloat162(pairOf(s)))); }
  __device__ static uint32_t pack(float low, float high) { return bits(__floats2bfloat162_rn(low, high)); }
  __device__ static void mma(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }

 private:
  __device__ static __nv_bfloat162 pairOf(uint32_t bits) { return *reinterpret_cast<__nv_bfloat162*>(&bits); }
  __device__ static uint32_t bits(__nv_bfloat162 pair) { return *reinterpret_cast<uint32_t*>(&pair); }
};

struct Fp16Ops {
  __device__ static float low(uint32_t pair) { return __low2float(pairOf(pair)); }
  __device__ static float high(uint32_t pair) { return __high2float(pairOf(pair)); }
  __device__ static uint32_t timesLow(uint32_t a, uint32_t s) { return bits(__hmul2(pairOf(a), __low2half2(pairOf(s)))); }
  __device__ static uint32_t timesHigh(uint32_t a, uint32_t s) { return bits(__hmul2(pairOf(a), __high2half2(pairOf(s)))); }
  __device__ static uint32_t pack(float low, float high) { return bits(__floats2half2_rn(low, high)); }
  __device__ static void mma(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }

 private:
  __device__ static __half2 pairOf(uint32_t bits) { return *reinterpret_cast<__half2*>(&bits); }
  __device__ static uint32_t bits(__half2 pair) { return *reinterpret_cast<uint32_t*>(&pair); }
};

// An address in shared memory: 32 bits, so that the arithmetic of rings costs little.
using SharedAddress = uint32_t;
__device__ inline SharedAddress sharedAddress(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}
__device__ inline Words4 readShared4(SharedAddress from) {
  Words4 v;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.word[0]), "=r"(v.word[1]), "=r"(v.word[2]), "=r"(v.word[3])
               : "r"(from) : "memory");
  return v;
}
__device__ inline Words2 readShared2(SharedAddress from) {
  Words2 v;
  asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(v.word[0]), "=r"(v.word[1]) : "r"(from) : "memory");
  return v;
}
__device__ inline void writeShared4(SharedAddress to, const Words4& v) {
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(v.word[0]), "r"(v.word[1]), "r"(v.word[2]),
               "r"(v.word[3]) : "memory");
}

// 16 bytes of weights in the bank to shared memory, without a register.
__device__ inline void copyAsync16(SharedAddress to, const void* from) {
  asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "l"(leavesFirst())
               : "memory");
}
// The same, but nothing happens where !wanted; a predicate, no branch.
__device__ inline void copyAsync16If(SharedAddress to, const void* from, bool wanted) {
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %3; }"
               ::"r"(to), "l"(from), "r"(static_cast<uint32_t>(wanted)), "l"(leavesFirst()) : "memory");
}
// The same two for weights in host memory.
__device__ inline void copyFromHost16(SharedAddress to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}
__device__ inline void copyFromHost16If(SharedAddress to, const void* from, bool wanted) {
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p cp.async.cg.shared.global [%0], [%1], 16; }" ::"r"(to), "l"(from),
               "r"(static_cast<uint32_t>(wanted)) : "memory");
}
// Zeros instead, and nothing read, where !valid.
__device__ inline void copyAsync16OrZeros(SharedAddress to, const void* from, bool valid) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(valid ? 16 : 0) : "memory");
}
__device__ inline void commitCopies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Waits for this thread's copies but those of its last kPending groups.
template <int kPending>
__device__ inline void waitCopies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

// Large copies, where the device has them. What a thread loads behind copies of 16 bytes comes after them, however far away
// their source; behind large copies it does not. The kernels that want them need more shared memory than devices before 9.0 have,
// so copies of 16 bytes stand in for them only where newer devices run code made for 8.0.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
constexpr bool kHasBulkCopies = true;
#else
constexpr bool kHasBulkCopies = false;
#endif
// A barrier of 8 bytes in shared memory, for copies that the calling warp begins and awaits. Its phases end one after the other,
// each once its bytes have been announced, by one thread, and have come.
__device__ inline void makeBarrier(SharedAddress barrier) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
}
__device__ inline void endBarrier(SharedAddress barrier) {
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
}
__device__ inline void announceBytes(SharedAddress barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
// Until the phase of this parity has ended; what its copies brought is visible to the caller.
__device__ inline void awaitPhase(SharedAddress barrier, uint32_t parity) {
  uint32_t ended;
  do {
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(ended) : "r"(barrier), "r"(parity) : "memory");
  } while (ended == 0);
}
// A multiple of 16 bytes of weights in host memory to shared memory.
__device__ inline void copyBulk(SharedAddress to, const void* from, uint32_t bytes, SharedAddress barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
               ::"r"(to), "l"(from), "r"(bytes), "r"(barrier) : "memory");
}
// Before large copies to what this thread has written, or to a barrier that it has made.
__device__ inline void fenceBulkCopies() {
  if constexpr (kHasBulkCopies) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// The MMA's second operand for 8 lanes of 16 k: threads 0 .. 7 name the lanes' rows of 16 bytes, 8 .. 15 the next 16 bytes
// of each. With four matrices, threads 16 .. 31 name those of 8 more lanes.
__device__ inline void loadLanes(uint32_t (&b)[1][2], SharedAddress row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(b[0][0]), "=r"(b[0][1]) : "r"(row) : "memory");
}
__device__ inline void loadLanes(uint32_t (&b)[2][2], SharedAddress row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(b[0][0]), "=r"(b[0][1]), "=r"(b[1][0]), "=r"(b[1][1])
               : "r"(row) : "memory");
}

}  // namespace pool

#endif
