// Failure checks: every runtime call of a host test, and invariants inside kernels of debug builds.
#pragma once

#include <cstdio>
#include <cstdlib>

// Ends the program with file, line and the CUDA error's name.
#define POOL_CUDA_CHECK(call)                                                                        \
  do {                                                                                               \
    const cudaError_t status_ = (call);                                                              \
    if (status_ != cudaSuccess) {                                                                    \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(status_)); \
      std::exit(1);                                                                                  \
    }                                                                                                \
  } while (0)

// Traps where a broken invariant would otherwise become a wrong row; only in debug builds.
#ifdef POOL_DEBUG
#define POOL_DEVICE_ASSERT(condition) \
  do {                                \
    if (!(condition)) __trap();       \
  } while (0)
#else
#define POOL_DEVICE_ASSERT(condition) \
  do {                                \
  } while (0)
#endif
