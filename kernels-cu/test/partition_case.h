// Calls wider than the planner with a random placement, and what the partition kernel must make of them.
#pragma once

#include <cmath>
#include <map>
#include <random>
#include <vector>

#include "pool/partition.h"

namespace test {

// One call: the layer, its lanes, and every table that the kernel may look at, all others absent.
class PartitionCase {
 public:
  PartitionCase(int layers, int experts, int lanes, int ringSize, uint64_t seed)
      : hotRow(layers * experts, pool::kAbsent), ids(lanes), weights(lanes), layer_(static_cast<int>(seed % layers)),
        experts_(experts), ringSize_(ringSize) {
    std::mt19937_64 random(seed);
    for (int32_t& row : hotRow) row = random() % 3 == 0 ? static_cast<int32_t>(random() % 1000) : pool::kAbsent;
    const int touched = 1 + static_cast<int>(random() % experts);  // few experts or many
    for (int lane = 0; lane < lanes; ++lane) {
      ids[lane] = static_cast<int32_t>(random() % touched);
      weights[lane] = 0.5f;
      if (seed % 2 == 0) spoil(random() % 40, lane);
    }
    state.error = seed % 6 == 0 ? 1 : 0;
    state.errorLayer = state.errorLane = 77;
    before_ = state;
  }

  pool::PartitionParams params(int32_t* safeIds, int32_t* ringRows, pool::PartitionOutput* output) {
    pool::PartitionParams p{};
    p.tables.hotRow = hotRow.data();
    p.tables.state = &state;
    p.tables.experts = experts_;
    p.ids = ids.data();
    p.weights = weights.data();
    p.safeIds = safeIds;
    p.ringRows = ringRows;
    p.output = output;
    p.layer = layer_;
    p.lanes = static_cast<int32_t>(ids.size());
    p.ringSize = ringSize_;
    return p;
  }

  // Compares by maps over the lanes in order; says which part differs.
  void check(const std::vector<int32_t>& safeIds, const std::vector<int32_t>& ringRows,
             const pool::PartitionOutput& output) const {
    std::map<int32_t, int32_t> counts;  // ascending by expert
    int32_t invalid = pool::kAbsent;
    for (size_t lane = 0; lane < ids.size(); ++lane) {
      const bool padding = ids[lane] == -1;
      const bool valid = ids[lane] >= 0 && ids[lane] < experts_ && std::isfinite(weights[lane]) && !(weights[lane] < 0);
      require(safeIds[lane] == (valid ? ids[lane] : -1), "safeIds");
      if (valid) ++counts[ids[lane]];
      if (!valid && !padding && invalid == pool::kAbsent) invalid = static_cast<int32_t>(lane);
    }
    int missing = 0;
    std::vector<int32_t> expectedRing(experts_, -1), expectedCounts(experts_, 0);
    for (const auto& [expert, count] : counts) {
      expectedCounts[expert] = count;
      if (hotRow[layer_ * experts_ + expert] != -1) continue;
      require(output.experts[missing] == expert, "experts");
      expectedRing[expert] = missing++ % ringSize_;
    }
    require(output.missing == missing && output.touched == static_cast<int>(counts.size()), "counts of experts");
    require(ringRows == expectedRing, "ringRows");
    require(std::equal(expectedCounts.begin(), expectedCounts.end(), output.laneCounts), "laneCounts");
    require(output.invalidLane == invalid, "invalidLane");
    const bool first = invalid != -1 && before_.error == 0;
    require(state.error == (invalid != -1 || before_.error ? 1 : 0), "error");
    require(state.errorLayer == (first ? layer_ : 77) && state.errorLane == (first ? invalid : 77), "place of the error");
    require(state.clock == before_.clock && state.forwards == before_.forwards, "clock");
  }

  std::vector<int32_t> hotRow, ids;
  std::vector<float> weights;
  pool::PlanState state{};

 private:
  void spoil(uint64_t kind, int lane) {
    if (kind == 0) ids[lane] = -1, weights[lane] = NAN;
    if (kind == 1) ids[lane] = experts_;
    if (kind == 2) ids[lane] = INT32_MIN;
    if (kind == 3) weights[lane] = NAN;
    if (kind == 4) weights[lane] = INFINITY;
    if (kind == 5) weights[lane] = -1e-30f;
    if (kind == 6) weights[lane] = -0.0f;  // valid
  }

  void require(bool holds, const char* what) const {
    if (holds) return;
    std::printf("FAILED partition of %zu lanes, %d experts, ring of %d, layer %d: %s\n", ids.size(), experts_, ringSize_,
                layer_, what);
    std::exit(1);
  }

  const int layer_;
  const int experts_;
  const int ringSize_;
  pool::PlanState before_;
};

}  // namespace test
