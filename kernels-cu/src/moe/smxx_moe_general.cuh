// The MoE of any number of tokens over aligned blocks of lanes: two GEMMs and the sum over the top-k slots.
#pragma once

#include <tuple>

#include "moe/expert_gemms.cuh"

namespace pool {

template <typename Type>
using Aligned8 = ProductOf<Type, kAligned8>;
template <typename Type>
using Aligned16 = ProductOf<Type, kAligned16>;
template <typename Type>
using Aligned32 = ProductOf<Type, kAligned32>;
template <typename Type>
using OverLink = ProductOf<Type, kAligned32, true>;

template <typename... Products>
using WidestOf = std::tuple_element_t<sizeof...(Products) - 1, std::tuple<Products...>>;

// The lanes of aligned block `block`, at most kLanes; count 0 past the last one and where the expert's row is absent.
template <int kLanes>
__device__ inline LaneGroup alignedGroup(const MoeParams& p, int block, int blockLanes = kLanes) {
  if (block * blockLanes >= *p.blocks.paddedLanes) return {nullptr, 0, -1, -1, false};
  const int32_t* lanes = p.blocks.sortedLanes + static_cast<int64_t>(block) * blockLanes;
  const int expert = p.blocks.blockExperts[block];
  const int row = p.expertRows[expert];
  const int thread = threadIdx.x % kWarp;
  const bool live = row >= 0 && thread < blockLanes && lanes[thread] < p.tokens * p.topK;
  return {lanes, __popc(__ballot_sync(kFullWarp, live)), expert, row, false};
}

// Calls run(product) with the first product that has room for so many lanes: tiles of lanes that are not there cost time.
template <typename Product, typename... Wider, typename Run>
__device__ inline void withFewestLanes(int count, const Run& run) {
  if constexpr (sizeof...(Wider) == 0) {
    run(Product());
  } else {
    if (count <= Product::kLanes) run(Product());
    else withFewestLanes<Wider...>(count, run);
  }
}

// Block b computes part b % parts of h for aligned block firstBlock + b / parts. The last product has the lanes of a block,
// those before it fewer.
template <typename... Products>
__device__ void generalGateUp(const MoeParams& p, uint8_t* shared) {
  using Widest = WidestOf<Products...>;
  const int parts = Widest::block().gateUpParts(p.width);
  const LaneGroup group = alignedGroup<Widest::kLanes>(p, p.firstBlock + static_cast<int>(blockIdx.x) / parts);
  if (group.count == 0) return;
  withFewestLanes<Products...>(group.count, [&](auto product) {
    using Product = decltype(product);
    gateUpGroup<Product>(p, group, blockIdx.x % parts, Product::kLanes, shared);
  });
}

// Block b computes part b % parts of the outputs of aligned block firstBlock + b / parts.
template <typename... Products>
__device__ void generalDown(const MoeParams& p, uint8_t* shared) {
  using Widest = WidestOf<Products...>;
  const int parts = Widest::block().downParts(p.hidden);
  const LaneGroup group = alignedGroup<Widest::kLanes>(p, p.firstBlock + static_cast<int>(blockIdx.x) / parts);
  if (group.count == 0) return;
  withFewestLanes<Products...>(group.count, [&](auto product) {
    using Product = decltype(product);
    downGroup<Product>(p, group, blockIdx.x % parts, Product::kLanes, shared);
  });
}

// The same with rows in host memory, for blocks of 8, 16 or 32 lanes: the link is slower than any product, so one will do.
template <typename Product>
__device__ void hostGateUp(const MoeParams& p, uint8_t* shared) {
  const int parts = Product::block().gateUpParts(p.width);
  const int block = p.firstBlock + static_cast<int>(blockIdx.x) / parts;
  const LaneGroup group = alignedGroup<Product::kLanes>(p, block, p.blocks.blockLanes);
  if (group.count > 0) gateUpGroup<Product>(p, group, blockIdx.x % parts, Product::kLanes, shared);
}
template <typename Product>
__device__ void hostDown(const MoeParams& p, uint8_t* shared) {
  const int parts = Product::block().downParts(p.hidden);
  const int block = p.firstBlock + static_cast<int>(blockIdx.x) / parts;
  const LaneGroup group = alignedGroup<Product::kLanes>(p, block, p.blocks.blockLanes);
  if (group.count > 0) downGroup<Product>(p, group, blockIdx.x % parts, Product::kLanes, shared);
}

// A thread takes eight channels of a token.
template <typename Type>
__device__ inline void generalSum(const MoeParams& p) {
  const int vectors = p.hidden / 8;
  const int i = blockIdx.x * kSumThreads + threadIdx.x;
  if (i < p.tokens * vectors) sumSlots<Type>(p, p.ids, i / vectors, i % vectors * 8);
}

}  // namespace pool
