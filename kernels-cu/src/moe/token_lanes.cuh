// The lanes of one token's call as each warp has them, a lane a thread.
#pragma once

#include "moe/device_ops.cuh"
#include "pool/moe.h"

namespace pool {

// What thread i of each warp knows of lane i.
struct TokenLane {
  int expert;           // -1: none
  int row;              // in the bank
  bool missed;          // the row is on the host
  float weight;         // of the router
  ExpertAlphas alphas;  // of the expert
};

// Loads that stay where they stand; of an expert or, where there is none, of any.
__device__ inline ExpertAlphas alphasOf(const MoeParams& p, int expert) {
  const ExpertAlphas* of = p.alphas + max(expert, 0);
  return {loadEarly(&of->gate), loadEarly(&of->up), loadEarly(&of->down)};
}

// Numbers that are not negative, which the compiler does not know: what is made to depend on them comes after them, though it does
// not change. Left to itself, it would compute what is wanted while loads are under way after those have come.
struct NotNegative {
  int ored;

  __device__ int before(int value) const { return value | ored >> 31; }
};

// Place of the n-th bit, from 0 on, of those that are set; -1 where there are not so many.
__device__ inline int placeOfBit(unsigned bits, int n) {
  if ((bits & (bits + 1)) == 0) return n < __popc(bits) ? n : -1;  // the first ones are
#pragma unroll 1
  for (; n > 0; --n) bits &= bits - 1;
  return __ffs(static_cast<int>(bits)) - 1;
}

// The lanes of a token, as each warp has them.
struct TokenLanes {
  TokenLane own;    // of lane `thread`
  unsigned inBank;  // those with an expert and a row in the bank
  unsigned missed;  // or on the host

  __device__ explicit TokenLanes(const TokenLane& lane)
      : own(lane),
        inBank(__ballot_sync(kFullWarp, lane.expert >= 0 && !lane.missed && lane.row >= 0)),
        missed(__ballot_sync(kFullWarp, lane.expert >= 0 && lane.missed)) {}

  __device__ int countInBank() const { return __popc(inBank); }
  __device__ int countMissed() const { return __popc(missed); }
  __device__ unsigned computed() const { return inBank | missed; }
};

}  // namespace pool
