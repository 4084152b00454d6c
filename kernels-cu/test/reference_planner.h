// The step of pool-semantics section 4 in plain code, sentence by sentence: the oracle of the kernel.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "tables.h"

namespace test {

// What a step returns; vectors as long as the step's lanes, copies and experts.
struct StepResult {
  int promoted = 0;
  int staged = 0;
  std::vector<std::pair<int, int>> copies;
  std::vector<int> routes;
  std::vector<int> safeIds;
  std::vector<int> stepMap;

  bool operator==(const StepResult& o) const {
    return promoted == o.promoted && staged == o.staged && copies == o.copies && routes == o.routes &&
           safeIds == o.safeIds && stepMap == o.stepMap;
  }
};

inline int32_t wrappingAdd(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}

inline StepResult referenceStep(TableSlab& slab, int layer, const std::vector<int32_t>& ids,
                                const std::vector<float>& weights) {
  const int experts = slab.geometry.experts;
  const int poolRows = slab.geometry.poolRows();
  pool::PlanTables t = slab.tables();
  pool::PlanState& state = *t.state;
  const pool::PlanControls& controls = *t.controls;
  StepResult result;

  // 1. Validation.
  for (size_t lane = 0; lane < ids.size(); ++lane) {
    int safe = -1;
    if (ids[lane] != -1) {
      const bool idOk = ids[lane] >= 0 && ids[lane] < experts;
      const bool weightOk = std::isfinite(weights[lane]) && !(weights[lane] < 0.0f);
      if (idOk && weightOk) {
        safe = ids[lane];
      } else {
        if (state.error == 0) {
          state.errorLayer = layer;
          state.errorLane = static_cast<int>(lane);
        }
        state.error = 1;
      }
    }
    result.safeIds.push_back(safe);
  }

  // 2. Selection, in the order of first occurrence.
  std::vector<int> selection;
  for (int expert : result.safeIds) {
    if (expert != -1 && std::find(selection.begin(), selection.end(), expert) == selection.end()) {
      selection.push_back(expert);
    }
  }

  // 3. Clock and recency.
  const bool open = controls.gate == 1;
  if (open) {
    state.clock += 1;
    if (layer == 0) state.forwards = wrappingAdd(state.forwards, 1);
    for (int expert : selection) {
      const int row = t.hotRow[layer * experts + expert];
      if (row >= 0) t.rowUse[row] = state.clock;
    }
  }

  // 4.
  const bool mayPromote = open && wrappingAdd(state.forwards, -1) % controls.promoteInterval == 0;

  // 5. Misses, one after the other; the map of the whole slice is taken only when all are placed.
  std::vector<std::pair<int, int>> promotions;
  std::vector<std::pair<int, int>> stagedCopies;
  for (int expert : selection) {
    const int key = layer * experts + expert;
    if (t.hotRow[key] >= 0) continue;
    if (open) t.missCount[key] = wrappingAdd(t.missCount[key], 1);
    int victim = -1;
    const int promotedSoFar = static_cast<int>(promotions.size());
    if (mayPromote && (controls.promoteLimit == 0 || promotedSoFar < controls.promoteLimit) &&
        t.missCount[key] >= controls.promoteMinMisses) {
      for (int row = 0; row < poolRows; ++row) {
        if (t.rowKey[row] < 0 || !(t.rowUse[row] < state.clock)) continue;
        const int64_t horizon = state.clock - static_cast<int64_t>(controls.protectRecent) * slab.geometry.layers;
        if (controls.protectRecent > 0 && !(t.rowUse[row] < horizon)) continue;
        if (victim < 0 || t.rowUse[row] < t.rowUse[victim]) victim = row;
      }
    }
    if (victim < 0) {
      stagedCopies.push_back({expert, poolRows + static_cast<int>(stagedCopies.size())});
      continue;
    }
    const int evicted = t.rowKey[victim];
    t.hotRow[evicted] = -1;
    t.coldRow[evicted] = evicted % experts;
    t.hotRow[key] = victim;
    t.coldRow[key] = -1;
    t.rowKey[victim] = key;
    t.rowUse[victim] = state.clock;
    t.missCount[key] = 0;
    promotions.push_back({expert, victim});
  }

  // 6. Output.
  result.promoted = static_cast<int>(promotions.size());
  result.staged = static_cast<int>(stagedCopies.size());
  result.copies = promotions;
  result.copies.insert(result.copies.end(), stagedCopies.begin(), stagedCopies.end());
  result.stepMap.assign(t.hotRow + layer * experts, t.hotRow + (layer + 1) * experts);
  for (const auto& copy : stagedCopies) result.stepMap[copy.first] = copy.second;
  for (int expert : result.safeIds) result.routes.push_back(expert < 0 ? -1 : result.stepMap[expert]);
  return result;
}

}  // namespace test
