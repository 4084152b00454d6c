// The MoE of any number of tokens over aligned blocks of lanes: two GEMMs in one kernel and the sum over the top-k slots.
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
using OverLink = ProductOf<Type, kAligned32, WeightsFrom::kHost>;

template <typename... Products>
using WidestOf = std::tuple_element_t<sizeof...(Products) - 1, std::tuple<Products...>>;

// The lanes of aligned block `block`; count 0 past the last one and where the expert's row is absent.
__device__ inline LaneGroup alignedGroup(const MoeParams& p, int block) {
  const int blockLanes = p.blocks.blockLanes;
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

// A block of down waits for h of its lanes. The last one of them leaves the count at 0.
struct WaitForGateUp : NothingElse {
  static constexpr bool kLate = true;
  int32_t* count;  // blocks of gate and up that have ended, then also those of down that have seen it
  int gateUpParts;
  int downParts;
  __device__ WaitForGateUp(int32_t* count, int gateUpParts, int downParts)
      : count(count), gateUpParts(gateUpParts), downParts(downParts) {}
  __device__ void waitForActivations() const {
    if (threadIdx.x == 0) {
      while (loadAcquire(count) < gateUpParts) pauseBriefly();
      if (atomicAdd(count, 1) == gateUpParts + downParts - 1) *count = 0;
    }
    __syncthreads();
  }
};

// Both GEMMs of the aligned blocks from firstBlock on, as many as the launch has blocks for: first the parts of h of all of them,
// then the parts of their outputs, which begin while the last of h is computed. The last product has the lanes of a block,
// those before it fewer; one for rows in host memory takes blocks of any length, since the link is slower than any product.
//
// No block waits for one that may not run: blocks start in the order of their numbers, and only down's wait, for gate and
// up's before them.
template <typename... Products>
__device__ void generalGemms(const MoeParams& p, uint8_t* shared) {
  using Widest = WidestOf<Products...>;
  const int gateUpParts = Widest::block().gateUpParts(p.width);
  const int downParts = Widest::block().downParts(p.hidden);
  const int blocks = static_cast<int>(gridDim.x) / (gateUpParts + downParts);
  const int gateUp = blockIdx.x;
  const int down = gateUp - blocks * gateUpParts;
  const int block = p.firstBlock + (down < 0 ? gateUp / gateUpParts : down / downParts);
  const LaneGroup group = alignedGroup(p, block);
  if (group.count == 0) return;
  withFewestLanes<Products...>(group.count, [&](auto product) {
    using Product = decltype(product);
    if (down < 0) gateUpGroup<Product>(p, group, gateUp % gateUpParts, Product::kLanes, shared);
    else downGroup<Product>(p, group, down % downParts, Product::kLanes, shared, WaitForGateUp(p.counts + block, gateUpParts, downParts),
                            StoreLane{p});
  });
  if (down >= 0) return;
  __syncthreads();  // the block's h is stored; the first thread's count publishes it
  if (threadIdx.x == 0) countUp(p.counts + block);
}

// A thread takes eight channels of a token.
template <typename Type>
__device__ inline void generalSum(const MoeParams& p) {
  const int vectors = p.hidden / 8;
  const int i = blockIdx.x * kSumThreads + threadIdx.x;
  if (i < p.tokens * vectors) sumSlots<Type>(p, p.ids, i / vectors, i % vectors * 8);
}

}  // namespace pool
