// The router of a layer: logits in fp32, softmax over all experts, the topK most probable, their weights made to sum to 1.
// Two launches: logits, then a block a token that chooses. Sums have one order for every grid and every number of tokens,
// the one that test/router_twin.h tells in plain loops.
#pragma once

#include "moe/device_ops.cuh"
#include "moe/fp32_math.cuh"
#include "pool/model.h"

namespace pool {

// Shared memory of a choice.
struct ChooseScratch {
  float probability[kMaxExperts];
  int32_t rank[kMaxExperts];
  float partial[kChooseThreads / kWarp];
};

// Combines one value a thread: neighbours first, then neighbours of those; the result in all threads.
template <typename Combine>
__device__ inline float blockCombine(float mine, ChooseScratch& scratch, Combine combine) {
  constexpr int kWarps = kChooseThreads / kWarp;
#pragma unroll
  for (int apart = 1; apart < kWarp; apart *= 2) mine = combine(mine, __shfl_xor_sync(kFullWarp, mine, apart));
  if (threadIdx.x % kWarp == 0) scratch.partial[threadIdx.x / kWarp] = mine;
  __syncthreads();  // publishes the warps' values
  float all[kWarps];
#pragma unroll
  for (int i = 0; i < kWarps; ++i) all[i] = scratch.partial[i];
#pragma unroll
  for (int count = kWarps; count > 1; count /= 2) {
#pragma unroll
    for (int i = 0; i < count / 2; ++i) all[i] = combine(all[2 * i], all[2 * i + 1]);
  }
  __syncthreads();  // all have read
  return all[0];
}

// Orders probabilities as integers; a NaN before all others, so that it is seen and not lost. What is taken comes last.
constexpr int32_t kTaken = -1;

__device__ inline int32_t rankOf(float probability) {
  return probability != probability ? INT32_MAX : static_cast<int32_t>(__float_as_uint(probability));
}

// A slice is the experts of equal index modulo the warp's threads. The best of each thread's, lowest id first.
struct SliceBest {
  int32_t rank;
  int32_t expert;

  __device__ void offer(int32_t otherRank, int32_t otherExpert) {
    if (otherRank <= rank) return;
    rank = otherRank;
    expert = otherExpert;
  }

  // The best of the warp, in all its threads.
  __device__ SliceBest overWarp() const {
    const int32_t most = __reduce_max_sync(kFullWarp, rank);
    return {most, __reduce_min_sync(kFullWarp, rank == most ? expert : kMaxExperts)};
  }
};

// The topK most probable, by one warp: the best slice's best, then that slice looked through again by all threads.
__device__ inline void choose(const RouterParams& p, int token, ChooseScratch& scratch) {
  const int lane = threadIdx.x;
  SliceBest mine = {kTaken, kMaxExperts};
  for (int e = lane; e < p.experts; e += kWarp) mine.offer(scratch.rank[e], e);
  float chosen[kMaxLanes / kWarp] = {};
  float total = 0.0f;
  for (int k = 0; k < p.topK; ++k) {
    const SliceBest top = mine.overWarp();
    const float probability = __uint_as_float(static_cast<uint32_t>(top.rank));  // a NaN is one again
    total = __fadd_rn(total, probability);
    if (lane == k % kWarp) {
      p.ids[static_cast<int64_t>(token) * p.topK + k] = top.expert;
#pragma unroll
      for (int half = 0; half < kMaxLanes / kWarp; ++half) {
        if (half == k / kWarp) chosen[half] = probability;
      }
    }
    if (lane == 0) scratch.rank[top.expert] = kTaken;
    __syncwarp();  // publishes that it is taken
    const int slice = top.expert % kWarp;
    SliceBest left = {kTaken, kMaxExperts};
    for (int e = slice + lane * kWarp; e < p.experts; e += kWarp * kWarp) left.offer(scratch.rank[e], e);
    left = left.overWarp();
    if (lane == slice) mine = left;
  }
#pragma unroll
  for (int half = 0; half < kMaxLanes / kWarp; ++half) {
    const int k = lane + half * kWarp;
    if (k < p.topK) p.weights[static_cast<int64_t>(token) * p.topK + k] = __fdiv_rn(chosen[half], total);
  }
}

// Softmax and choice of one token; grid tokens.
__device__ inline void chooseExperts(const RouterParams& p) {
  __shared__ ChooseScratch scratch;
  const int token = blockIdx.x;
  const float* logits = p.logits + static_cast<int64_t>(token) * p.experts;
  float mine = -__uint_as_float(0x7f800000u);
  for (int e = threadIdx.x; e < p.experts; e += kChooseThreads) {
    const float logit = logits[e];
    scratch.probability[e] = logit;
    mine = logit > mine ? logit : mine;
  }
  const float most = blockCombine(mine, scratch, [](float a, float b) { return b > a ? b : a; });
  float sum = 0.0f;
  for (int e = threadIdx.x; e < p.experts; e += kChooseThreads) {
    const float power = expFp32(__fsub_rn(scratch.probability[e], most));  // its own thread wrote it
    scratch.probability[e] = power;
    sum = __fadd_rn(sum, power);
  }
  sum = blockCombine(sum, scratch, [](float a, float b) { return __fadd_rn(a, b); });
  for (int e = threadIdx.x; e < p.experts; e += kChooseThreads) {
    scratch.rank[e] = rankOf(__fdiv_rn(scratch.probability[e], sum));
  }
  __syncthreads();  // publishes the ranks
  if (threadIdx.x < kWarp) choose(p, token, scratch);
}

// Vectors of the matrix that a thread has in flight.
constexpr int kRouterVectors = 10;

// As loadOnce4, but through L1: the block's other warps read the same.
__device__ inline void loadAgain4(Words4& v, const void* from, bool wanted) {
#ifdef __CUDACC__
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %5, 0; @p ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4]; }"
      : "+r"(v.word[0]), "+r"(v.word[1]), "+r"(v.word[2]), "+r"(v.word[3])
      : "l"(from), "r"(static_cast<uint32_t>(wanted)));
#else
  loadOnce4(v, from, wanted);
#endif
}

// Logits of one expert for so many tokens, by a warp: each thread takes every 32nd vector of 8 in ascending order, then
// threads 16, 8, 4, 2 and 1 apart add up.
template <int kTokens>
__device__ inline void expertLogits(const RouterParams& p, int expert, int firstToken) {
  const int lane = threadIdx.x % kWarp;
  const int vectors = p.hidden / 8;
  const uint16_t* matrix = p.matrix + static_cast<int64_t>(expert) * p.hidden;
  float sum[kTokens] = {};
  for (int first = lane; first < vectors; first += kWarp * kRouterVectors) {
    // Past the end all is zero, and zero times zero changes no sum.
    Words4 row[kRouterVectors] = {};
#pragma unroll
    for (int v = 0; v < kRouterVectors; ++v) {
      const int vector = first + v * kWarp;
      loadOnce4(row[v], matrix + 8 * vector, vector < vectors);
    }
#pragma unroll
    for (int t = 0; t < kTokens; ++t) {
      const int token = firstToken + t < p.tokens ? firstToken + t : p.tokens - 1;
      const uint16_t* activations = p.activations + static_cast<int64_t>(token) * p.hidden;
      Words4 x[kRouterVectors] = {};
#pragma unroll
      for (int v = 0; v < kRouterVectors; ++v) {
        const int vector = first + v * kWarp;
        loadAgain4(x[v], activations + 8 * vector, vector < vectors);
      }
#pragma unroll
      for (int v = 0; v < kRouterVectors; ++v) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const uint32_t w = row[v].word[i];
          sum[t] = __fmaf_rn(__uint_as_float(w << 16), __uint_as_float(x[v].word[i] << 16), sum[t]);
          sum[t] =
              __fmaf_rn(__uint_as_float(w & 0xffff0000u), __uint_as_float(x[v].word[i] & 0xffff0000u), sum[t]);
        }
      }
    }
  }
#pragma unroll
  for (int t = 0; t < kTokens; ++t) {
#pragma unroll
    for (int apart = kWarp / 2; apart > 0; apart /= 2) {
      sum[t] = __fadd_rn(sum[t], __shfl_xor_sync(kFullWarp, sum[t], apart));
    }
    if (lane == 0 && firstToken + t < p.tokens) {
      p.logits[static_cast<int64_t>(firstToken + t) * p.experts + expert] = sum[t];
    }
  }
}

// Grid: ceil(experts / kRouterWarps) blocks for each group of kRouterTokens tokens.
__device__ inline void routerLogits(const RouterParams& p) {
  const int blocksPerGroup = (p.experts + kRouterWarps - 1) / kRouterWarps;
  const int firstToken = blockIdx.x / blocksPerGroup * kRouterTokens;
  const int expert = blockIdx.x % blocksPerGroup * kRouterWarps + threadIdx.x / kWarp;
  if (expert >= p.experts) return;
  if (p.tokens - firstToken == 1) {
    expertLogits<1>(p, expert, firstToken);
  } else {
    expertLogits<kRouterTokens>(p, expert, firstToken);
  }
}

}  // namespace pool
