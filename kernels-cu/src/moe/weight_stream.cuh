// A warp's walk along K over 64 output channels of a Marlin NVFP4 matrix, and its product with lanes in shared memory.
//
// One step is one k16: each thread holds 4 words (marlin-nvfp4 2.1) and the 8 scale codes of its channels (2.3), both
// requested kAhead steps before use, across the chunks that the warp takes. Weights are the 16-row operand of the MMA, lanes its 8 columns, for every M, so a
// lane's bits do not depend on what else is in the batch.
#pragma once

#include "moe/device_ops.cuh"
#include "pool/constants.h"
#include "pool/moe.h"

namespace pool {

// Two E2M1 codes of a word as bf16 times 2^-126, from places 4*I and 4*I + 16 of word (marlin-nvfp4 2.2). One multiply moves
// the sign and the magnitude to their places, and off the pipe of the masks.
template <int kPlace>
__device__ inline uint32_t expandCodes(uint32_t word) {
  constexpr uint32_t kCodes = 0x000f000fu << (4 * kPlace);
  constexpr uint32_t kMove = 1u << (12 - 4 * kPlace) | 1u << (6 - 4 * kPlace);
  return ((word & kCodes) * kMove) & 0x81c081c0u;
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

template <int kAhead>
class WeightStream {
 public:
  static_assert(kChunkSteps % kAhead == 0, "a chunk starts at the ring's first place");

  // Channels [channel, channel + 64) of a matrix of `channels`: from k16 step `first` on, leaving out `skipped` steps after
  // each chunk; `count` steps in all, the last chunk's perhaps fewer than kChunkSteps. Requests the first of them.
  __device__ WeightStream(const uint8_t* weights, const uint8_t* scales, int channels, int channel, int first, int skipped,
                          int count)
      : wordStride_(channels * 8), scaleStride_(channels), skipped_(skipped), left_(count) {
    const int lane = threadIdx.x % kWarp;
    weights_ = weights + static_cast<int64_t>(first) * wordStride_ + channel * 8 + lane * 16;
    scales_ = scales + static_cast<int64_t>(first) * scaleStride_ + channel + lane / 4 * 8;
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      words_[i] = {};
      codes_[i] = {};
      request(i);
    }
    if (kAhead == kChunkSteps) skip();
  }

  // The sums of one chunk, from +0. Always kChunkSteps: past the end of K the rows must hold zeros, which add nothing to
  // what lies in the registers then. So there are no branches, and steps overlap.
  template <int kLaneTiles>
  __device__ void chunk(const LaneRows& rows, ChunkSums<kLaneTiles>& sums) {
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int t = 0; t < kLaneTiles; ++t)
#pragma unroll
        for (int i = 0; i < 4; ++i) sums.at[j][t][i] = 0.0f;
    // Columns of the MMA without a lane repeat the last one's activations; nobody reads their sums.
    const int thread = threadIdx.x % kWarp;
    const uint32_t* at[kLaneTiles];
#pragma unroll
    for (int t = 0; t < kLaneTiles; ++t) {
      at[t] = rows.words + min(t * kMmaLanes + thread / 4, rows.count - 1) * rows.rowWords + thread % 4;
    }
#pragma unroll 1
    for (int base = 0; base < kChunkSteps; base += kAhead) {
#pragma unroll
      for (int i = 0; i < kAhead; ++i) {
        step(words_[i], codes_[i], i, at, sums);
        request(i);
      }
      if ((base + 2 * kAhead) % kChunkSteps == 0) skip();
#pragma unroll
      for (int t = 0; t < kLaneTiles; ++t) at[t] += kAhead * kMmaK / 2;
    }
  }

 private:
  __device__ void request(int place) {
    loadOnce4(words_[place], weights_, left_ > 0);
    loadOnce2(codes_[place], scales_, left_ > 0);
    weights_ += wordStride_;
    scales_ += scaleStride_;
    --left_;
  }

  __device__ void skip() {
    weights_ += static_cast<int64_t>(skipped_) * wordStride_;
    scales_ += static_cast<int64_t>(skipped_) * scaleStride_;
  }

  template <int kLaneTiles>
  __device__ static void step(const Words4& words, const Words2& codes, int step, const uint32_t* const (&at)[kLaneTiles],
                              ChunkSums<kLaneTiles>& sums) {
    uint32_t b[kLaneTiles][2];
#pragma unroll
    for (int t = 0; t < kLaneTiles; ++t) {
      b[t][0] = at[t][step * (kMmaK / 2)];
      b[t][1] = at[t][step * (kMmaK / 2) + 4];
    }
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const uint32_t word = words.word[j];
      const uint32_t scales = j % 2 == 0 ? expandEvenScales(codes.word[j / 2]) : expandOddScales(codes.word[j / 2]);
      const uint32_t upper = word >> 8;
      uint32_t a[4];
      a[0] = timesLow(expandCodes<0>(word), scales);
      a[2] = timesLow(expandCodes<1>(word), scales);
      a[1] = timesHigh(expandCodes<0>(upper), scales);
      a[3] = timesHigh(expandCodes<1>(upper), scales);
#pragma unroll
      for (int t = 0; t < kLaneTiles; ++t) mma(sums.at[j][t], a, b[t]);
    }
  }

  const uint8_t* weights_;
  const uint8_t* scales_;
  uint32_t wordStride_;  // bytes from one step to the next
  uint32_t scaleStride_;
  int skipped_;
  int left_;  // steps not yet requested
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
