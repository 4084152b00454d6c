// The MoE of a few tokens in two kernels: gate and up with SwiGLU, then down with the sum over the top-k slots.
//
// A block is one lane's group of 64 (or 128) output channels; its warps take the chunks of K side by side, and the chunk
// sums are added in ascending order. Every warp finds by itself which lanes share the expert: the first of each
// `blockLanes` of them does the work for all, the blocks of the others leave. Nothing waits for another block; of the
// blocks of one group of channels the last to finish adds up the lanes of every token.
#pragma once

#include "moe/fp32_math.cuh"
#include "moe/weight_stream.cuh"

namespace pool {

// The lanes that a block computes: `count` lanes of one expert in ascending order, 0 where another block leads.
struct LaneGroup {
  int expert;
  int row;
  int count;
};

// Called by whole warps with the same lane. The group's lanes go to laneOf if that is not null.
__device__ inline LaneGroup findGroup(const MoeParams& p, int lane, int* laneOf) {
  const int thread = threadIdx.x % kWarp;
  const int lanes = p.tokens * p.topK;
  const int expert = p.ids[lane];
  const int row = p.rows[lane];
  if (expert < 0 || expert >= p.experts || row < 0) return {-1, -1, 0};
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
  if (rank % p.blockLanes != 0) return {expert, row, 0};
  int seen = 0;
#pragma unroll
  for (int i = 0; i < kMaxDecodeLanes / kWarp; ++i) {
    const int place = seen + __popc(same[i] & ((1u << thread) - 1u)) - rank;
    if (laneOf != nullptr && ids[i] == expert && place >= 0 && place < p.blockLanes) laneOf[place] = i * kWarp + thread;
    seen += __popc(same[i]);
  }
  return {expert, row, min(total - rank, p.blockLanes)};
}

// Shared memory of a block: activations of this round of chunks and the next, the sums so far, and the round's chunk sums.
template <int kChunkWarps, int kSides>
struct DecodeLayout {
  static constexpr int kRowWords = kChunkWarps * kChunkK / 2 + 4;  // rows start 4 banks apart
  static constexpr int kThreads = kChunkWarps * kSides * kWarp;
  // Steps requested ahead: a whole chunk where there are registers for it, which is not so for 8 warps a block.
  static constexpr int kAhead = kChunkWarps * kSides == 2 * kNarrowChunkWarps ? kChunkSteps / 2 : kChunkSteps;

  __host__ __device__ static constexpr int activationBytes(int blockLanes) { return 2 * blockLanes * kRowWords * 4; }
  __host__ __device__ static constexpr int sumBytes(int blockLanes) { return kSides * blockLanes * kTileChannels * 4; }
  __host__ __device__ static constexpr int bytes(int blockLanes) {
    return activationBytes(blockLanes) + (kChunkWarps + 1) * sumBytes(blockLanes);
  }
};

// A matrix of one expert, and the two groups of 64 channels of it that a block computes.
struct BlockMatrix {
  const uint8_t* words;
  const uint8_t* scales;
  int depth;     // K
  int channels;  // N
  int first;     // side 0's channels start here
  int apart;     // side 1's start this much later
};

// sums[side][lane of the group][channel] = activations * weights; rowOf(i) is where lane i's activations lie.
template <int kChunkWarps, int kSides, typename RowOf>
__device__ void multiply(const MoeParams& p, const BlockMatrix& m, const LaneGroup& group, const RowOf& rowOf,
                         uint8_t* shared) {
  using Layout = DecodeLayout<kChunkWarps, kSides>;
  const int warp = threadIdx.x / kWarp;
  const int side = warp % kSides;
  const int slot = warp / kSides;
  const int lanesAtMost = p.blockLanes;
  uint32_t* activations = reinterpret_cast<uint32_t*>(shared);
  float* total = reinterpret_cast<float*>(shared + Layout::activationBytes(lanesAtMost));
  const int sumsOfChunk = kSides * lanesAtMost * kTileChannels;
  float* chunkSums = total + sumsOfChunk;
  const int steps = m.depth / kMmaK;
  const int chunks = (steps + kChunkSteps - 1) / kChunkSteps;

  const int channel = m.first + side * m.apart;
  const bool inside = channel < m.channels;
  // Steps of chunks slot, slot + kChunkWarps, ...: their weights are on their way before anything is waited for.
  constexpr int kRoundSteps = kChunkWarps * kChunkSteps;
  int count = 0;
  for (int first = slot * kChunkSteps; inside && first < steps; first += kRoundSteps) count += min(kChunkSteps, steps - first);
  WeightStream<Layout::kAhead> stream(m.words, m.scales, m.channels, count > 0 ? channel : 0,
                                      count > 0 ? slot * kChunkSteps : 0, kRoundSteps - kChunkSteps, count);
  const auto stage = [&](int round, int buffer) {
    uint32_t* rows = activations + buffer * lanesAtMost * Layout::kRowWords;
    const int vectors = min(kChunkWarps, chunks - round) * kChunkVectors;
    for (int i = threadIdx.x; i < group.count * vectors; i += Layout::kThreads) {
      const int row = i / vectors;
      const int vector = i % vectors;
      const int k = round * kChunkK + vector * 8;
      const bool live = k < m.depth;  // zeros past the end
      copyAsync16(rows + row * Layout::kRowWords + vector * 4, rowOf(row) + (live ? k : 0), live);
    }
    commitCopies();
  };

  stage(0, 0);
  int buffer = 0;
  for (int round = 0; round < chunks; round += kChunkWarps) {
    waitCopies();
    __syncthreads();
    const int first = (round + slot) * kChunkSteps;
    if (inside && first < steps) {
      const uint32_t* rows = activations + buffer * lanesAtMost * Layout::kRowWords;
      ChunkSums<1> sums;
      stream.chunk({rows + slot * (kChunkK / 2), Layout::kRowWords, group.count}, sums);
      float* mine = chunkSums + slot * sumsOfChunk + side * lanesAtMost * kTileChannels;
      forEachSum(sums, [&](int column, int row, float sum) {
        if (row < group.count) mine[row * kTileChannels + column] = sum;
      });
    }
    buffer ^= 1;
    if (round + kChunkWarps < chunks) stage(round + kChunkWarps, buffer);
    __syncthreads();

    const int live = min(kChunkWarps, chunks - round);
    for (int i = threadIdx.x; i < sumsOfChunk; i += Layout::kThreads) {
      float sum = round == 0 ? chunkSums[i] : __fadd_rn(total[i], chunkSums[i]);
      for (int c = 1; c < live; ++c) sum = __fadd_rn(sum, chunkSums[c * sumsOfChunk + i]);
      total[i] = sum;
    }
  }
  __syncthreads();
}

// Block b computes 64 channels of h of lane b / (width / 64)'s group.
template <int kChunkWarps>
__device__ void decodeGateUp(const MoeParams& p, uint8_t* shared) {
  using Layout = DecodeLayout<kChunkWarps, 2>;
  __shared__ int laneOf[kMmaLanes];
  const int tiles = p.width / kTileChannels;
  const int tile = blockIdx.x % tiles;
  const LaneGroup group = findGroup(p, blockIdx.x / tiles, threadIdx.x < kWarp ? laneOf : nullptr);
  if (group.count == 0) return;
  __syncthreads();

  const BlockMatrix matrix = {p.w13.base + group.row * p.w13.strideBytes,
                              p.s13.base + group.row * p.s13.strideBytes,
                              p.hidden,
                              2 * p.width,
                              tile * kTileChannels,
                              p.width};
  const auto rowOf = [&](int i) { return p.activations + static_cast<int64_t>(laneOf[i] / p.topK) * p.hidden; };
  multiply<kChunkWarps, 2>(p, matrix, group, rowOf, shared);

  const ExpertAlphas alphas = p.alphas[group.expert];
  const float* gate = reinterpret_cast<const float*>(shared + Layout::activationBytes(p.blockLanes));
  const float* up = gate + p.blockLanes * kTileChannels;
  for (int i = threadIdx.x; i < group.count * kTileChannels; i += Layout::kThreads) {
    const int lane = laneOf[i / kTileChannels];
    p.inner[static_cast<int64_t>(lane) * p.width + tile * kTileChannels + i % kTileChannels] =
        swiGlu(gate[i], up[i], alphas.gate, alphas.up);
  }
}

// out[token][channel] of `channels` channels from `first` on: lanes in ascending slot order, from +0.
__device__ inline void sumSlots(const MoeParams& p, int first, int channels, int threads) {
  for (int i = threadIdx.x; i < p.tokens * channels; i += threads) {
    const int token = i / channels;
    const int channel = first + i % channels;
    float sum = 0.0f;
    for (int slot = 0; slot < p.topK; ++slot) {
      const int lane = token * p.topK + slot;
      const int expert = p.ids[lane];
      if (expert < 0 || expert >= p.experts) continue;  // never computed: what lies there may be NaN
      sum = __fadd_rn(sum, bf16ToFloat(loadShared16(p.laneOut + static_cast<int64_t>(lane) * p.hidden + channel)));
    }
    p.out[static_cast<int64_t>(token) * p.hidden + channel] = floatToBf16(sum);
  }
}

// Block b computes 64 * kSides channels of lane b / groups's group, and perhaps the sums of these channels.
template <int kSides>
__device__ void decodeDown(const MoeParams& p, uint8_t* shared) {
  using Layout = DecodeLayout<kNarrowChunkWarps, kSides>;
  constexpr int kChannels = kSides * kTileChannels;
  __shared__ int laneOf[kMmaLanes];
  __shared__ int isLast;
  const int tiles = (p.hidden + kChannels - 1) / kChannels;
  const int tile = blockIdx.x % tiles;
  const LaneGroup group = findGroup(p, blockIdx.x / tiles, threadIdx.x < kWarp ? laneOf : nullptr);
  __syncthreads();

  if (group.count > 0) {
    const BlockMatrix matrix = {p.w2.base + group.row * p.w2.strideBytes,
                                p.s2.base + group.row * p.s2.strideBytes,
                                p.width,
                                p.hidden,
                                tile * kChannels,
                                kTileChannels};
    const auto rowOf = [&](int i) { return p.inner + static_cast<int64_t>(laneOf[i]) * p.width; };
    multiply<kNarrowChunkWarps, kSides>(p, matrix, group, rowOf, shared);
    const float alpha = p.alphas[group.expert].down;
    const float* sums = reinterpret_cast<const float*>(shared + Layout::activationBytes(p.blockLanes));
    for (int i = threadIdx.x; i < group.count * kChannels; i += Layout::kThreads) {
      const int lane = laneOf[i / kChannels];
      const int channel = tile * kChannels + i % kChannels;
      const int side = i % kChannels / kTileChannels;
      if (channel >= p.hidden) continue;
      const float sum = sums[(side * p.blockLanes + i / kChannels) * kTileChannels + i % kTileChannels];
      p.laneOut[static_cast<int64_t>(lane) * p.hidden + channel] =
          floatToBf16(__fmul_rn(sum, __fmul_rn(alpha, p.weights[lane])));
    }
  }

  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) isLast = atomicAdd(p.arrivals + tile, 1) == p.calls * p.tokens * p.topK - 1;
  __syncthreads();
  if (!isLast) return;
  __threadfence();
  if (threadIdx.x == 0) p.arrivals[tile] = 0;
  sumSlots(p, tile * kChannels, min(kChannels, p.hidden - tile * kChannels), Layout::kThreads);
}

}  // namespace pool
