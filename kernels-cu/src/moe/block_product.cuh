// The product of a block of threads: up to kTiles groups of 64 output channels of one expert's matrix by up to
// 8 * kLaneTiles lanes, over the whole of K.
//
// kChunkWarps warps a tile take chunks of K side by side; one keeps the sums of all chunks in registers. Either way each
// chunk sums from +0 and chunk sums are added in ascending order, so that the bits are the same for all shapes of blocks.
#pragma once

#include "moe/weight_ring.cuh"

namespace pool {

// A matrix of one expert in the bank.
struct ExpertMatrix {
  const uint8_t* words;
  const uint8_t* scales;
  int depth;       // K
  int channels;    // N
  int64_t toKeep;  // bytes from each place to where a copy is kept; 0: nowhere (only of matrices read on the host)
};

constexpr int largestDivisor(int number, int atMost) {
  while (number % atMost != 0) --atMost;
  return atMost;
}

// What else a block does on the way: it may wait before it asks for weights, and for its activations once the first weights are under
// way, or only then learn where to keep them, and learns when all weights have been asked for.
struct NothingElse {
  static constexpr bool kKeepsLate = false;
  static constexpr bool kLate = false;
  static constexpr bool kLateRequests = false;
  __device__ int64_t bytesFurther() const { return 0; }
  __device__ void waitToRequest() const {}
  __device__ void waitForActivations() const {}
  __device__ void allRequested() const {}
};

template <typename ActivationType, int kTilesOfBlock, int kChunkWarps, int kLaneTiles, int kSlots, WeightsFrom kFrom>
struct BlockProduct {
  using Type = ActivationType;
  using Ring = WeightRing<Type, kSlots, (kChunkWarps - 1) * kChunkSteps, kFrom>;
  static constexpr bool kHost = Ring::kHost;
  POOL_HOST_DEVICE static constexpr MoeBlock block() { return {kTilesOfBlock, kChunkWarps, kLaneTiles, kSlots}; }
  static constexpr int kTiles = kTilesOfBlock;
  static constexpr int kLanes = block().lanes();
  static constexpr int kThreads = block().threads();
  static constexpr int kRoundSteps = kChunkWarps * kChunkSteps;
  static constexpr int kRowBytes = block().rowBytes();  // rows start 16 bytes apart modulo 128
  static constexpr int kBuffers = kSlots / 2 + 1;      // rounds of activations on their way, and one in use
  static constexpr int kSumRow = block().sumRow();      // floats
  static constexpr int kRingBytes = kThreads / kWarp * Ring::kBytes;
  // Dynamic shared memory of a block whose weights come this way, for groups of at most so many lanes.
  static constexpr int sharedBytes(int lanesAtMost) { return block().sharedBytes(lanesAtMost) + kRingBytes - block().ringBytes(); }
  static constexpr int kRowVectors = kChunkWarps * kChunkVectors;
  static constexpr int kColumns = largestDivisor(kRowVectors, kThreads / kLanes);  // threads that bring one lane's activations
  static_assert(kThreads >= kLanes);

  // Rounds of kChunkWarps chunks that K takes.
  __device__ static int rounds(int depth) { return (depth + kRoundSteps * kMmaK - 1) / (kRoundSteps * kMmaK); }

  // Tile of the calling warp.
  __device__ static int tile() { return threadIdx.x / kWarp % kTiles; }

  // Sums of all lanes, once the block has passed its last barrier: [tile][lanesAtMost][kSumRow].
  __device__ static const float* sums(const uint8_t* shared, int lanesAtMost) {
    return reinterpret_cast<const float*>(shared + (kChunkWarps > 1 ? kRingBytes + block().activationBytes(lanesAtMost) : 0));
  }

  // What the calling warp reads of the matrix; `channel` is where its tile starts, or -1 for none.
  __device__ static WeightWalk walk(const ExpertMatrix& m, int channel, const ScaleShare& share) {
    const int steps = m.depth / kMmaK;
    const int firstStep = threadIdx.x / kWarp / kTiles * kChunkSteps;
    int mySteps = 0;
    if (kChunkWarps == 1) mySteps = steps;
    else for (int first = firstStep; first < steps; first += kRoundSteps) mySteps += min(kChunkSteps, steps - first);
    if (channel < 0) mySteps = 0;
    const bool idle = mySteps == 0;
    return walkOf(m.words, m.scales, m.channels, idle ? 0 : channel, idle ? 0 : firstStep, mySteps, share);
  }

  // rowOf(i) is where lane i's activations lie; `channel` where the warp's tile starts, or -1 where it has none; the tile
  // `pair` (a power of two) away in the block lies beside it in the matrix, 0: none does.
  template <typename RowOf, typename Else>
  __device__ static void run(const ExpertMatrix& m, int channel, int pair, int lanesAtMost, int count, const RowOf& rowOf,
                             uint8_t* shared, const Else& other) {
    const ScaleShare share(kHost ? pair : 0, kHost && (tile() & pair) != 0);
    Ring ring(shared + threadIdx.x / kWarp * Ring::kBytes, walk(m, channel, share), share, m.toKeep);
    const int depth = m.depth;
    const bool inside = channel >= 0;
    const int slot = threadIdx.x / kWarp / kTiles;
    const int steps = depth / kMmaK;
    const int chunks = (steps + kChunkSteps - 1) / kChunkSteps;
    const int rounds = BlockProduct::rounds(depth);
    const int firstStep = slot * kChunkSteps;
    const SharedAddress activations = sharedAddress(shared + kRingBytes);

    // This thread's part of the activations' way to shared memory: every kColumns-th vector of one lane.
    const int row = threadIdx.x / kColumns;
    const int column = threadIdx.x % kColumns;
    const bool brings = row < count;
    const uint16_t* source = rowOf(brings ? row : 0) + column * 8;
    const SharedAddress target = activations + row * kRowBytes + column * 16;
    const auto stage = [&](int round) {
      if (!brings || round >= rounds) return;
      const SharedAddress to = target + round % kBuffers * (lanesAtMost * kRowBytes);
      const int left = depth - round * (kRowVectors * 8) - column * 8;  // zeros past the end of K
#pragma unroll
      for (int v = 0; v < kRowVectors; v += kColumns) {
        copyAsync16OrZeros(to + v * 16, source + round * (kRowVectors * 8) + v * 8, v * 8 < left);
      }
    };

    other.waitToRequest();
    ring.fill([&](int round) {
      if (!Else::kLate) stage(round);
    });
    if constexpr (kHost && Else::kKeepsLate) ring.keepFurther(other.bytesFurther());
    if constexpr (Else::kLate) {
      other.waitForActivations();
      for (int round = 0; round < kSlots / 2; ++round) stage(round);
      commitCopies();
    }

    ChunkSums<kLaneTiles> total;
    if constexpr (kChunkWarps == 1) total.clear();  // +0 plus the first chunk's sum is that sum: no sum from +0 is -0
    for (int round = 0; round < rounds; ++round) {
      const SharedAddress rows =
          activations + round % kBuffers * (lanesAtMost * kRowBytes) + slot * (kChunkK * 2);
      constexpr int kPairs = (kLaneTiles + 1) / 2;
      SharedAddress at[kPairs];
#pragma unroll
      for (int pair = 0; pair < kPairs; ++pair) at[pair] = laneRowOf<kLaneTiles>(rows, kRowBytes, count, pair);
      ChunkSums<kLaneTiles> sums;
      sums.clear();

      if (Else::kLate && round == 0) waitCopies<0>();
      else waitCopies<kSlots - 1>();
      ring.template await<false>(round);
      __syncthreads();  // this round's activations are there, and those of the last round have been read
      if (!Else::kLateRequests && round == rounds - kSlots / 2) other.allRequested();
      const bool more = !Ring::kInBulk || round + 1 < rounds;  // to bring; with the last bytes of the link everything counts
      multiplyHalf<false>(more, ring, at, sums, [&] {
        ring.template request<false>();
        stage(round + kSlots / 2);
      });
      commitCopies();
      ring.advance();
      waitCopies<kSlots - 1>();
      ring.template await<true>(round);
      Ring::sync();
      if (Else::kLateRequests && round == rounds - kSlots / 2) other.allRequested();
      multiplyHalf<true>(more, ring, at, sums, [&] {
        ring.template request<true>();
      });
      commitCopies();
      ring.advance();

      if constexpr (kChunkWarps == 1) {
        total.add(sums);
      } else {
        const bool live = inside && round * kRoundSteps + firstStep < steps;
        addRound(sums, round, min(kChunkWarps, chunks - round * kChunkWarps), lanesAtMost, count, live, shared);
      }
    }
    ring.end();
    if constexpr (kChunkWarps == 1) {
      waitCopies<0>();
      __syncthreads();  // the ring and the activations have been read
      float* mine = reinterpret_cast<float*>(shared) + tile() * lanesAtMost * kSumRow;
      if (inside) {
        forEachSum(total, [&](int c, int lane, float sum) {
          if (lane < lanesAtMost) mine[lane * kSumRow + c] = sum;
        });
      }
    }
    __syncthreads();
  }

 private:
  // Adds a round's chunk sums, in ascending order, to those of the rounds before.
  __device__ static void addRound(const ChunkSums<kLaneTiles>& sums, int round, int liveSlots, int lanesAtMost, int count,
                                  bool live, uint8_t* shared) {
    float* total = reinterpret_cast<float*>(shared + kRingBytes + block().activationBytes(lanesAtMost));
    const int sumsOfChunk = kTiles * lanesAtMost * kTileChannels;
    float* chunkSums = total + sumsOfChunk;
    const int slot = threadIdx.x / kWarp / kTiles;
    if (live) {
      float* mine = chunkSums + slot * sumsOfChunk + tile() * lanesAtMost * kTileChannels;
      forEachSum(sums, [&](int column, int row, float sum) {
        if (row < count) mine[row * kTileChannels + column] = sum;
      });
    }
    __syncthreads();
    for (int i = threadIdx.x; i < sumsOfChunk; i += kThreads) {
      float sum = round == 0 ? chunkSums[i] : __fadd_rn(total[i], chunkSums[i]);
      for (int c = 1; c < liveSlots; ++c) sum = __fadd_rn(sum, chunkSums[c * sumsOfChunk + i]);
      total[i] = sum;
    }
  }
};

// The product that a MoeBlock describes, with weights from device memory or over a link.
template <typename Type, const MoeBlock& kShape, WeightsFrom kFrom = WeightsFrom::kBank>
using ProductOf = BlockProduct<Type, kShape.tiles, kShape.chunkWarps, kShape.laneTiles, kShape.slots, kFrom>;

}  // namespace pool
