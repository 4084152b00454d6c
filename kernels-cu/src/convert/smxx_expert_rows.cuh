// Turns plain NVFP4 experts into Marlin rows (marlin-nvfp4 2.1, 2.3, 2.4). Which code a scale becomes is the host's to
// say, from counts made here: the rule for the scale factor lives in one place, and bytes are only moved and looked up.
#pragma once

#include "pool/convert.h"

namespace pool {

// One matrix of an expert row, in bytes from the row's start: weights u8 [n, k/2], scales u8 [n, k/16].
struct RowMatrix {
  uint64_t weights;
  uint64_t scales;
  int n;
  int k;
};

__device__ inline RowMatrix gateUp(const ConvertParams& p) {
  return {0, uint64_t(p.hidden) * p.width, 2 * p.width, p.hidden};
}

__device__ inline RowMatrix down(const ConvertParams& p) {
  const uint64_t w13 = uint64_t(p.hidden) * p.width;
  return {w13 + w13 / 8, w13 + w13 / 8 + w13 / 2, p.hidden, p.width};
}

__device__ inline uint64_t rowBytes(const ConvertParams& p) { return uint64_t(p.hidden) * p.width / 16 * 27; }

// Counts the scales of one projection of one expert; a block each.
__device__ inline void countScales(const ConvertParams& p) {
  __shared__ uint32_t counts[kScaleValues];
  __shared__ unsigned long long firstBad;
  const int projection = blockIdx.x % kProjections;
  const int expert = blockIdx.x / kProjections;
  const RowMatrix matrix = projection == 2 ? down(p) : gateUp(p);
  const uint64_t all = uint64_t(p.hidden) * p.width / 16;
  const uint8_t* scales = p.plain + expert * rowBytes(p) + matrix.scales + (projection == 1 ? all : 0);
  for (int i = threadIdx.x; i < kScaleValues; i += kConvertThreads) counts[i] = 0;
  if (threadIdx.x == 0) firstBad = kNoBadScale;
  __syncthreads();  // publishes the cleared counts
  for (uint64_t i = threadIdx.x; i < all; i += kConvertThreads) {
    const uint32_t byte = scales[i];
    if ((byte & 0x7fu) == 0x7fu || byte > 0x80u) atomicMin(&firstBad, static_cast<unsigned long long>(i * 256 + byte));
    atomicAdd(&counts[byte & 0x7fu], 1u);
  }
  __syncthreads();  // all are counted
  ScaleCounts& out = p.counts[blockIdx.x];
  for (int i = threadIdx.x; i < kScaleValues; i += kConvertThreads) out.counts[i] = counts[i];
  if (threadIdx.x == 0) out.firstBad = firstBad;
}

// A tile of weights: 64 output channels by 16 k16 steps.
constexpr int kTileRows = 64;
constexpr int kTileSteps = 16;
constexpr int kStepBytes = 8;

// A byte's two codes (k and k + 1) as nibbles 0 and 4 of a word.
__device__ inline uint32_t spreadNibbles(uint8_t pair) {
  return (pair & 0xfu) | (pair & 0xf0u) << 12;
}

__device__ inline void convertWeights(const RowMatrix& m, const uint8_t* plain, uint8_t* row, int tile) {
  __shared__ uint8_t codes[kTileRows][kTileSteps * kStepBytes + 4];  // four bytes on: rows in other banks
  const int steps = m.k / 16;
  const int stepTiles = (steps + kTileSteps - 1) / kTileSteps;
  const int firstRow = tile / stepTiles * kTileRows;
  const int firstStep = tile % stepTiles * kTileSteps;
  const int live = min(kTileSteps, steps - firstStep);
  const uint8_t* from = plain + m.weights + uint64_t(firstRow) * (m.k / 2) + firstStep * kStepBytes;
  for (int i = threadIdx.x; i < kTileRows * live * kStepBytes; i += kConvertThreads) {
    const int n = i / (live * kStepBytes);
    const int byte = i % (live * kStepBytes);
    codes[n][byte] = from[uint64_t(n) * (m.k / 2) + byte];
  }
  __syncthreads();  // publishes the tile
  for (int i = threadIdx.x; i < live * kWarp; i += kConvertThreads) {
    const int step = i / kWarp;
    const int lane = i % kWarp;
    const int at = step * kStepBytes + lane % 4;
    uint32_t word[4];
    for (int j = 0; j < 4; ++j) {
      const int n = 16 * j + lane / 4;
      word[j] = spreadNibbles(codes[n][at]) | spreadNibbles(codes[n][at + 4]) << 4 |
                spreadNibbles(codes[n + 8][at]) << 8 | spreadNibbles(codes[n + 8][at + 4]) << 12;
    }
    const uint64_t index = uint64_t(firstStep + step) * 2 * m.n + firstRow / kTileRows * 128 + lane * 4;
    uint32_t* to = reinterpret_cast<uint32_t*>(row + m.weights) + index;
    for (int j = 0; j < 4; ++j) to[j] = word[j];
  }
}

// Scales of 64 output channels, all k groups: looked up, then laid in Marlin order.
__device__ inline void convertScales(const RowMatrix& m, const uint8_t* plain, uint8_t* row, const uint8_t* codes, int tile) {
  const int groups = m.k / 16;
  const int firstRow = tile * kTileRows;
  const uint8_t* from = plain + m.scales + uint64_t(firstRow) * groups;
  uint8_t* to = row + m.scales + firstRow;
  for (int i = threadIdx.x; i < groups * kTileRows; i += kConvertThreads) {
    const int group = i / kTileRows;
    const int place = i % kTileRows;  // in the stored order of 64 channels
    const int v = place % 8;
    const int n = 8 * ((v & 4) | (v & 1) << 1 | (v >> 1 & 1)) + place / 8;
    to[uint64_t(group) * m.n + place] = codes[from[uint64_t(n) * groups + group] & 0x7fu];
  }
}

__device__ inline int weightTiles(const RowMatrix& m) {
  return m.n / kTileRows * ((m.k / 16 + kTileSteps - 1) / kTileSteps);
}

// Blocks that one expert takes; convertedTiles in Java is the same.
__device__ inline int expertTiles(const ConvertParams& p) {
  const RowMatrix first = gateUp(p);
  const RowMatrix second = down(p);
  return weightTiles(first) + first.n / kTileRows + weightTiles(second) + second.n / kTileRows;
}

// One tile of one expert; grid experts * expertTiles.
__device__ inline void convertTile(const ConvertParams& p) {
  const int expert = blockIdx.x / expertTiles(p);
  int tile = blockIdx.x % expertTiles(p);
  const uint8_t* plain = p.plain + expert * rowBytes(p);
  uint8_t* row = p.rows + expert * rowBytes(p);
  const uint8_t* codes = p.codes + expert * kProjections * kScaleValues;
  const RowMatrix first = gateUp(p);
  const RowMatrix second = down(p);
  if (tile < weightTiles(first)) return convertWeights(first, plain, row, tile);
  tile -= weightTiles(first);
  if (tile < first.n / kTileRows) {
    const int projection = tile * kTileRows < p.width ? 0 : 1;  // a tile lies in one half
    return convertScales(first, plain, row, codes + projection * kScaleValues, tile);
  }
  tile -= first.n / kTileRows;
  if (tile < weightTiles(second)) return convertWeights(second, plain, row, tile);
  convertScales(second, plain, row, codes + 2 * kScaleValues, tile - weightTiles(second));
}

}  // namespace pool
