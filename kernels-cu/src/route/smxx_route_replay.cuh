// Routes one layer call from a recording in device memory, so that captured graphs replay over it.
//
// It stands in for the router, and keeps a router's order: nothing that it writes of a call's routing can be there before every
// word of the output before has been read, since where it is written depends by data on them all. The recording itself is
// read beside the output, as a router's matrix would be: nobody else sees it. That pass over the output is also its hash, so any two
// runs can be compared at every forward: words mixed with their places, combined by exclusive or (no order of threads or
// blocks shows), folded layer after layer.
#pragma once

#include "block_counts.cuh"
#include "plan/lane_rules.cuh"
#include "pool/constants.h"
#include "pool/route.h"

namespace pool {

constexpr int kRouteWarps = kRouteThreads / kWarp;
constexpr int kRouteUnroll = 4;  // vectors of the output that a thread has under way at once
constexpr int kRouteLanes = 9;   // lanes of wide calls, behind the first of each thread: 5,120 in one go
static_assert(kRouteWarps <= kWarp, "one warp combines the others");

// The finaliser of SplitMix64.
__device__ inline uint64_t mix64(uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return x ^ x >> 31;
}

__device__ inline uint64_t xorOfWarp(uint64_t value) {
  const uint32_t low = __reduce_xor_sync(kFullWarp, static_cast<uint32_t>(value));
  const uint32_t high = __reduce_xor_sync(kFullWarp, static_cast<uint32_t>(value >> 32));
  return static_cast<uint64_t>(high) << 32 | low;
}

// This thread's share of the output, some vectors of it at a time.
class OutputShare {
 public:
  // Begins to read the first of it.
  __device__ OutputShare(const uint32_t* output, int words, int block, int blocks)
      : output_(reinterpret_cast<const Vector*>(output)),
        vectors_(words / 4),
        apart_(blocks * kRouteThreads),
        next_(block * kRouteThreads + threadIdx.x) {
    request();
  }

  // All of it.
  __device__ uint64_t mix() {
    uint64_t mixed = 0;
    while (next_ < vectors_) {
#pragma unroll
      for (int i = 0; i < kRouteUnroll; ++i) {
        const int vector = next_ + i * apart_;
        if (vector >= vectors_) break;
#pragma unroll
        for (int w = 0; w < 4; ++w) mixed ^= mix64(static_cast<uint64_t>(vector * 4 + w) << 32 | read_[i].word[w]);
      }
      next_ += kRouteUnroll * apart_;
      request();
    }
    return mixed;
  }

 private:
  struct alignas(16) Vector {
    uint32_t word[4];
  };

  __device__ void request() {
#pragma unroll
    for (int i = 0; i < kRouteUnroll; ++i) {
      if (next_ + i * apart_ < vectors_) read_[i] = output_[next_ + i * apart_];
    }
  }

  const Vector* output_;
  const int vectors_;
  const int apart_;
  int next_;
  Vector read_[kRouteUnroll];
};

struct RoutedLane {
  int32_t id;
  float weight;
};

__device__ inline RoutedLane recordedLane(const RouteParams& p, int64_t at, int lane) {
  return lane < p.lanes ? RoutedLane{p.tapeIds[at + lane], p.tapeWeights[at + lane]} : RoutedLane{kAbsent, 0.0f};
}

__device__ inline void routeLane(const RouteParams& p, const RoutedLane& lane, int64_t to) {
  const bool keep = !p.sanitise || (lane.id >= 0 && lane.id < p.experts && weightIsValid(lane.weight));
  p.ids[to] = keep ? lane.id : kAbsent;
  p.weights[to] = keep ? lane.weight : 0.0f;
}

// Distinct valid experts of a call that was routed to `ids`, by one warp.
__device__ inline int countSelected(const RouteParams& p, const int32_t* ids, const float* weights) {
  int32_t safeId[kLaneHalves];
  for (int half = 0; half < kLaneHalves; ++half) {
    const int lane = static_cast<int>(threadIdx.x) % kWarp + half * kWarp;
    const RoutedLane routed = lane < p.lanes ? RoutedLane{ids[lane], weights[lane]} : RoutedLane{kAbsent, 0.0f};
    safeId[half] = routed.id >= 0 && routed.id < p.experts && weightIsValid(routed.weight) ? routed.id : kAbsent;
  }
  bool first[kLaneHalves];
  markFirst(safeId, p.lanes, first);
  return __popcll(laneBallot(first));
}

// Another forward has been routed.
__device__ inline void advance(RouteState& state, const RouteParams& p) {
  state.forward += 1;
  state.tapeForward = state.tapeForward + 1 == p.tapeForwards ? 0 : state.tapeForward + 1;
}

// What is known once the whole output has been read; by one thread.
__device__ inline void keepBooks(const RouteParams& p, RouteState state, const RouteState& seen, uint64_t sum) {
  if (state.pending) {
    const uint64_t hash = mix64(state.hash ^ sum);
    const bool whole = p.layer == 0 || p.layer == p.layers;
    if (whole) p.hashes[(state.forward - 1) % p.hashSlots] = hash;
    state.hash = whole ? 0 : hash;
    state.selected += seen.selected;
    state.promoted += seen.promoted;
    state.staged += seen.staged;
  }
  state.pending = p.layer < p.layers;
  if (p.layer == p.layers - 1) advance(state, p);
  state.sum = 0;
  state.ended = 0;
  *p.state = state;
}

// What all blocks have read, known to the threads of the last to end; false in the others.
__device__ inline bool sumOfGrid(RouteState* state, uint64_t& sum) {
  if (gridDim.x == 1) return true;
  __shared__ uint64_t ofGrid;
  __shared__ bool isLast;
  if (threadIdx.x == 0) {
    atomicXor(reinterpret_cast<unsigned long long*>(&state->sum), static_cast<unsigned long long>(sum));
    isLast = countUpAndSee(&state->ended) == static_cast<int>(gridDim.x) - 1;  // with the sums of all that ended before
    if (isLast) ofGrid = atomicXor(reinterpret_cast<unsigned long long*>(&state->sum), 0ull);
  }
  __syncthreads();  // publishes what the block is to do
  sum = ofGrid;
  return isLast;
}

// routeBlocks(outputWords) blocks of kRouteThreads.
__device__ inline void replayRoute(const RouteParams& p) {
  constexpr int kBookWarp = kRouteWarps - 1;  // of one token it reads no output, and routes nothing
  __shared__ uint64_t ofWarp[kRouteWarps];
  const int warp = threadIdx.x / kWarp;
  const int thread = threadIdx.x % kWarp;
  // All that is read is under way before anything is waited for, but for the recording, whose place is in the state.
  const RouteState state = *p.state;
  OutputShare output(p.output, p.outputWords, blockIdx.x, gridDim.x);
  const uint64_t digest = p.digest == nullptr ? 0 : *p.digest;
  const bool routes = p.layer < p.layers;
  const int64_t at = (static_cast<int64_t>(state.tapeForward) * p.layers + p.layer) * p.lanes;
  const RoutedLane ahead = recordedLane(p, at, routes ? static_cast<int>(threadIdx.x) : p.lanes);
  RouteState seen = {};
  if (warp == kBookWarp) {
    if (p.plan != nullptr) {
      seen.promoted = p.plan->promoted;
      seen.staged = p.plan->staged;
    }
    if (p.lanes <= kMaxLanes) seen.selected = countSelected(p, p.ids, p.weights);
  }
  const uint64_t mixed = xorOfWarp(output.mix());
  if (thread == 0) ofWarp[warp] = mixed;
  __syncthreads();  // publishes the warps' sums; the call before has been counted
  uint64_t sum = xorOfWarp(thread < kRouteWarps ? ofWarp[thread] : 0);
  if (!sumOfGrid(p.state, sum)) return;
  if (threadIdx.x == kBookWarp * kWarp) keepBooks(p, state, seen, sum);
  if (!routes) return;

  // Where the routing goes, through a sum that the compiler can't know to add nothing.
  const int64_t nothing = static_cast<int64_t>((sum ^ digest) & (static_cast<uint64_t>(p.layer) >> 31));
  if (static_cast<int>(threadIdx.x) < p.lanes) routeLane(p, ahead, threadIdx.x + nothing);
  for (int first = kRouteThreads + threadIdx.x; first < p.lanes; first += kRouteThreads * kRouteLanes) {
    RoutedLane lanes[kRouteLanes];
#pragma unroll
    for (int i = 0; i < kRouteLanes; ++i) lanes[i] = recordedLane(p, at, first + i * kRouteThreads);
#pragma unroll
    for (int i = 0; i < kRouteLanes; ++i) {
      if (first + i * kRouteThreads < p.lanes) routeLane(p, lanes[i], first + i * kRouteThreads + nothing);
    }
  }
}

}  // namespace pool
