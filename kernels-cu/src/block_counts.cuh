// How blocks of a launch tell each other how far they are: by counts in device memory. A CPU run brings its own
// (test/cuda_on_cpu.h).
//
// What a block's threads have stored before a barrier is published by its first thread's count: release is cumulative, and the
// full fence of __threadfence, which also drops what the multiprocessor has in L1, is not needed.
#pragma once

#ifdef __CUDACC__

#include <cstdint>

namespace pool {

// Publishes all that this thread knows to be stored to whoever sees the count.
__device__ inline void countUp(int32_t* count) {
  asm volatile("red.release.gpu.global.add.s32 [%0], 1;" ::"l"(count) : "memory");
}

// Publishes nothing: where the block has only read, or nobody reads what it has stored.
__device__ inline void countRelaxed(int32_t* count) { atomicAdd(count, 1); }

// As the first, and makes visible what others published before; the count before.
__device__ inline int32_t countUpAndSee(int32_t* count) {
  int32_t before;
  asm volatile("atom.acq_rel.gpu.global.add.s32 %0, [%1], 1;" : "=r"(before) : "l"(count) : "memory");
  return before;
}

// A count, or a word that was published with one; what was published with it is visible.
__device__ inline int32_t loadAcquire(const int32_t* from) {
  int32_t value;
  asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
  return value;
}

__device__ inline void pauseBriefly() { __nanosleep(20); }

// Before looking again at what comes next, with nothing else to do: no rest on a device; in a CPU run the other blocks go on.
__device__ inline void lookAgain() {}

}  // namespace pool

#endif
