// Runs a planner beside the reference and compares every output and table after every step.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "reference_planner.h"
#include "step_stream.h"

namespace test {

// Widths 1 to 64, banks from one layer to 48 x 258 rows, odd and even row counts, all resident but one.
inline std::vector<Geometry> geometries() {
  return {
      {"one-lane", 1, 2, 1, 1, 1},
      {"tiny", 3, 8, 2, 4, 3},
      {"odd-rows", 5, 13, 3, 7, 3},
      {"all-but-one", 4, 16, 4, 16, 15},
      {"wide", 2, 96, 8, 8, 40},
      {"full-width", 3, 512, 64, 1, 70},
      {"many-experts", 2, 4096, 10, 6, 1500},
      {"qwen3-30b-a3b", 48, 128, 8, 1, 64},
      {"qwen3.8-flash-next-n258", 48, 512, 10, 1, 258},
      {"qwen3.8-flash-next-n258-six-tokens", 48, 512, 10, 6, 258},
      {"largest-bank", 48, 2048, 10, 6, 1365},
  };
}

// What happened over a run, to show that the stream reached what it should.
struct Coverage {
  long steps = 0, promoted = 0, staged = 0, hits = 0, invalidSteps = 0, crossLayer = 0, closedSteps = 0;

  void print(const std::string& name) const {
    std::printf("%-36s %8ld steps: hits %ld, promoted %ld (%ld from another layer), staged %ld, gate closed %ld, "
                "invalid %ld\n",
                name.c_str(), steps, hits, promoted, crossLayer, staged, closedSteps, invalidSteps);
    std::fflush(stdout);
  }
};

[[noreturn]] inline void fail(const Geometry& g, long index, const Step& step, const std::string& what) {
  std::fprintf(stderr, "%s, step %ld, layer %d: %s\n  ids", g.name.c_str(), index, step.layer, what.c_str());
  for (int32_t id : step.ids) std::fprintf(stderr, " %d", id);
  std::fprintf(stderr, "\n");
  std::exit(1);
}

// Copies a device-side result out of its fixed shape; entries past the lanes must be -1.
inline StepResult resultOf(const pool::StepOutput& output, const std::vector<int32_t>& stepMap, size_t lanes) {
  StepResult result;
  result.promoted = output.promoted;
  result.staged = output.staged;
  const int copies = std::max(0, std::min(output.promoted + output.staged, pool::kMaxLanes));
  for (int i = 0; i < copies; ++i) result.copies.push_back({output.copies[i].expert, output.copies[i].row});
  for (size_t i = 0; i < pool::kMaxLanes; ++i) {
    bool copied = false;
    for (const auto& copy : result.copies) copied |= copy.second == output.routes[i];
    if (output.missRows[i] != (copied ? output.routes[i] : -1)) {
      std::fprintf(stderr, "lane %zu: miss row %d, route %d\n", i, output.missRows[i], output.routes[i]);
      std::exit(1);
    }
    const bool keep = i < lanes || output.routes[i] != -1 || output.safeIds[i] != -1;
    if (!keep) continue;
    result.routes.push_back(output.routes[i]);
    result.safeIds.push_back(output.safeIds[i]);
  }
  result.stepMap = stepMap;
  return result;
}

inline std::string difference(const StepResult& expected, const StepResult& actual) {
  if (expected == actual) return "";
  if (expected.promoted != actual.promoted || expected.staged != actual.staged) {
    return "promoted " + std::to_string(actual.promoted) + " and staged " + std::to_string(actual.staged) +
           ", expected " + std::to_string(expected.promoted) + " and " + std::to_string(expected.staged);
  }
  if (expected.copies != actual.copies) return "copy list differs";
  if (expected.safeIds != actual.safeIds) return "safeIds differ";
  if (expected.routes != actual.routes) return "routes differ";
  return "stepMap differs";
}

// Counts one step of the reference: the tables are those before it.
inline void count(Coverage& coverage, TableSlab& before, const Step& step, const StepResult& result) {
  const pool::PlanTables t = before.tables();
  coverage.steps += 1;
  coverage.promoted += result.promoted;
  coverage.staged += result.staged;
  coverage.closedSteps += t.controls->gate == 0;
  bool invalid = false;
  std::vector<bool> seen(before.geometry.experts);
  for (size_t i = 0; i < step.ids.size(); ++i) {
    const int expert = result.safeIds[i];
    invalid |= expert < 0 && step.ids[i] != -1;
    if (expert < 0 || seen[expert]) continue;
    seen[expert] = true;
    coverage.hits += t.hotRow[step.layer * before.geometry.experts + expert] >= 0;
  }
  coverage.invalidSteps += invalid;
  for (int i = 0; i < result.promoted; ++i) {
    const int owner = t.rowKey[result.copies[i].second];
    coverage.crossLayer += owner / before.geometry.experts != step.layer;
  }
}

// Host-side changes between steps; true where there was one, and the subject must load the slab again.
inline bool disturb(StepStream& stream, TableSlab& slab, long index, bool edits) {
  bool changed = index == 0;
  const auto with = [&](int odds) {
    const bool drawn = stream.oneIn(odds);
    changed |= drawn;
    return drawn;
  };
  if (index == 0) slab.controls().gate = 1;
  if (with(25)) stream.changeControls(slab.controls());
  if (with(40)) slab.controls() = StepStream::plain();  // so that placements keep moving
  if (with(60)) slab.state().error = 0;
  if (edits && with(20)) stream.crowd(slab);
  if (edits && with(200)) stream.jump(slab);
  if (edits && with(300)) stream.disown(slab);
  return changed;
}

// Planner has load(TableSlab&), step(const Step&) -> StepResult and store(TableSlab&); its tables live on between steps.
template <typename Planner>
void compareEveryStep(const Geometry& geometry, Planner& planner, long steps, uint64_t seed, bool edits) {
  TableSlab expected(geometry);
  TableSlab actual(geometry);
  StepStream stream(geometry, seed);
  Coverage coverage;
  for (long index = 0; index < steps; ++index) {
    if (disturb(stream, expected, index, edits)) planner.load(expected);
    const Step step = stream.next();
    TableSlab before = expected;
    const StepResult want = referenceStep(expected, step.layer, step.ids, step.weights);
    count(coverage, before, step, want);
    const StepResult got = planner.step(step);
    planner.store(actual);
    std::string wrong = difference(want, got);
    if (wrong.empty()) wrong = difference(expected, actual);
    if (wrong.empty()) wrong = brokenInvariant(expected, edits);
    if (!wrong.empty()) fail(geometry, index, step, wrong);
  }
  coverage.print(geometry.name + (edits ? ", edited tables" : ""));
}

}  // namespace test
