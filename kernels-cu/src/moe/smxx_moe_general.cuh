// The MoE of any number of tokens over aligned blocks of lanes: two GEMMs and the sum over the top-k slots.
//
// A block of four warps takes one block of lanes; each warp walks the whole K of 64 output channels and adds the chunk
// sums in registers, in ascending order: the bits of the decode kernels. Activations come a chunk ahead.
#pragma once

#include "moe/fp32_math.cuh"
#include "moe/weight_stream.cuh"

namespace pool {

constexpr int kGeneralAhead = 5;  // steps
constexpr int kGeneralWarps = kGeneralThreads / kWarp;
constexpr int kStagedRowWords = kChunkK / 2 + 4;        // rows start 20 banks apart: 8 rows by 4 words without conflict
constexpr int kExchangeRowFloats = kTileChannels + 4;  // likewise for two lanes a thread

// Shared memory of a block: two chunks of activations, and then the sums on their way to whole rows.
template <int kLanes>
union GeneralShared {
  uint32_t activations[2][kLanes][kStagedRowWords];
  float sums[kGeneralWarps][kLanes][kExchangeRowFloats];
};

// One of four warps' 64 channels; `inside` is false where the matrix has ended.
struct WarpMatrix {
  const uint8_t* words;
  const uint8_t* scales;
  int depth;
  int channels;
  int channel;
  bool inside;
};

// shared.sums[warp][lane][channel] = activations * weights; rowOf(i) is where lane i's activations lie.
template <int kLaneTiles, typename RowOf>
__device__ void multiplyBlock(const WarpMatrix& m, int count, const RowOf& rowOf,
                              GeneralShared<kLaneTiles * kMmaLanes>& shared) {
  const int warp = threadIdx.x / kWarp;
  const int steps = m.depth / kMmaK;
  const int chunks = (steps + kChunkSteps - 1) / kChunkSteps;
  WeightStream<kGeneralAhead> stream(m.words, m.scales, m.channels, m.channel, 0, 0, m.inside ? steps : 0);

  const auto stage = [&](int chunk) {
    if (chunk < chunks) {
      for (int i = threadIdx.x; i < count * kChunkVectors; i += kGeneralThreads) {
        const int row = i / kChunkVectors;
        const int k = chunk * kChunkK + i % kChunkVectors * 8;
        const bool live = k < m.depth;  // zeros past the end
        copyAsync16(&shared.activations[chunk % 2][row][i % kChunkVectors * 4], rowOf(row) + (live ? k : 0), live);
      }
    }
    commitCopies();
  };

  ChunkSums<kLaneTiles> total;
  stage(0);
  for (int chunk = 0; chunk < chunks; ++chunk) {
    waitCopies();
    __syncthreads();  // this chunk is there, and the other buffer has been read
    stage(chunk + 1);
    if (!m.inside) continue;
    ChunkSums<kLaneTiles> sums;
    stream.chunk({&shared.activations[chunk % 2][0][0], kStagedRowWords, count}, sums);
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int t = 0; t < kLaneTiles; ++t)
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          total.at[j][t][i] = chunk == 0 ? sums.at[j][t][i] : __fadd_rn(total.at[j][t][i], sums.at[j][t][i]);
        }
  }
  __syncthreads();
  if (m.inside) forEachSum(total, [&](int column, int row, float sum) { shared.sums[warp][row][column] = sum; });
  __syncthreads();
}

// The lanes of one aligned block.
struct BlockLanes {
  const int32_t* lanes;
  int expert;
  int count;
};

template <int kLanes>
__device__ BlockLanes blockLanesOf(const MoeParams& p, int block) {
  const int32_t* lanes = p.blocks.sortedLanes + static_cast<int64_t>(block) * kLanes;
  const int thread = threadIdx.x % kWarp;
  const bool live = thread < kLanes && lanes[thread] < p.tokens * p.topK;
  return {lanes, p.blocks.blockExperts[block], __popc(__ballot_sync(kFullWarp, live))};
}

// Block b computes 128 channels of h for aligned block firstBlock + b / groups: warps are gate, up, gate, up.
template <int kLaneTiles>
__device__ void generalGateUp(const MoeParams& p) {
  constexpr int kLanes = kLaneTiles * kMmaLanes;
  constexpr int kPairs = kGeneralWarps / 2;
  __shared__ GeneralShared<kLanes> shared;
  const int tiles = p.width / kTileChannels;
  const int groups = (tiles + kPairs - 1) / kPairs;
  const int block = p.firstBlock + static_cast<int>(blockIdx.x) / groups;
  if (block * kLanes >= *p.blocks.paddedLanes) return;
  const BlockLanes lanes = blockLanesOf<kLanes>(p, block);
  const int row = p.expertRows[lanes.expert];
  if (row < 0) return;  // the expert lies elsewhere; the whole block agrees
  const int warp = threadIdx.x / kWarp;
  const int firstTile = blockIdx.x % groups * kPairs;
  const int tile = firstTile + warp / 2;
  const bool inside = tile < tiles;
  const WarpMatrix matrix = {p.w13.base + row * p.w13.strideBytes,
                             p.s13.base + row * p.s13.strideBytes,
                             p.hidden,
                             2 * p.width,
                             inside ? tile * kTileChannels + warp % 2 * p.width : 0,
                             inside};
  const auto rowOf = [&](int i) { return p.activations + static_cast<int64_t>(lanes.lanes[i] / p.topK) * p.hidden; };
  multiplyBlock<kLaneTiles>(matrix, lanes.count, rowOf, shared);

  const ExpertAlphas alphas = p.alphas[lanes.expert];
  const int channels = min(kPairs, tiles - firstTile) * kTileChannels;
  for (int i = threadIdx.x; i < lanes.count * channels; i += kGeneralThreads) {
    const int lane = i / channels;
    const int channel = i % channels;
    const int pair = channel / kTileChannels;
    const int column = channel % kTileChannels;
    p.inner[static_cast<int64_t>(lanes.lanes[lane]) * p.width + firstTile * kTileChannels + channel] =
        swiGlu(shared.sums[2 * pair][lane][column], shared.sums[2 * pair + 1][lane][column], alphas.gate, alphas.up);
  }
}

// Block b computes 256 channels of the lanes of aligned block firstBlock + b / groups.
template <int kLaneTiles>
__device__ void generalDown(const MoeParams& p) {
  constexpr int kLanes = kLaneTiles * kMmaLanes;
  __shared__ GeneralShared<kLanes> shared;
  const int tiles = p.hidden / kTileChannels;
  const int groups = (tiles + kGeneralWarps - 1) / kGeneralWarps;
  const int block = p.firstBlock + static_cast<int>(blockIdx.x) / groups;
  if (block * kLanes >= *p.blocks.paddedLanes) return;
  const BlockLanes lanes = blockLanesOf<kLanes>(p, block);
  const int row = p.expertRows[lanes.expert];
  if (row < 0) return;  // the expert lies elsewhere; the whole block agrees
  const int firstTile = blockIdx.x % groups * kGeneralWarps;
  const int tile = firstTile + static_cast<int>(threadIdx.x) / kWarp;
  const bool inside = tile < tiles;
  const WarpMatrix matrix = {p.w2.base + row * p.w2.strideBytes,
                             p.s2.base + row * p.s2.strideBytes,
                             p.width,
                             p.hidden,
                             inside ? tile * kTileChannels : 0,
                             inside};
  const auto rowOf = [&](int i) { return p.inner + static_cast<int64_t>(lanes.lanes[i]) * p.width; };
  multiplyBlock<kLaneTiles>(matrix, lanes.count, rowOf, shared);

  const float alpha = p.alphas[lanes.expert].down;
  const int channels = min(kGeneralWarps, tiles - firstTile) * kTileChannels;
  for (int i = threadIdx.x; i < lanes.count * channels; i += kGeneralThreads) {
    const int channel = i % channels;
    const int lane = lanes.lanes[i / channels];
    const float sum = shared.sums[channel / kTileChannels][i / channels][channel % kTileChannels];
    p.laneOut[static_cast<int64_t>(lane) * p.hidden + firstTile * kTileChannels + channel] =
        floatToBf16(__fmul_rn(sum, __fmul_rn(alpha, p.weights[lane])));
  }
}

// out[token] = the token's lanes added in ascending slot order, from +0; a thread takes eight channels.
__device__ inline void generalSum(const MoeParams& p) {
  const int vectors = p.hidden / 8;
  const int64_t i = static_cast<int64_t>(blockIdx.x) * kAlignThreads + threadIdx.x;
  const int token = static_cast<int>(i / vectors);
  if (token >= p.tokens) return;
  const int64_t channel = i % vectors * 8;
  float sum[8] = {};
  for (int slot = 0; slot < p.topK; ++slot) {
    const int64_t lane = static_cast<int64_t>(token) * p.topK + slot;
    const int expert = p.ids[lane];
    if (expert < 0 || expert >= p.experts) continue;  // never computed: what lies there may be NaN
    Words4 values;
    loadOnce4(values, p.laneOut + lane * p.hidden + channel, true);
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      sum[j] = __fadd_rn(sum[j], bf16ToFloat(static_cast<uint16_t>(values.word[j / 2] >> (j % 2 * 16))));
    }
  }
  Words4 packed;
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    packed.word[j] = floatToBf16(sum[2 * j]) | static_cast<uint32_t>(floatToBf16(sum[2 * j + 1])) << 16;
  }
  *reinterpret_cast<Words4*>(p.out + static_cast<int64_t>(token) * p.hidden + channel) = packed;
}

}  // namespace pool
