// Routes all layer calls of a forward at once, from a recording in device memory: for the experts alone, with no router's time
// between them.
//
// A block for each layer reads, and hashes, the output that its call had in the forward before. The last block to end folds
// the hashes in the layers' order, as the replay of one call after the other does, so that hashes of both are equal; then it
// routes.
#pragma once

#include "route/smxx_route_replay.cuh"

namespace pool {

// Keeps the books of a forward that all blocks have read; by the first warp of the last of them.
__device__ inline void endForward(const RouteParams& p, const uint64_t* sums) {
  const int thread = threadIdx.x % kWarp;
  uint64_t hash = 0;
  for (int first = 0; first < p.layers; first += kWarp) {
    const uint64_t sum = first + thread < p.layers ? __ldcg(sums + first + thread) : 0;
    const int32_t low = static_cast<int32_t>(sum), high = static_cast<int32_t>(sum >> 32);
    for (int i = 0; i < min(kWarp, p.layers - first); ++i) {
      const uint64_t lower = static_cast<uint32_t>(__shfl_sync(kFullWarp, low, i));
      const uint64_t upper = static_cast<uint32_t>(__shfl_sync(kFullWarp, high, i));
      hash = mix64(hash ^ (upper << 32 | lower));
    }
  }
  if (thread == 0) p.hashes[(p.state->forward - 1) % p.hashSlots] = hash;
}

// A block of kRouteThreads a layer. The arrays of RouteParams are those of all layers, one after the other; layer: 0, or
// layers to end the last forward; behind the hashes lie [layers] words of scratch; no digest.
__device__ inline void routeForward(const RouteParams& p) {
  __shared__ uint64_t ofWarp[kRouteWarps];
  __shared__ bool isLast;
  const int call = blockIdx.x;
  const int warp = threadIdx.x / kWarp;
  const int thread = threadIdx.x % kWarp;
  RouteState& state = *p.state;
  uint64_t* sums = p.hashes + p.hashSlots;
  const bool pending = state.pending != 0;  // of these two nothing changes before all blocks have ended
  const int64_t at = static_cast<int64_t>(state.tapeForward) * p.layers * p.lanes;

  if (pending) {
    if (warp == kRouteWarps - 1) {
      const int64_t lanes = static_cast<int64_t>(call) * p.lanes;
      const int selected = p.lanes <= kMaxLanes ? countSelected(p, p.ids + lanes, p.weights + lanes) : 0;
      const auto count = [](int64_t& all, int more) {
        atomicAdd(reinterpret_cast<unsigned long long*>(&all), static_cast<unsigned long long>(more));
      };
      if (thread == 0) {
        count(state.selected, selected);
        if (p.plan != nullptr) {
          count(state.promoted, p.plan[call].promoted);
          count(state.staged, p.plan[call].staged);
        }
      }
    }
    OutputShare output(p.output + static_cast<int64_t>(call) * p.outputWords, p.outputWords, 0, 1);
    const uint64_t mixed = xorOfWarp(output.mix());
    if (thread == 0) ofWarp[warp] = mixed;
    __syncthreads();  // publishes the warps' sums
    if (warp == 0) {
      const uint64_t sum = xorOfWarp(thread < kRouteWarps ? ofWarp[thread] : 0);
      if (thread == 0) sums[call] = sum;
    }
  }
  __syncthreads();  // the block has read what it reads; the first thread's count publishes what it has stored
  if (threadIdx.x == 0) isLast = countUpAndSee(&state.ended) == static_cast<int>(gridDim.x) - 1;
  __syncthreads();  // and what it has seen of others is visible to all
  if (!isLast) return;

  const bool routes = p.layer < p.layers;
  if (warp == 0) {
    if (pending) endForward(p, sums);
    if (thread == 0) {
      state.ended = 0;
      state.pending = routes;
      if (routes) advance(state, p);
    }
  }
  if (!routes) return;
  for (int lane = threadIdx.x; lane < p.layers * p.lanes; lane += kRouteThreads) {
    routeLane(p, {p.tapeIds[at + lane], p.tapeWeights[at + lane]}, lane);
  }
}

}  // namespace pool
