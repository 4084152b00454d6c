// The two GEMMs of one group of lanes that share an expert: gate and up with SwiGLU, then down with the router weight.
#pragma once

#include "moe/block_product.cuh"
#include "moe/fp32_math.cuh"

namespace pool {

// The lanes that a block computes, in ascending order, and where their expert lies.
struct LaneGroup {
  const int32_t* lanes;
  int count;
  int expert;
  int row;
  bool missed;  // the row is read on the host
};

constexpr int kTileVectors = kTileChannels / 8;

// Eight channels of a lane's output.
struct StoreLane {
  const MoeParams& p;
  __device__ void operator()(int lane, int channel, const Words4& packed) const {
    *reinterpret_cast<Words4*>(p.laneOut + static_cast<int64_t>(lane) * p.hidden + channel) = packed;
  }
};

// Eight channels of out[token]: the token's lanes in ascending slot order, from +0. All loads of so many slots are under way at
// once, those of lanes without an expert too: they were never computed and may be NaN, so they are not added. `ids` are the
// call's, perhaps brought to shared memory before.
template <typename Type>
__device__ inline void sumSlots(const MoeParams& p, const int32_t* ids, int token, int channel) {
  constexpr int kSlotsAtOnce = 10;
  float sum[8] = {};
  for (int first = 0; first < p.topK; first += kSlotsAtOnce) {
    Words4 values[kSlotsAtOnce];
    int expert[kSlotsAtOnce];
#pragma unroll
    for (int i = 0; i < kSlotsAtOnce; ++i) {
      const int64_t lane = static_cast<int64_t>(token) * p.topK + min(first + i, p.topK - 1);
      values[i] = loadShared4(p.laneOut + lane * p.hidden + channel);
      expert[i] = ids[lane];
    }
#pragma unroll
    for (int i = 0; i < kSlotsAtOnce; ++i) {
      const bool valid = first + i < p.topK && expert[i] >= 0 && expert[i] < p.experts;
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const uint32_t pair = values[i].word[j];
        sum[2 * j] = valid ? __fadd_rn(sum[2 * j], Type::low(pair)) : sum[2 * j];
        sum[2 * j + 1] = valid ? __fadd_rn(sum[2 * j + 1], Type::high(pair)) : sum[2 * j + 1];
      }
    }
  }
  Words4 packed;
#pragma unroll
  for (int j = 0; j < 4; ++j) packed.word[j] = Type::pack(sum[2 * j], sum[2 * j + 1]);
  *reinterpret_cast<Words4*>(p.out + static_cast<int64_t>(token) * p.hidden + channel) = packed;
}

__device__ inline ExpertMatrix matrixOf(const MoeParams& p, const LaneGroup& group, const RowBase& words, const RowBase& scales,
                                        int depth, int channels) {
  ExpertMatrix m = {words.base + group.row * words.strideBytes, scales.base + group.row * scales.strideBytes, depth, channels, 0};
  if (group.missed) {
    m.toKeep = reinterpret_cast<intptr_t>(p.w13.base + group.row * p.w13.strideBytes) -
               reinterpret_cast<intptr_t>(p.host.base + group.expert * p.host.strideBytes);
    m.words = reinterpret_cast<const uint8_t*>(reinterpret_cast<intptr_t>(m.words) - m.toKeep);
    m.scales = reinterpret_cast<const uint8_t*>(reinterpret_cast<intptr_t>(m.scales) - m.toKeep);
  }
  return m;
}

// h of the group's lanes for part `part` of the width; tiles are gate, up, gate, up.
template <typename Product, typename Else = NothingElse>
__device__ void gateUpGroup(const MoeParams& p, const LaneGroup& group, int part, int lanesAtMost, uint8_t* shared,
                            const Else& other = {}) {
  static_assert(Product::kTiles % 2 == 0, "gate and up in one block");
  constexpr int kPairs = Product::kTiles / 2;
  const int tiles = p.width / kTileChannels;
  const int firstTile = part * kPairs;
  const int tile = firstTile + Product::tile() / 2;
  const int channel = tile < tiles ? tile * kTileChannels + Product::tile() % 2 * p.width : -1;
  const int pair = kPairs == 2 && firstTile + 1 < tiles ? 2 : 0;
  const auto rowOf = [&](int i) { return p.activations + static_cast<int64_t>(group.lanes[i] / p.topK) * p.hidden; };
  const ExpertAlphas alphas = p.alphas[group.expert];
  Product::run(matrixOf(p, group, p.w13, p.s13, p.hidden, 2 * p.width), channel, pair, lanesAtMost, group.count, rowOf, shared,
               other);

  const float* sums = Product::sums(shared, lanesAtMost);
  constexpr int kWords = kPairs * kTileChannels / 2;
  uint32_t* inner = reinterpret_cast<uint32_t*>(p.inner) + firstTile * (kTileChannels / 2);
  for (int i = threadIdx.x; i < group.count * kWords; i += Product::kThreads) {
    const int lane = i / kWords;
    const int column = i % kWords * 2;
    const int pair = column / kTileChannels;
    if (firstTile + pair >= tiles) continue;
    const float* gate = sums + (2 * pair * lanesAtMost + lane) * Product::kSumRow + column % kTileChannels;
    const float* up = gate + lanesAtMost * Product::kSumRow;
    inner[static_cast<int64_t>(group.lanes[lane]) * (p.width / 2) + column / 2] =
        swiGlu<typename Product::Type>(gate, up, alphas.gate, alphas.up);
  }
}

// Lane outputs of the group for part `part` of the hidden channels: store(lane, channel, eight of them).
template <typename Product, typename Else, typename Store>
__device__ void downGroup(const MoeParams& p, const LaneGroup& group, int part, int lanesAtMost, uint8_t* shared,
                          const Else& other, const Store& store) {
  const int tiles = p.hidden / kTileChannels;
  const int firstTile = part * Product::kTiles;
  const int tile = firstTile + Product::tile();
  const int pair = Product::kTiles > 1 && (tile | 1) < tiles ? 1 : 0;  // a block's first tile is an even one
  const auto rowOf = [&](int i) { return p.inner + static_cast<int64_t>(group.lanes[i]) * p.width; };
  constexpr int kVectors = Product::kTiles * kTileVectors;
  const float alpha = p.alphas[group.expert].down;
  // Of the first lane that this thread stores, loaded before the weights: groups of several warps a tile are small.
  constexpr bool kEarly = Product::block().chunkWarps > 1;
  float weight = 0.0f;
  if (kEarly) weight = p.weights[group.lanes[min(static_cast<int>(threadIdx.x) / kVectors, group.count - 1)]];
  Product::run(matrixOf(p, group, p.w2, p.s2, p.width, p.hidden), tile < tiles ? tile * kTileChannels : -1, pair, lanesAtMost,
               group.count, rowOf, shared, other);

  const float* sums = Product::sums(shared, lanesAtMost);
  for (int i = threadIdx.x; i < group.count * kVectors; i += Product::kThreads) {
    const int vector = i % kVectors;
    if (firstTile + vector / kTileVectors >= tiles) continue;
    const float* sum =
        sums + (vector / kTileVectors * lanesAtMost + i / kVectors) * Product::kSumRow + vector % kTileVectors * 8;
    const int lane = group.lanes[i / kVectors];
    const float factor = __fmul_rn(alpha, kEarly && i == threadIdx.x ? weight : p.weights[lane]);
    Words4 packed;
#pragma unroll
    for (int j = 0; j < 4; ++j) packed.word[j] = Product::Type::pack(__fmul_rn(sum[2 * j], factor), __fmul_rn(sum[2 * j + 1], factor));
    store(lane, firstTile * kTileChannels + vector * 8, packed);
  }
}

}  // namespace pool
