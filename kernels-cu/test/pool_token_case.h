// Tokens through a pool, one after the other: each step of the planner and the MoE of its token in one kernel, against the
// reference planner, the rounded reference of the MoE and the rows on the host.
#pragma once

#include <memory>

#include "conformance.h"
#include "moe_conformance.h"

namespace test {

// One call, and what it changes.
struct PooledCall {
  const MoeCase& experts;            // of the layer
  const std::vector<uint8_t>& host;  // [experts] rows
  const MoeCall& call;
  int layer;
  TableSlab& slab;
  std::vector<uint8_t>& bank;  // [rows]
  pool::StepOutput output;
  std::vector<int32_t> stepMap;  // [experts]
};

// The experts of every layer, on the host and as the pool begins.
struct PooledLayers {
  PooledLayers(const MoeGeometry& g, const Geometry& pool, uint64_t seed) {
    for (int layer = 0; layer < pool.layers; ++layer) {
      layers.emplace_back(new MoeCase(g, Numbers::kExact, Rule::kNewer, 0, seed + layer));
      const MoeCase& experts = *layers.back();
      rowBytes = experts.rowBytes();
      host.emplace_back(g.experts * rowBytes);
      for (int e = 0; e < g.experts; ++e) copyRow(host.back(), e, experts.bank, experts.expertRows[e]);
    }
    bank.assign(pool.rows() * rowBytes, 0xff);
    for (int row = 0; row < pool.poolRows(); ++row) copyRow(bank, row, host[row / pool.rowsPerLayer], row % pool.rowsPerLayer);
  }

  void copyRow(std::vector<uint8_t>& to, int row, const std::vector<uint8_t>& from, int fromRow) const {
    std::memcpy(&to[row * rowBytes], &from[fromRow * rowBytes], rowBytes);
  }

  std::vector<std::unique_ptr<MoeCase>> layers;
  std::vector<std::vector<uint8_t>> host;
  std::vector<uint8_t> bank;
  size_t rowBytes = 0;
};

inline void routeToResidents(TableSlab& slab, std::mt19937_64& random, Step& step) {
  const int experts = slab.geometry.experts;
  std::vector<int32_t> residents;
  for (int e = 0; e < experts; ++e) {
    if (slab.tables().hotRow[step.layer * experts + e] >= 0) residents.push_back(e);
  }
  for (size_t lane = 0; !residents.empty() && lane < step.ids.size(); ++lane) {
    step.ids[lane] = residents[random() % residents.size()];
    step.weights[lane] = 0.5f;
  }
}

// Random steps, a third of them over resident experts alone, gate closed at first, then under changing controls. A backend has
// card() and runPooled(PooledCall), whose scratch and outputs are poison.
template <typename Backend>
void pooledTokens(Backend& backend, const MoeGeometry& g, int layerCount, int rowsPerLayer, int steps, uint64_t seed) {
  const Geometry geometry{"pooled", layerCount, g.experts, g.topK, 1, rowsPerLayer};
  if (!backend.card().poolGrid(g).fits(backend.card().sharedBytes)) return;
  PooledLayers layers(g, geometry, seed);
  std::vector<uint8_t> bank = layers.bank;
  TableSlab expected(geometry), actual(geometry);
  StepStream stream(geometry, seed);
  std::mt19937_64 random(seed);
  constexpr int kClosed = 5;
  Coverage seen;
  const auto reached = [&] { return seen.promoted > 0 && seen.staged > 0 && seen.hits > 0; };
  for (int i = 0; i < steps || (!reached() && i < 10 * steps); ++i) {
    if (i == 0) expected.controls().gate = 0;
    else if (i == kClosed) expected.controls() = StepStream::plain();
    else if (i > 3 * kClosed && stream.oneIn(6)) stream.changeControls(expected.controls());
    if (stream.oneIn(20)) stream.jump(expected);
    if (stream.oneIn(12)) stream.crowd(expected);
    if (stream.oneIn(15)) expected.state().error = 0;
    std::memcpy(actual.bytes(), expected.bytes(), expected.size());
    Step step = stream.full(static_cast<int>(random() % layerCount));
    if (random() % 3 == 0) routeToResidents(expected, random, step);
    const MoeCase& experts = *layers.layers[step.layer];
    MoeCall call = makeCall(g, Numbers::kExact, 1, false, seed + i);
    call.ids = step.ids;
    call.weights = step.weights;
    PooledCall pooled{experts, layers.host[step.layer], call, step.layer, actual, bank, {}, {}};
    const MoeResult got = backend.runPooled(pooled);

    const StepResult plan = referenceStep(expected, step.layer, step.ids, step.weights);
    std::string wrong = difference(plan, resultOf(pooled.output, pooled.stepMap, step.ids.size()));
    if (wrong.empty()) wrong = difference(expected, actual);
    if (!wrong.empty()) fail(geometry, i, step, wrong);
    for (const auto& copy : plan.copies) layers.copyRow(layers.bank, copy.second, layers.host[step.layer], copy.first);
    if (bank != layers.bank) fail(geometry, i, step, "the bank's bytes are not those of the rows' owners");
    call.ids = plan.safeIds;
    const RoundedReference reference(experts, call);
    if (reference.largestRatio >= 4194304.0) moeFailure("the exact numbers are not exact");
    requireEqual(got.out, reference.result.out, g.hidden, g, "pooled token, step " + std::to_string(i));
    seen.promoted += plan.promoted;
    seen.staged += plan.staged;
    seen.hits += plan.copies.empty();
  }
  if (!reached()) moeFailure("pooled tokens: no promotion, staged row or step of hits");
}

}  // namespace test
