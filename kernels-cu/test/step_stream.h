// Seeded streams of steps, controls and table edits: ordinary routing mixed with every awkward case of the spec.
#pragma once

#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "tables.h"

namespace test {

struct Step {
  int layer;
  std::vector<int32_t> ids;
  std::vector<float> weights;
};

class StepStream {
 public:
  StepStream(const Geometry& geometry, uint64_t seed) : g_(geometry), random_(seed) {}

  // A uniform draw from [0, bound); plain modulo, so that it is the same with every standard library.
  int below(int bound) { return static_cast<int>(random_() % static_cast<uint64_t>(bound)); }
  bool oneIn(int n) { return below(n) == 0; }

  Step next() {
    Step step;
    layer_ = oneIn(50) ? below(g_.layers) : (layer_ + 1) % g_.layers;
    step.layer = layer_;
    const int count = oneIn(4) ? 1 + below(g_.lanes()) : g_.lanes();
    fill(step, count);
    return step;
  }

  // A step of this layer as wide as the planner, as a captured graph sees it: padding instead of fewer lanes.
  Step full(int layer) {
    Step step;
    step.layer = layer;
    fill(step, oneIn(4) ? 1 + below(g_.lanes()) : g_.lanes());
    step.ids.resize(g_.lanes(), -1);
    step.weights.resize(g_.lanes(), std::numeric_limits<float>::quiet_NaN());
    return step;
  }

  // Plain LRU, gate open.
  static pool::PlanControls plain() { return {1, 0, 1, 1, 0, {}}; }

  // Sets one control, or all, to a value at or near an edge; the others as for plain LRU.
  void changeControls(pool::PlanControls& c) {
    const int most = std::numeric_limits<int32_t>::max();
    const int limits[] = {1, 2, g_.lanes() - 1, g_.lanes(), most};
    const int intervals[] = {2, 3, 7, most};
    const int minMisses[] = {2, 3, most};
    const int recent[] = {1, 2, 5, 1000, most, most};
    c = plain();
    const int which = below(6);  // 5: all of them
    if (which == 0 || (which == 5 && oneIn(5))) c.gate = 0;
    if (which == 1 || which == 5) c.promoteLimit = limits[below(5)];
    if (which == 2 || which == 5) c.promoteInterval = intervals[below(4)];
    if (which == 3 || which == 5) c.promoteMinMisses = minMisses[below(3)];
    if (which == 4 || which == 5) c.protectRecent = recent[below(6)];
  }

  // Moves counters to where arithmetic wraps or 32 bits end. Ages keep their order.
  void jump(TableSlab& slab) {
    pool::PlanTables t = slab.tables();
    const int64_t ahead = int64_t{1} << (30 + below(25));
    if (t.state->clock < (int64_t{1} << 60)) {
      t.state->clock += ahead;
      if (oneIn(2)) {
        for (int row = 0; row < g_.poolRows(); ++row) t.rowUse[row] += ahead;
      }
    }
    t.state->forwards = std::numeric_limits<int32_t>::max() - below(3);
    t.missCount[below(g_.keys())] = std::numeric_limits<int32_t>::max() - below(2);
  }

  // Makes one in so many pairs of rows old and all others new, so that the oldest lie in few threads of a scan.
  void crowd(TableSlab& slab) {
    pool::PlanTables t = slab.tables();
    const int pairsApart = 2 << below(5);
    for (int row = 0; row < g_.poolRows(); ++row) {
      const bool old = row / 2 % pairsApart == 0;
      t.rowUse[row] = old ? static_cast<int64_t>(random_() % (static_cast<uint64_t>(t.state->clock) + 1)) : t.state->clock;
    }
  }

  // Takes the owner from some pool rows: a state that no step makes, and that the victim rule must survive.
  void disown(TableSlab& slab) {
    pool::PlanTables t = slab.tables();
    for (int i = 0; i < 1 + g_.poolRows() / 8; ++i) {
      const int row = below(g_.poolRows());
      const int key = t.rowKey[row];
      if (key < 0) continue;
      t.rowKey[row] = -1;
      t.hotRow[key] = -1;
      t.coldRow[key] = key % g_.experts;
    }
  }

 private:
  void fill(Step& step, int count) {
    const int kind = below(12);
    const int window = 1 + below(g_.experts);  // ids from [0, window): reuse, so hits
    const int start = below(g_.experts);
    for (int i = 0; i < count; ++i) {
      int32_t id = below(window);
      if (kind == 0) id = (start + i) % g_.experts;                        // a run: distinct, often all miss
      if (kind == 1) id = start;                                           // one expert in every lane
      if (kind == 2) id = (start + i / 2) % g_.experts;                    // each twice
      if (kind == 3) id = g_.experts - 1 - i % g_.experts;                 // from the top
      if (kind == 4 || kind == 5) id = below(g_.experts);                  // uniform
      if (kind == 6) id = -1;                                              // nothing but padding
      if (kind == 7) id = (start + i % ((count + 1) / 2)) % g_.experts;    // halves alike
      step.ids.push_back(id);
      step.weights.push_back(static_cast<float>(below(1000)) / 1000.0f);
    }
    if (oneIn(3)) {
      for (int i = 0; i < 1 + below(3); ++i) step.ids[below(count)] = -1;
    }
    if (oneIn(8)) {
      const int32_t bad[] = {-2, g_.experts, g_.experts + 1, std::numeric_limits<int32_t>::max(),
                             std::numeric_limits<int32_t>::min()};
      for (int i = 0; i < 1 + below(2); ++i) step.ids[below(count)] = bad[below(5)];
    }
    if (oneIn(6)) {
      const float inf = std::numeric_limits<float>::infinity();
      const float tiny = std::numeric_limits<float>::denorm_min();
      const float odd[] = {std::numeric_limits<float>::quiet_NaN(), inf, -inf, -1.0f, -tiny, -0.0f, 0.0f, tiny,
                           std::numeric_limits<float>::max()};
      for (int i = 0; i < 1 + below(3); ++i) step.weights[below(count)] = odd[below(9)];
    }
  }

  const Geometry g_;
  std::mt19937_64 random_;
  int layer_ = -1;
};

}  // namespace test
