// Routes one layer call from a recording in device memory, so that captured graphs replay over it.
//
// It stands in for the router, and keeps a router's order: what it writes depends by data on every word of the output
// before. That pass over the output is also its hash, so any two runs can be compared at every forward: words mixed with
// their places, combined by exclusive or (no order of threads shows), folded layer after layer.
#pragma once

#include "plan/lane_rules.cuh"
#include "pool/constants.h"
#include "pool/route.h"

namespace pool {

// The finaliser of SplitMix64.
__device__ inline uint64_t mix64(uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return x ^ x >> 31;
}

// Exclusive or over all threads of the block, known to all of them.
__device__ inline uint64_t xorOfBlock(uint64_t mine) {
  constexpr int kWarps = kRouteThreads / kWarp;
  static_assert(kWarps <= kWarp, "one warp combines the others");
  __shared__ uint64_t ofWarp[kWarps];
  const auto ofThisWarp = [](uint64_t value) {
    const uint32_t low = __reduce_xor_sync(kFullWarp, static_cast<uint32_t>(value));
    const uint32_t high = __reduce_xor_sync(kFullWarp, static_cast<uint32_t>(value >> 32));
    return static_cast<uint64_t>(high) << 32 | low;
  };
  const uint64_t sum = ofThisWarp(mine);
  if (threadIdx.x % kWarp == 0) ofWarp[threadIdx.x / kWarp] = sum;
  __syncthreads();
  const int other = threadIdx.x % kWarp;
  return ofThisWarp(other < kWarps ? ofWarp[other] : 0);
}

// Distinct valid experts among the call's lanes.
__device__ inline void countSelected(const RouteParams& p, const int32_t* ids, const float* weights) {
  __shared__ int selected;
  if (threadIdx.x == 0) selected = 0;
  __syncthreads();
  for (int lane = threadIdx.x; lane < p.lanes; lane += kRouteThreads) {
    const int id = ids[lane];
    bool first = id >= 0 && id < p.experts && weightIsValid(weights[lane]);
    for (int other = 0; first && other < lane; ++other) {
      if (ids[other] == id && weightIsValid(weights[other])) first = false;
    }
    if (first) atomicAdd(&selected, 1);
  }
  __syncthreads();
  if (threadIdx.x == 0) p.state->selected += selected;
}

__device__ inline void replayRoute(const RouteParams& p) {
  const int64_t forward = p.state->forward;
  uint64_t mine = 0;
  for (int i = threadIdx.x; i < p.outputWords; i += kRouteThreads) {
    mine ^= mix64(static_cast<uint64_t>(i) << 32 | p.output[i]);
  }
  const uint64_t sum = xorOfBlock(mine);
  if (threadIdx.x == 0 && p.state->pending) {
    const uint64_t hash = mix64(p.state->hash ^ sum);
    const bool whole = p.layer == 0 || p.layer == p.layers;
    if (whole) p.hashes[(forward - 1) % p.hashSlots] = hash;
    p.state->hash = whole ? 0 : hash;
    p.state->pending = 0;
    if (p.plan != nullptr) {
      p.state->promoted += p.plan->promoted;
      p.state->staged += p.plan->staged;
    }
  }
  if (p.layer == p.layers) return;

  // The recording's place depends on all of it by data, through a sum that the compiler can't know to add nothing.
  const uint64_t read = p.digest == nullptr ? sum : sum ^ *p.digest;
  const int64_t nothing = static_cast<int64_t>(read & (static_cast<uint64_t>(p.layer) >> 31));
  const int64_t at = (forward % p.tapeForwards * p.layers + p.layer) * p.lanes + nothing;
  for (int lane = threadIdx.x; lane < p.lanes; lane += kRouteThreads) {
    const int32_t id = p.tapeIds[at + lane];
    const float weight = p.tapeWeights[at + lane];
    const bool keep = !p.sanitise || (id >= 0 && id < p.experts && weightIsValid(weight));
    p.ids[lane] = keep ? id : kAbsent;
    p.weights[lane] = keep ? weight : 0.0f;
  }
  if (p.lanes <= kMaxLanes) countSelected(p, p.tapeIds + at, p.tapeWeights + at);
  if (threadIdx.x == 0) {
    p.state->pending = 1;
    if (p.layer == p.layers - 1) p.state->forward = forward + 1;
  }
}

}  // namespace pool
