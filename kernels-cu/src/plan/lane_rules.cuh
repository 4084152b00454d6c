// Which routed lanes count (pool-semantics 4, step 1), and which are the first of their expert; shared by all that read raw ids.
#pragma once

#include <cstdint>

#include "pool/constants.h"

namespace pool {

// Finite and not negative; -0 is not negative. On the bits, so that no compiler flag can change it.
__device__ inline bool weightIsValid(float weight) {
  const uint32_t bits = __float_as_uint(weight);
  return (bits < 0x7f800000u) | (bits == 0x80000000u);  // finite and positive, or a zero; no branch
}

// The lanes of a step in one warp: thread i % 32 handles lane i as its half i / 32.
constexpr int kLaneHalves = kMaxLanes / kWarp;
static_assert(kLaneHalves == 2, "lane masks are 64 bits wide");

// Bit i is lane i's flag.
__device__ inline uint64_t laneBallot(const bool (&flag)[kLaneHalves]) {
  const uint64_t low = __ballot_sync(kFullWarp, flag[0]);
  const uint64_t high = __ballot_sync(kFullWarp, flag[1]);
  return low | high << kWarp;
}

// First lane of its expert, among valid lanes; safeId is kAbsent for the others.
__device__ inline void markFirst(const int32_t (&safeId)[kLaneHalves], int laneCount, bool (&first)[kLaneHalves]) {
  const int thread = threadIdx.x % kWarp;
  const unsigned sameLow = __match_any_sync(kFullWarp, safeId[0]);
  first[0] = safeId[0] != kAbsent && __ffs(static_cast<int>(sameLow)) - 1 == thread;
  first[1] = false;
  if (laneCount <= kWarp) return;
  const unsigned sameHigh = __match_any_sync(kFullWarp, safeId[1]);
  first[1] = safeId[1] != kAbsent && __ffs(static_cast<int>(sameHigh)) - 1 == thread;
  for (int i = 0; i < kWarp; ++i) {
    first[1] &= __shfl_sync(kFullWarp, safeId[0], i) != safeId[1];
  }
}

}  // namespace pool
