// The MoE of any number of tokens over aligned blocks of lanes: two GEMMs and the sum over the top-k slots.
#pragma once

#include "moe/expert_gemms.cuh"

namespace pool {

// The lanes of aligned block `block`; count 0 past the last one and where the expert's row is absent.
template <int kLanes>
__device__ inline LaneGroup alignedGroup(const MoeParams& p, int block) {
  if (block * kLanes >= *p.blocks.paddedLanes) return {nullptr, 0, -1, -1};
  const int32_t* lanes = p.blocks.sortedLanes + static_cast<int64_t>(block) * kLanes;
  const int expert = p.blocks.blockExperts[block];
  const int row = p.expertRows[expert];
  const int thread = threadIdx.x % kWarp;
  const bool live = row >= 0 && thread < kLanes && lanes[thread] < p.tokens * p.topK;
  return {lanes, __popc(__ballot_sync(kFullWarp, live)), expert, row};
}

// Block b computes part b % parts of h for aligned block firstBlock + b / parts.
template <typename Product>
__device__ void generalGateUp(const MoeParams& p, uint8_t* shared) {
  const int parts = Product::block().gateUpParts(p.width);
  const LaneGroup group = alignedGroup<Product::kLanes>(p, p.firstBlock + static_cast<int>(blockIdx.x) / parts);
  if (group.count > 0) gateUpGroup<Product>(p, group, blockIdx.x % parts, Product::kLanes, shared);
}

// Block b computes part b % parts of the outputs of aligned block firstBlock + b / parts.
template <typename Product>
__device__ void generalDown(const MoeParams& p, uint8_t* shared) {
  const int parts = Product::block().downParts(p.hidden);
  const LaneGroup group = alignedGroup<Product::kLanes>(p, p.firstBlock + static_cast<int>(blockIdx.x) / parts);
  if (group.count > 0) downGroup<Product>(p, group, blockIdx.x % parts, Product::kLanes, shared);
}

// A thread takes eight channels of a token.
__device__ inline void generalSum(const MoeParams& p) {
  const int vectors = p.hidden / 8;
  const int i = blockIdx.x * kAlignThreads + threadIdx.x;
  if (i < p.tokens * vectors) sumSlots(p, p.ids, i / vectors, i % vectors * 8);
}

}  // namespace pool
