// One row copy over poisoned banks with an oracle of plain memcpy: four parts of sizes that do and don't fill a chunk.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "pool/layout.h"

namespace test {

struct alignas(16) Bytes16 {
  uint8_t byte[16];
};

class RowCopyCase {
 public:
  static constexpr int kLayers = 3;
  static constexpr int kExperts = 9;
  static constexpr int kRows = 12;
  static constexpr uint64_t kPartBytes[pool::kMaxRowParts] = {3 * pool::kCopyChunkBytes, pool::kCopyChunkBytes + 16, 16,
                                                              pool::kCopyChunkBytes - 16};

  explicit RowCopyCase(uint64_t seed) : source(kLayers * kExperts * rowBytes() / 16), bank(kRows * rowBytes() / 16) {
    std::mt19937_64 random(seed);
    for (Bytes16& word : source) {
      for (uint8_t& byte : word.byte) byte = static_cast<uint8_t>(random());
    }
    std::memset(bank.data(), 0xee, bank.size() * sizeof(Bytes16));
    plan.promoted = 3;
    plan.staged = 2;
    const int experts[] = {8, 0, 3, 7, 1};
    const int rows[] = {0, 5, 9, 10, 11};
    for (int i = 0; i < 5; ++i) plan.copies[i] = {experts[i], rows[i]};
    plan.copies[5] = {2, 2};  // past the counts: must not be copied
  }

  static constexpr uint64_t rowBytes() {
    uint64_t sum = 0;
    for (uint64_t bytes : kPartBytes) sum += bytes;
    return sum;
  }

  // Layer slabs lie in the source in reverse, so that a wrong table index reads the wrong bytes.
  template <typename Source>
  static void layerTable(Source base, std::vector<const uint8_t*>& table) {
    table.resize(kLayers);
    for (int layer = 0; layer < kLayers; ++layer) {
      table[layer] = reinterpret_cast<const uint8_t*>(base) + (kLayers - 1 - layer) * kExperts * rowBytes();
    }
  }

  // Parts of all rows lie together in the bank: part p of row r at partStart + r * partBytes.
  pool::RowCopyParams params(const pool::StepOutput& output, const uint8_t* const* layerSlabs, void* bankBase) const {
    pool::RowCopyParams p = {};
    p.plan = &output;
    p.sourceLayers = layerSlabs;
    p.sourceRowBytes = rowBytes();
    p.layer = kLayer;
    p.partCount = pool::kMaxRowParts;
    uint64_t at = 0;
    for (int i = 0; i < pool::kMaxRowParts; ++i) {
      p.parts[i] = {static_cast<uint8_t*>(bankBase) + kRows * at, kPartBytes[i], at, kPartBytes[i]};
      at += kPartBytes[i];
    }
    return p;
  }

  // Compares the whole bank: copied rows with their source, all other bytes with the poison.
  void check(const std::vector<Bytes16>& actual, int blocks) const {
    std::vector<uint8_t> expected(kRows * rowBytes(), 0xee);
    const uint8_t* from = reinterpret_cast<const uint8_t*>(source.data()) + (kLayers - 1 - kLayer) * kExperts * rowBytes();
    for (int i = 0; i < plan.promoted + plan.staged; ++i) {
      uint64_t at = 0;
      for (uint64_t bytes : kPartBytes) {
        std::memcpy(expected.data() + kRows * at + plan.copies[i].row * bytes,
                    from + plan.copies[i].expert * rowBytes() + at, bytes);
        at += bytes;
      }
    }
    const uint8_t* got = reinterpret_cast<const uint8_t*>(actual.data());
    for (size_t i = 0; i < expected.size(); ++i) {
      if (got[i] == expected[i]) continue;
      std::fprintf(stderr, "row copy, %d blocks: bank byte %zu is %d, expected %d\n", blocks, i, got[i], expected[i]);
      std::exit(1);
    }
    std::printf("row copy with %d blocks: %zu bank bytes as expected\n", blocks, expected.size());
  }

  static constexpr int kLayer = 1;

  std::vector<Bytes16> source;
  std::vector<Bytes16> bank;
  pool::StepOutput plan = {};
  std::vector<const uint8_t*> layers = slabsOf(source);

 private:
  static std::vector<const uint8_t*> slabsOf(const std::vector<Bytes16>& source) {
    std::vector<const uint8_t*> table;
    layerTable(source.data(), table);
    return table;
  }
};

}  // namespace test
