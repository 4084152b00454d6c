// What the conversion of plain NVFP4 experts to Marlin rows shares with its callers. Host-compilable.
//
// A plain row has the parts of a Marlin row at the same offsets, in checkpoint order: gate codes [width, hidden/2], up
// codes, gate scales [width, hidden/16], up scales, down codes [hidden, width/2], down scales [hidden, width/16].
#pragma once

#include <cstddef>
#include <cstdint>

#include "pool/constants.h"

namespace pool {

constexpr int kConvertThreads = 256;

// Gate, up, down.
constexpr int kProjections = 3;

// E4M3 values without their sign.
constexpr int kScaleValues = 128;

constexpr uint64_t kNoBadScale = UINT64_MAX;

// The block scales of one projection of one expert.
struct alignas(8) ScaleCounts {
  uint64_t firstBad;              // index * 256 + byte of the first that is negative or NaN, or kNoBadScale
  uint32_t counts[kScaleValues];  // how often each value occurs; minus zero counts as zero
};
static_assert(sizeof(ScaleCounts) == 520);

// So many experts of one layer. Hidden and width: multiples of 64.
struct alignas(8) ConvertParams {
  const uint8_t* plain;  // [experts] plain rows, on 16 bytes
  uint8_t* rows;         // [experts] Marlin rows, on 16 bytes; other memory
  ScaleCounts* counts;   // [experts, kProjections] written by the count
  const uint8_t* codes;  // [experts, kProjections, kScaleValues] Marlin code of each scale, read by the conversion
  int32_t experts;
  int32_t hidden;
  int32_t width;
  int32_t reserved;
};
static_assert(sizeof(ConvertParams) == 48);

}  // namespace pool
