// The pool's tables in one slab of bytes, laid out alike on host and device, so that two copies compare with memcmp.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "pool/layout.h"

namespace test {

// Shape of a pool; poolRows = layers * rowsPerLayer.
struct Geometry {
  std::string name;
  int layers;
  int experts;
  int topK;
  int decodeTokens;  // maxDecodeTokens of the spec
  int rowsPerLayer;  // n = min(N, E - 1)

  int tokens() const { return std::max(1, std::min(decodeTokens, pool::kMaxLanes / topK)); }
  int lanes() const { return topK * tokens(); }  // S
  int poolRows() const { return layers * rowsPerLayer; }
  int rows() const { return poolRows() + lanes(); }
  int keys() const { return layers * experts; }
};

// Byte offsets of each table inside a slab.
struct SlabLayout {
  size_t rowUse, hotRow, coldRow, missCount, rowKey, state, controls, bytes;

  explicit SlabLayout(const Geometry& g) {
    size_t at = 0;
    const auto take = [&at](size_t size) {
      const size_t start = at;
      at = (at + size + 15) / 16 * 16;
      return start;
    };
    rowUse = take(sizeof(int64_t) * g.rows());
    hotRow = take(sizeof(int32_t) * g.keys());
    coldRow = take(sizeof(int32_t) * g.keys());
    missCount = take(sizeof(int32_t) * g.keys());
    rowKey = take(sizeof(int32_t) * g.rows());
    state = take(sizeof(pool::PlanState));
    controls = take(sizeof(pool::PlanControls));
    bytes = at;
  }

  // Pointers into a slab at this base, host or device.
  pool::PlanTables at(void* base, const Geometry& g) const {
    uint8_t* slab = static_cast<uint8_t*>(base);
    pool::PlanTables t = {};
    t.rowUse = reinterpret_cast<int64_t*>(slab + rowUse);
    t.hotRow = reinterpret_cast<int32_t*>(slab + hotRow);
    t.coldRow = reinterpret_cast<int32_t*>(slab + coldRow);
    t.missCount = reinterpret_cast<int32_t*>(slab + missCount);
    t.rowKey = reinterpret_cast<int32_t*>(slab + rowKey);
    t.state = reinterpret_cast<pool::PlanState*>(slab + state);
    t.controls = reinterpret_cast<pool::PlanControls*>(slab + controls);
    t.layers = g.layers;
    t.experts = g.experts;
    t.poolRows = g.poolRows();
    t.rows = g.rows();
    return t;
  }
};

// A host slab in its start state: layer l holds experts 0..n-1 in rows l*n..l*n+n-1.
class TableSlab {
 public:
  explicit TableSlab(const Geometry& g) : geometry(g), layout(g), words_((layout.bytes + 15) / 16) {
    pool::PlanTables t = tables();
    for (int key = 0; key < g.keys(); ++key) {
      const int expert = key % g.experts;
      const bool resident = expert < g.rowsPerLayer;
      t.hotRow[key] = resident ? key / g.experts * g.rowsPerLayer + expert : -1;
      t.coldRow[key] = resident ? -1 : expert;
    }
    for (int row = 0; row < g.rows(); ++row) {
      const bool poolRow = row < g.poolRows();
      t.rowKey[row] = poolRow ? row / g.rowsPerLayer * g.experts + row % g.rowsPerLayer : -1;
      t.rowUse[row] = poolRow ? 0 : INT64_MAX;
    }
    controls() = {0, 0, 1, 1, 0, {}};
  }

  pool::PlanTables tables() { return layout.at(words_.data(), geometry); }
  pool::PlanState& state() { return *tables().state; }
  pool::PlanControls& controls() { return *const_cast<pool::PlanControls*>(tables().controls); }
  void* bytes() { return words_.data(); }
  size_t size() const { return layout.bytes; }

  const Geometry geometry;
  const SlabLayout layout;

 private:
  struct alignas(16) Word {
    uint8_t byte[16];
  };
  std::vector<Word> words_;
};

// First difference of two slabs as text, empty where they are equal.
inline std::string difference(TableSlab& expected, TableSlab& actual) {
  if (std::memcmp(expected.bytes(), actual.bytes(), expected.size()) == 0) return "";
  const pool::PlanTables e = expected.tables();
  const pool::PlanTables a = actual.tables();
  char text[160] = "padding bytes or controls differ";
  const auto compare = [&text](const char* name, auto* want, auto* got, int count) {
    for (int i = 0; i < count; ++i) {
      if (want[i] == got[i]) continue;
      std::snprintf(text, sizeof text, "%s[%d] is %lld, expected %lld", name, i, static_cast<long long>(got[i]),
                    static_cast<long long>(want[i]));
      return;
    }
  };
  compare("hotRow", e.hotRow, a.hotRow, expected.geometry.keys());
  compare("coldRow", e.coldRow, a.coldRow, expected.geometry.keys());
  compare("missCount", e.missCount, a.missCount, expected.geometry.keys());
  compare("rowKey", e.rowKey, a.rowKey, expected.geometry.rows());
  compare("rowUse", e.rowUse, a.rowUse, expected.geometry.rows());
  compare("clock", &e.state->clock, &a.state->clock, 1);
  compare("forwards", &e.state->forwards, &a.state->forwards, 1);
  compare("error", &e.state->error, &a.state->error, 1);
  compare("errorLayer", &e.state->errorLayer, &a.state->errorLayer, 1);
  compare("errorLane", &e.state->errorLane, &a.state->errorLane, 1);
  return text;
}

// The table invariants of pool-semantics 4, as text; empty where they hold. Unowned pool rows are allowed on request.
inline std::string brokenInvariant(TableSlab& slab, bool allowUnowned) {
  const Geometry& g = slab.geometry;
  const pool::PlanTables t = slab.tables();
  for (int key = 0; key < g.keys(); ++key) {
    const int row = t.hotRow[key];
    if ((row >= 0) == (t.coldRow[key] >= 0)) return "key " + std::to_string(key) + " is both or neither of hot and cold";
    if (row < 0 && t.coldRow[key] != key % g.experts) return "coldRow of key " + std::to_string(key);
    if (row >= 0 && (row >= g.poolRows() || t.rowKey[row] != key)) return "owner of the row of key " + std::to_string(key);
  }
  for (int row = 0; row < g.rows(); ++row) {
    const int key = t.rowKey[row];
    if (row >= g.poolRows()) {
      if (key != -1 || t.rowUse[row] != INT64_MAX) return "staging row " + std::to_string(row);
      continue;
    }
    if (key >= 0 ? t.hotRow[key] != row : !allowUnowned) return "owner of row " + std::to_string(row);
    if (t.rowUse[row] > t.state->clock) return "rowUse of row " + std::to_string(row);
  }
  return "";
}

}  // namespace test
