// The router of a layer: logits in fp32, softmax over all experts, the topK most probable, their weights made to sum to 1.
// One launch; the block that finishes a group of tokens last chooses for them. Sums have one order for every grid and every
// number of tokens, the one that test/router_twin.h tells in plain loops.
#pragma once

#include "moe/device_ops.cuh"
#include "moe/fp32_math.cuh"
#include "pool/model.h"

namespace pool {

// Shared memory of a choice.
struct RouterScratch {
  float probability[kMaxExperts];
  float partial[kRouterWarps];
  int32_t warpBest[2][kRouterWarps];  // by turns, so that one barrier a choice is enough
  int32_t warpExpert[2][kRouterWarps];
  float chosen[kMaxLanes];
  bool last;
};

// Combines one value a thread: neighbours first, then neighbours of those; the result in all threads.
template <typename Combine>
__device__ inline float blockCombine(float mine, RouterScratch& scratch, Combine combine) {
#pragma unroll
  for (int apart = 1; apart < kWarp; apart *= 2) mine = combine(mine, __shfl_xor_sync(kFullWarp, mine, apart));
  if (threadIdx.x % kWarp == 0) scratch.partial[threadIdx.x / kWarp] = mine;
  __syncthreads();  // publishes the warps' values
  float all[kRouterWarps];
#pragma unroll
  for (int i = 0; i < kRouterWarps; ++i) all[i] = scratch.partial[i];
#pragma unroll
  for (int count = kRouterWarps; count > 1; count /= 2) {
#pragma unroll
    for (int i = 0; i < count / 2; ++i) all[i] = combine(all[2 * i], all[2 * i + 1]);
  }
  __syncthreads();  // all have read
  return all[0];
}

// Orders probabilities as integers; a NaN before all others, so that it is seen and not lost.
__device__ inline int32_t rankOf(float probability) {
  return probability != probability ? INT32_MAX : static_cast<int32_t>(__float_as_uint(probability));
}

constexpr int32_t kTaken = -1;

// The expert that this thread would choose among those at index modulo kRouterThreads.
__device__ inline void bestOfSlice(const RouterParams& p, const RouterScratch& scratch, int32_t& best, int32_t& expert) {
  best = kTaken;
  expert = kMaxExperts;
  for (int e = threadIdx.x; e < p.experts; e += kRouterThreads) {
    const float probability = scratch.probability[e];
    if (probability < 0.0f) continue;
    if (rankOf(probability) > best) {
      best = rankOf(probability);
      expert = e;
    }
  }
}

// Softmax and choice of one token, by the whole block.
__device__ inline void chooseExperts(const RouterParams& p, int token, RouterScratch& scratch) {
  const float* logits = p.logits + static_cast<int64_t>(token) * p.experts;
  float mine = -__uint_as_float(0x7f800000u);
  for (int e = threadIdx.x; e < p.experts; e += kRouterThreads) {
    const float logit = __ldcg(logits + e);  // other blocks of this launch wrote it
    mine = logit > mine ? logit : mine;
  }
  const float most = blockCombine(mine, scratch, [](float a, float b) { return b > a ? b : a; });
  float sum = 0.0f;
  for (int e = threadIdx.x; e < p.experts; e += kRouterThreads) {
    const float power = expFp32(__fsub_rn(__ldcg(logits + e), most));
    scratch.probability[e] = power;
    sum = __fadd_rn(sum, power);
  }
  sum = blockCombine(sum, scratch, [](float a, float b) { return __fadd_rn(a, b); });
  for (int e = threadIdx.x; e < p.experts; e += kRouterThreads) {
    scratch.probability[e] = __fdiv_rn(scratch.probability[e], sum);
  }
  int32_t best;
  int32_t expert;
  bestOfSlice(p, scratch, best, expert);  // each thread reads what it wrote itself
  float total = 0.0f;
  for (int k = 0; k < p.topK; ++k) {
    const int32_t warpBest = __reduce_max_sync(kFullWarp, best);
    const int32_t warpExpert = __reduce_min_sync(kFullWarp, best == warpBest ? expert : kMaxExperts);
    int32_t* bests = scratch.warpBest[k % 2];
    int32_t* experts = scratch.warpExpert[k % 2];
    if (threadIdx.x % kWarp == 0) {
      bests[threadIdx.x / kWarp] = warpBest;
      experts[threadIdx.x / kWarp] = warpExpert;
    }
    __syncthreads();  // publishes each warp's best; those of the turn before have been read
    int32_t topBest = kTaken;
    int32_t top = kMaxExperts;
#pragma unroll
    for (int warp = 0; warp < kRouterWarps; ++warp) {
      const bool better = bests[warp] > topBest || (bests[warp] == topBest && experts[warp] < top);
      topBest = better ? bests[warp] : topBest;
      top = better ? experts[warp] : top;
    }
    const float probability = __uint_as_float(static_cast<uint32_t>(topBest));  // a NaN is one again
    total = __fadd_rn(total, probability);
    if (threadIdx.x == 0) {
      p.ids[static_cast<int64_t>(token) * p.topK + k] = top;
      scratch.chosen[k] = probability;
    }
    if (top % kRouterThreads == static_cast<int>(threadIdx.x)) {
      scratch.probability[top] = -1.0f;  // read by this thread alone
      bestOfSlice(p, scratch, best, expert);
    }
  }
  __syncthreads();  // publishes the last of the chosen
  for (int k = threadIdx.x; k < p.topK; k += kRouterThreads) {
    p.weights[static_cast<int64_t>(token) * p.topK + k] = __fdiv_rn(scratch.chosen[k], total);
  }
  __syncthreads();  // the scratch may be rewritten
}

// Vectors of the matrix that a thread has in flight.
constexpr int kRouterVectors = 5;

// Logits of one expert for so many tokens, by a warp: each thread takes every 32nd vector of 8 in ascending order, then
// threads 16, 8, 4, 2 and 1 apart add up.
template <int kTokens>
__device__ inline void expertLogits(const RouterParams& p, int expert, int firstToken) {
  const int lane = threadIdx.x % kWarp;
  const int vectors = p.hidden / 8;
  const uint16_t* row = p.matrix + static_cast<int64_t>(expert) * p.hidden;
  float sum[kTokens] = {};
  for (int first = lane; first < vectors; first += kWarp * kRouterVectors) {
    Words4 matrix[kRouterVectors] = {};
#pragma unroll
    for (int v = 0; v < kRouterVectors; ++v) {
      const int vector = first + v * kWarp;
      loadOnce4(matrix[v], row + 8 * vector, vector < vectors);
    }
#pragma unroll
    for (int v = 0; v < kRouterVectors; ++v) {
      const int vector = first + v * kWarp;
      if (vector >= vectors) break;
#pragma unroll
      for (int t = 0; t < kTokens; ++t) {
        const int token = firstToken + t < p.tokens ? firstToken + t : p.tokens - 1;
        const Words4 x =
            reinterpret_cast<const Words4*>(p.activations + static_cast<int64_t>(token) * p.hidden)[vector];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const uint32_t w = matrix[v].word[i];
          sum[t] = __fmaf_rn(__uint_as_float(w << 16), __uint_as_float(x.word[i] << 16), sum[t]);
          sum[t] = __fmaf_rn(__uint_as_float(w & 0xffff0000u), __uint_as_float(x.word[i] & 0xffff0000u), sum[t]);
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

// Grid: ceil(experts / kRouterWarps) blocks for each group of kRouterTokens tokens, a group's blocks together.
__device__ inline void route(const RouterParams& p) {
  __shared__ RouterScratch scratch;
  const int blocksPerGroup = (p.experts + kRouterWarps - 1) / kRouterWarps;
  const int group = blockIdx.x / blocksPerGroup;
  const int firstToken = group * kRouterTokens;
  const int expert = blockIdx.x % blocksPerGroup * kRouterWarps + threadIdx.x / kWarp;
  if (expert < p.experts) {
    if (p.tokens - firstToken == 1) {
      expertLogits<1>(p, expert, firstToken);
    } else {
      expertLogits<kRouterTokens>(p, expert, firstToken);
    }
  }
  __threadfence();  // the logits are out before this block counts as arrived
  __syncthreads();  // all warps' are
  if (threadIdx.x == 0) {
    scratch.last = atomicAdd(&p.arrivals[group], 1u) == static_cast<uint32_t>(blocksPerGroup) - 1;
    if (scratch.last) p.arrivals[group] = 0;
  }
  __syncthreads();  // publishes whether this block is the last
  if (!scratch.last) return;
  __threadfence();
  for (int token = firstToken; token < firstToken + kRouterTokens && token < p.tokens; ++token) {
    chooseExperts(p, token, scratch);
  }
}

}  // namespace pool
