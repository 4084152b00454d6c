// A warp's walk along K over 64 output channels of a Marlin NVFP4 matrix, and its product with lanes in shared memory.
//
// One step is one k16: each thread holds 4 words (marlin-nvfp4 2.1) and the 8 scale codes of its channels (2.3), both
// requested kAhead steps before use. Weights are the 16-row operand of the MMA, lanes its 8 columns, for every M, so a
// lane's bits do not depend on what else is in the batch.
#pragma once

#include "moe/device_ops.cuh"
#include "pool/constants.h"
#include "pool/moe.h"

namespace pool {

constexpr int kAhead = 5;
static_assert(kChunkSteps % kAhead == 0, "a chunk starts at the ring's first place");

// Two E2M1 codes of a word as bf16 times 2^-126, from places 4*I and 4*I + 16 (marlin-nvfp4 2.2, with both shifts in one).
// Right shifts cost the pipe of the masks, left shifts need not: `shifted` is word >> 6, the only one.
template <int kPair>
__device__ inline uint32_t expandCodes(uint32_t word, uint32_t shifted) {
  constexpr int kSign = 12 - 4 * kPair;
  const uint32_t magnitude = kPair < 2 ? word << (kPair < 2 ? kSign - 6 : 0) : shifted << kSign;
  return ((word << kSign) & 0x80008000u) | (magnitude & 0x01c001c0u);
}

// Two scale codes as bf16 times 128: bytes 0 and 2, or 1 and 3. A code moved to the exponent's place is the scale times
// 2^-105, which an exact multiply mends with fewer instructions than the two masks of marlin-nvfp4 2.4; 0 stays 0.
constexpr uint32_t kTwoTo112 = 0x77807780u;
__device__ inline uint32_t expandEvenScales(uint32_t codes) { return timesLow((codes << 4) & 0x0ff00ff0u, kTwoTo112); }
__device__ inline uint32_t expandOddScales(uint32_t codes) { return timesLow((codes >> 4) & 0x0ff00ff0u, kTwoTo112); }

// Sums of one chunk: [16-channel sub-tile][8-lane tile][fragment].
template <int kLaneTiles>
struct ChunkSums {
  float at[4][kLaneTiles][4];
};

// The lanes' activations along one run of k in shared memory: row r at words[r * rowWords], two bf16 a word.
struct LaneRows {
  const uint32_t* words;
  int rowWords;
  int count;
};

class WeightStream {
 public:
  // Channels [channel, channel + 64) of a matrix of `channels`.
  __device__ WeightStream(const uint8_t* weights, const uint8_t* scales, int channels, int channel)
      : wordStride_(channels * 8), scaleStride_(channels) {
    const int lane = threadIdx.x % kWarp;
    weights_ = weights + channel * 8 + lane * 16;
    scales_ = scales + channel + lane / 4 * 8;
  }

  // Requests the first of the k16 steps [first, end), which chunk() then takes in order.
  __device__ void start(int first, int end) {
    next_ = first;
    end_ = end;
#pragma unroll
    for (int i = 0; i < kAhead; ++i) request(i);
  }

  // Adds nothing to what was there: sums start from +0. `steps` of the chunk, at most kChunkSteps.
  template <int kLaneTiles>
  __device__ void chunk(int steps, const LaneRows& rows, ChunkSums<kLaneTiles>& sums) {
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int t = 0; t < kLaneTiles; ++t)
#pragma unroll
        for (int i = 0; i < 4; ++i) sums.at[j][t][i] = 0.0f;
    for (int base = 0; base < steps; base += kAhead) {
#pragma unroll
      for (int i = 0; i < kAhead; ++i) {
        if (base + i < steps) {
          step(words_[i], codes_[i], base + i, rows, sums);
          request(i);
        }
      }
    }
  }

 private:
  __device__ void request(int place) {
    if (next_ < end_) {
      // One wide multiply-add an address.
      words_[place] = loadOnce4(weights_ + static_cast<uint64_t>(next_) * wordStride_);
      codes_[place] = loadOnce2(scales_ + static_cast<uint64_t>(next_) * scaleStride_);
    }
    ++next_;
  }

  template <int kLaneTiles>
  __device__ static void step(const Words4& words, const Words2& codes, int step, const LaneRows& rows,
                              ChunkSums<kLaneTiles>& sums) {
    const int lane = threadIdx.x % kWarp;
    uint32_t b[kLaneTiles][2];
#pragma unroll
    for (int t = 0; t < kLaneTiles; ++t) {
      const int row = t * kMmaLanes + lane / 4;
      const uint32_t* pair = rows.words + row * rows.rowWords + step * (kMmaK / 2) + lane % 4;
      const bool live = row < rows.count;
      b[t][0] = live ? pair[0] : 0u;
      b[t][1] = live ? pair[4] : 0u;
    }
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const uint32_t word = words.word[j];
      const uint32_t scales = j % 2 == 0 ? expandEvenScales(codes.word[j / 2]) : expandOddScales(codes.word[j / 2]);
      const uint32_t shifted = word >> 6;
      uint32_t a[4];
      a[0] = timesLow(expandCodes<0>(word, shifted), scales);
      a[2] = timesLow(expandCodes<1>(word, shifted), scales);
      a[1] = timesHigh(expandCodes<2>(word, shifted), scales);
      a[3] = timesHigh(expandCodes<3>(word, shifted), scales);
#pragma unroll
      for (int t = 0; t < kLaneTiles; ++t) mma(sums.at[j][t], a, b[t]);
    }
  }

  const uint8_t* weights_;
  const uint8_t* scales_;
  const uint32_t wordStride_;  // bytes from one step to the next
  const uint32_t scaleStride_;
  uint32_t next_ = 0;
  uint32_t end_ = 0;
  Words4 words_[kAhead];
  Words2 codes_[kAhead];
};

// Calls use(channel in the tile, lane of the block, sum) for each sum that this thread holds.
template <int kLaneTiles, typename Use>
__device__ inline void forEachSum(const ChunkSums<kLaneTiles>& sums, const Use& use) {
  const int lane = threadIdx.x % kWarp;
#pragma unroll
  for (int j = 0; j < 4; ++j)
#pragma unroll
    for (int t = 0; t < kLaneTiles; ++t)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        use(j * kMmaChannels + i / 2 * 8 + lane / 4, t * kMmaLanes + lane % 4 * 2 + i % 2, sums.at[j][t][i]);
      }
}

}  // namespace pool
