// The MoE of a few tokens in two kernels: gate and up with SwiGLU, then down with the sum over the top-k slots.
//
// Every warp finds by itself which lanes share the expert: the first of each `blockLanes` of them does the work for all, the
// blocks of the others leave. Nothing waits for another block; of the blocks of one part of the channels the last to finish
// adds up the lanes of every token.
#pragma once

#include "moe/expert_gemms.cuh"

namespace pool {

template <typename Type>
using DecodeGateUp = ProductOf<Type, kDecodeGateUp>;
template <typename Type>
using DecodeDown = ProductOf<Type, kDecodeDown>;

// Called by whole warps with the same lane: the group it leads, count 0 where another block leads, the expert is invalid or
// its row absent. The lanes go to laneOf (kMmaLanes places) by the first warp alone.
__device__ inline LaneGroup findGroup(const MoeParams& p, int lane, int32_t* laneOf) {
  const int thread = threadIdx.x % kWarp;
  const bool writes = threadIdx.x < kWarp;
  const int lanes = p.tokens * p.topK;
  const int expert = p.ids[lane];
  const int row = p.rows[lane];
  if (expert < 0 || expert >= p.experts || row < 0) return {laneOf, 0, -1, -1};
  if (p.blockLanes == 1) {
    if (threadIdx.x == 0) laneOf[0] = lane;
    return {laneOf, 1, expert, row};
  }
  int ids[kMaxDecodeLanes / kWarp];
#pragma unroll
  for (int i = 0; i < kMaxDecodeLanes / kWarp; ++i) {
    const int other = i * kWarp + thread;
    ids[i] = other < lanes ? p.ids[other] : -1;
  }
  // A lane's rank is the count of the same expert's lanes before it.
  unsigned same[kMaxDecodeLanes / kWarp];
  int rank = 0;
  int total = 0;
#pragma unroll
  for (int i = 0; i < kMaxDecodeLanes / kWarp; ++i) {
    same[i] = __ballot_sync(kFullWarp, ids[i] == expert);
    const int before = lane - i * kWarp;
    if (before >= kWarp) rank += __popc(same[i]);
    else if (before > 0) rank += __popc(same[i] & ((1u << before) - 1u));
    total += __popc(same[i]);
  }
  if (rank % p.blockLanes != 0) return {laneOf, 0, expert, row};
  int seen = 0;
#pragma unroll
  for (int i = 0; i < kMaxDecodeLanes / kWarp; ++i) {
    const int place = seen + __popc(same[i] & ((1u << thread) - 1u)) - rank;
    if (writes && ids[i] == expert && place >= 0 && place < p.blockLanes) laneOf[place] = i * kWarp + thread;
    seen += __popc(same[i]);
  }
  return {laneOf, min(total - rank, p.blockLanes), expert, row};
}

// Block b computes part b % parts of h of lane b / parts's group.
template <typename Product>
__device__ void decodeGateUp(const MoeParams& p, uint8_t* shared) {
  __shared__ int32_t laneOf[kMmaLanes];
  const int parts = Product::block().gateUpParts(p.width);
  const int part = blockIdx.x % parts;
  const LaneGroup group = findGroup(p, blockIdx.x / parts, laneOf);
  if (group.count == 0) return;
  __syncthreads();
  gateUpGroup<Product>(p, group, part, p.blockLanes, shared);
}

// Block b computes part b % parts of the outputs of lane b / parts's group, and perhaps the sums of these channels.
template <typename Product>
__device__ void decodeDown(const MoeParams& p, uint8_t* shared) {
  __shared__ int32_t laneOf[kMmaLanes];
  __shared__ int isLast;
  __shared__ int32_t ids[kMaxDecodeLanes];
  if (threadIdx.x < p.tokens * p.topK) ids[threadIdx.x] = p.ids[threadIdx.x];  // for the sum, whose loads wait for them
  const int parts = Product::block().downParts(p.hidden);
  const int part = blockIdx.x % parts;
  const LaneGroup group = findGroup(p, blockIdx.x / parts, laneOf);
  __syncthreads();
  if (group.count > 0) downGroup<Product>(p, group, part, p.blockLanes, shared);

  __syncthreads();  // the block's lane outputs are stored; the first thread's fence publishes those of all
  if (threadIdx.x == 0) {
    __threadfence();
    isLast = atomicAdd(p.arrivals + part, 1) == p.calls * p.tokens * p.topK - 1;
    if (isLast) p.arrivals[part] = 0;
    __threadfence();  // and makes those of the blocks before visible behind the next barrier
  }
  __syncthreads();
  if (!isLast) return;
  constexpr int kVectors = Product::kTiles * kTileVectors;
  for (int i = threadIdx.x; i < p.tokens * kVectors; i += Product::kThreads) {
    const int channel = (part * kVectors + i % kVectors) * 8;
    if (channel < p.hidden) sumSlots<typename Product::Type>(p, ids, i / kVectors, channel);
  }
}

}  // namespace pool
