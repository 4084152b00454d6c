// Which routed lanes count (pool-semantics 4, step 1); shared by all that read raw ids.
#pragma once

#include <cstdint>

#include "pool/constants.h"

namespace pool {

// Finite and not negative; -0 is not negative. On the bits, so that no compiler flag can change it.
__device__ inline bool weightIsValid(float weight) {
  const uint32_t bits = __float_as_uint(weight);
  const bool finite = (bits & 0x7f800000u) != 0x7f800000u;
  return finite && (bits < 0x80000000u || bits == 0x80000000u);
}

}  // namespace pool
