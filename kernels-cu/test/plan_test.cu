// Conformance and timing of the planner and the row copy on a GPU. Arguments: steps, seed, folder for the CSV files.
//
// Order: correctness at every geometry first (eager, then replayed from a graph with changing inputs), then the copies,
// then times. Any difference ends the program with status 1.
#include <algorithm>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "conformance.h"
#include "gpu_buffers.h"
#include "plan/smxx_lru_plan.cu"
#include "route/smxx_route_replay.cu"
#include "route_case.h"
#include "row_copy_case.h"
#include "rows/smxx_row_copy.cu"

namespace {

using test::DeviceBuffer;
using test::Geometry;
using test::PinnedBuffer;
using test::Step;
using test::StepResult;
using test::TableSlab;

// Other block sizes than the entry point's, for the timing table.
template <int kThreads, int kPairs>
__global__ void __launch_bounds__(kThreads, 1) planWith(const __grid_constant__ pool::PlanParams params) {
  pool::planStep<kThreads, kPairs>(params);
}

// What a graph node of that size costs by itself.
template <int kThreads>
__global__ void __launch_bounds__(kThreads, 1) idle(const __grid_constant__ pool::PlanParams params) {
  if (params.lanes < 0) params.stepMap[threadIdx.x] = 0;
}

// The pool's tables on the device, and the inputs and outputs of a whole forward, one set a layer.
class DevicePool {
 public:
  explicit DevicePool(const Geometry& geometry)
      : g(geometry),
        layout_(geometry),
        slab_(layout_.bytes),
        ids_(geometry.layers * pool::kMaxLanes),
        weights_(geometry.layers * pool::kMaxLanes),
        outputs_(geometry.layers),
        stepMaps_(size_t(geometry.layers) * geometry.experts) {}

  void load(TableSlab& from) { slab_.upload(static_cast<uint8_t*>(from.bytes()), from.size()); }
  void store(TableSlab& to) { slab_.download(static_cast<uint8_t*>(to.bytes()), to.size()); }

  void setInputs(const Step& step) {
    ids_.upload(step.ids.data(), step.ids.size(), step.layer * pool::kMaxLanes);
    weights_.upload(step.weights.data(), step.weights.size(), step.layer * pool::kMaxLanes);
  }

  // Inputs of a forward in one transfer each; steps[l] is layer l's.
  void setForward(const std::vector<Step>& steps) {
    std::vector<int32_t> ids(g.layers * pool::kMaxLanes, -1);
    std::vector<float> weights(g.layers * pool::kMaxLanes);
    for (const Step& step : steps) {
      std::copy(step.ids.begin(), step.ids.end(), ids.begin() + step.layer * pool::kMaxLanes);
      std::copy(step.weights.begin(), step.weights.end(), weights.begin() + step.layer * pool::kMaxLanes);
    }
    ids_.upload(ids.data(), ids.size());
    weights_.upload(weights.data(), weights.size());
  }

  void poisonOutputs() {
    POOL_CUDA_CHECK(cudaMemset(outputs_.data(), 0x5a, outputs_.bytes()));
    POOL_CUDA_CHECK(cudaMemset(stepMaps_.data(), 0x5a, stepMaps_.bytes()));
  }

  pool::PlanParams params(int layer, int lanes) {
    return {layout_.at(slab_.data(), g),
            ids_.data() + layer * pool::kMaxLanes,
            weights_.data() + layer * pool::kMaxLanes,
            outputs_.data() + layer,
            stepMaps_.data() + size_t(layer) * g.experts,
            layer,
            lanes};
  }

  StepResult result(int layer, size_t lanes) {
    pool::StepOutput output;
    std::vector<int32_t> stepMap(g.experts);
    outputs_.download(&output, 1, layer);
    stepMaps_.download(stepMap.data(), stepMap.size(), size_t(layer) * g.experts);
    return test::resultOf(output, stepMap, lanes);
  }

  pool::StepOutput* output(int layer) { return outputs_.data() + layer; }

  const Geometry g;

 private:
  test::SlabLayout layout_;
  DeviceBuffer<uint8_t> slab_;
  DeviceBuffer<int32_t> ids_;
  DeviceBuffer<float> weights_;
  DeviceBuffer<pool::StepOutput> outputs_;
  DeviceBuffer<int32_t> stepMaps_;
};

void launchPlan(const pool::PlanParams& params, cudaStream_t stream) {
  smxx_lru_plan<<<1, pool::kPlanThreads, 0, stream>>>(params);
  POOL_CUDA_CHECK(cudaGetLastError());
}

void launchCopy(const pool::RowCopyParams& params, int blocks, cudaStream_t stream) {
  smxx_row_copy<<<blocks, pool::kCopyThreads, 0, stream>>>(params);
  POOL_CUDA_CHECK(cudaGetLastError());
}

class EagerPlanner {
 public:
  explicit EagerPlanner(const Geometry& geometry) : pool_(geometry) {}

  void load(TableSlab& from) { pool_.load(from); }
  void store(TableSlab& to) { pool_.store(to); }

  StepResult step(const Step& step) {
    pool_.poisonOutputs();
    pool_.setInputs(step);
    launchPlan(pool_.params(step.layer, static_cast<int>(step.ids.size())), nullptr);
    POOL_CUDA_CHECK(cudaDeviceSynchronize());
    return pool_.result(step.layer, step.ids.size());
  }

 private:
  DevicePool pool_;
};

// One forward a replay: inputs change between replays, the graph does not. Tables are compared after each replay,
// outputs for each of its steps.
void compareReplays(const Geometry& geometry, long forwards, uint64_t seed, bool edits) {
  DevicePool device(geometry);
  TableSlab expected(geometry);
  TableSlab actual(geometry);
  test::StepStream stream(geometry, seed);
  test::Coverage coverage;
  test::Graph graph([&](cudaStream_t capture) {
    for (int layer = 0; layer < geometry.layers; ++layer) launchPlan(device.params(layer, geometry.lanes()), capture);
  });
  for (long forward = 0; forward < forwards; ++forward) {
    if (test::disturb(stream, expected, forward, edits)) device.load(expected);
    std::vector<Step> steps;
    for (int layer = 0; layer < geometry.layers; ++layer) steps.push_back(stream.full(layer));
    device.poisonOutputs();
    device.setForward(steps);
    graph.replay();
    POOL_CUDA_CHECK(cudaDeviceSynchronize());
    for (const Step& step : steps) {
      TableSlab before = expected;
      const StepResult want = test::referenceStep(expected, step.layer, step.ids, step.weights);
      test::count(coverage, before, step, want);
      const std::string wrong = test::difference(want, device.result(step.layer, step.ids.size()));
      if (!wrong.empty()) test::fail(geometry, forward, step, "in a replay: " + wrong);
    }
    device.store(actual);
    const std::string wrong = test::difference(expected, actual);
    if (!wrong.empty()) test::fail(geometry, forward, steps.back(), "tables after a replay: " + wrong);
  }
  coverage.print(geometry.name + ", replayed" + (edits ? ", edited tables" : ""));
}

void rowCopyCases(uint64_t seed) {
  for (int blocks : {1, 2, 7, 16, 64, 132}) {
    test::RowCopyCase rows(seed + blocks);
    PinnedBuffer<test::Bytes16> source(rows.source.size());
    std::copy(rows.source.begin(), rows.source.end(), source.data());
    std::vector<const uint8_t*> table;
    test::RowCopyCase::layerTable(source.deviceView(), table);
    DeviceBuffer<const uint8_t*> layers(table.size());
    layers.upload(table.data(), table.size());
    DeviceBuffer<test::Bytes16> bank(rows.bank.size());
    bank.upload(rows.bank.data(), rows.bank.size());
    DeviceBuffer<pool::StepOutput> plan(1);
    plan.upload(&rows.plan, 1);
    launchCopy(rows.params(*plan.data(), layers.data(), bank.data()), blocks, nullptr);
    POOL_CUDA_CHECK(cudaDeviceSynchronize());
    std::vector<test::Bytes16> copied(rows.bank.size());
    bank.download(copied.data(), copied.size());
    rows.check(copied, blocks);
  }
}

template <typename T>
class DeviceMemory : public DeviceBuffer<T> {
 public:
  using DeviceBuffer<T>::DeviceBuffer;
  void set(const std::vector<T>& values) { this->upload(values.data(), values.size()); }
  std::vector<T> get() const {
    std::vector<T> values(this->count());
    this->download(values.data(), values.size());
    return values;
  }
};

void routing(uint64_t seed) {
  for (const test::RouteShape& shape : test::routeShapes()) {
    test::RouteCase<DeviceMemory> replay(shape, seed);
    replay.run(40, [](const pool::RouteParams& p, int blocks) {
      smxx_route_replay<<<blocks, pool::kRouteThreads>>>(p);
      POOL_CUDA_CHECK(cudaDeviceSynchronize());
    });
  }
}

// A host source of one layer's rows, shared by all layers, and a bank of rows as wide as the model's.
struct RowSource {
  RowSource(int experts, int bankRows, uint64_t rowBytes, int layers)
      : rowBytes(rowBytes), bankRows(bankRows), host(experts * rowBytes / 16), bank(bankRows * rowBytes / 16),
        slabs(layers) {
    for (size_t i = 0; i < host.count(); ++i) host.data()[i] = pattern(i * 16 / rowBytes, i * 16 % rowBytes / 16);
    const std::vector<const uint8_t*> table(layers, reinterpret_cast<const uint8_t*>(host.deviceView()));
    slabs.upload(table.data(), table.size());
  }

  // 16 bytes that name the expert and the place in its row.
  static test::Bytes16 pattern(uint64_t expert, uint64_t index) {
    test::Bytes16 bytes;
    const uint64_t words[2] = {expert * 0x9e3779b97f4a7c15u + index, index * 0xc2b2ae3d27d4eb4fu ^ expert};
    std::memcpy(bytes.byte, words, sizeof words);
    return bytes;
  }

  pool::RowCopyParams params(const pool::StepOutput* plan, int layer) {
    pool::RowCopyParams p = {};
    p.plan = plan;
    p.sourceLayers = slabs.data();
    p.sourceRowBytes = rowBytes;
    p.parts[0] = {reinterpret_cast<uint8_t*>(bank.data()), rowBytes, 0, rowBytes};
    p.layer = layer;
    p.partCount = 1;
    return p;
  }

  void checkRow(int row, int expert, const char* what) {
    std::vector<test::Bytes16> got(rowBytes / 16);
    bank.download(got.data(), got.size(), size_t(row) * rowBytes / 16);
    for (uint64_t i = 0; i < got.size(); ++i) {
      const test::Bytes16 want = pattern(expert, i);
      if (std::memcmp(&want, &got[i], sizeof want) == 0) continue;
      std::fprintf(stderr, "%s: bank row %d is not expert %d at byte %llu\n", what, row, expert,
                   static_cast<unsigned long long>(i * 16));
      std::exit(1);
    }
  }

  uint64_t rowBytes;
  int bankRows;
  PinnedBuffer<test::Bytes16> host;
  DeviceBuffer<test::Bytes16> bank;
  DeviceBuffer<const uint8_t*> slabs;
};

// Plan and copy in one graph: after each replay every resident expert's bytes are in its bank row, and so are the last
// layer's staged ones.
void planAndCopyReplays(long forwards, uint64_t seed) {
  const Geometry geometry = {"plan-and-copy", 3, 24, 4, 2, 9};
  DevicePool device(geometry);
  RowSource rows(geometry.experts, geometry.rows(), 1024 + 16, geometry.layers);
  TableSlab expected(geometry);
  test::StepStream stream(geometry, seed);
  std::vector<test::Bytes16> start(rows.bank.count());
  for (int row = 0; row < geometry.poolRows(); ++row) {
    for (uint64_t i = 0; i < rows.rowBytes / 16; ++i) {
      start[row * rows.rowBytes / 16 + i] = RowSource::pattern(row % geometry.rowsPerLayer, i);
    }
  }
  rows.bank.upload(start.data(), start.size());
  test::Graph graph([&](cudaStream_t capture) {
    for (int layer = 0; layer < geometry.layers; ++layer) {
      launchPlan(device.params(layer, geometry.lanes()), capture);
      launchCopy(rows.params(device.output(layer), layer), 5, capture);
    }
  });
  for (long forward = 0; forward < forwards; ++forward) {
    if (test::disturb(stream, expected, forward, false)) device.load(expected);
    std::vector<Step> steps;
    for (int layer = 0; layer < geometry.layers; ++layer) steps.push_back(stream.full(layer));
    device.setForward(steps);
    graph.replay();
    POOL_CUDA_CHECK(cudaDeviceSynchronize());
    StepResult last;
    for (const Step& step : steps) last = test::referenceStep(expected, step.layer, step.ids, step.weights);
    const pool::PlanTables t = expected.tables();
    for (int row = 0; row < geometry.poolRows(); ++row) {
      rows.checkRow(row, t.rowKey[row] % geometry.experts, "plan and copy");
    }
    for (const auto& copy : last.copies) rows.checkRow(copy.second, copy.first, "plan and copy, last layer");
  }
  std::printf("plan and copy: every resident row equal to its source after each of %ld replays\n", forwards);
}

// Bank offsets beyond 2^31 and 2^32 bytes, at the real row size.
void farRows() {
  const int bankRows = 1700;
  RowSource rows(4, bankRows, 2764800, 1);
  pool::StepOutput plan = {};
  plan.promoted = 4;
  const int targets[] = {0, 777, 1554, bankRows - 1};
  for (int i = 0; i < 4; ++i) plan.copies[i] = {i, targets[i]};
  DeviceBuffer<pool::StepOutput> output(1);
  output.upload(&plan, 1);
  launchCopy(rows.params(output.data(), 0), 32, nullptr);
  POOL_CUDA_CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 4; ++i) rows.checkRow(targets[i], i, "far rows");
  std::printf("row copy: rows beyond 2^31 and 2^32 bytes as expected\n");
}

// Steps whose layer calls have exactly this many misses each, by the reference's tables.
std::vector<Step> imposedMisses(TableSlab& tables, test::StepStream& stream, int misses) {
  const Geometry& g = tables.geometry;
  std::vector<Step> steps;
  for (int layer = 0; layer < g.layers; ++layer) {
    const int32_t* hotRow = tables.tables().hotRow + layer * g.experts;
    Step step{layer, {}, {}};
    while (static_cast<int>(step.ids.size()) < g.topK) {
      const int32_t expert = stream.below(g.experts);
      const bool wantMiss = static_cast<int>(step.ids.size()) < misses;
      const bool taken = std::find(step.ids.begin(), step.ids.end(), expert) != step.ids.end();
      if (taken || (hotRow[expert] < 0) != wantMiss) continue;
      step.ids.push_back(expert);
      step.weights.push_back(0.1f);
    }
    const StepResult result = test::referenceStep(tables, layer, step.ids, step.weights);
    if (result.promoted != misses) test::fail(g, 0, step, "imposed misses are not all promoted");
    steps.push_back(step);
  }
  return steps;
}

// One graph of all layers; microseconds a layer over the replays, first warm ones dropped.
struct Times {
  double median, p10, p90;
};

Times timeForwards(DevicePool& device, int misses, uint64_t seed, const std::function<void(int, cudaStream_t)>& layerCall) {
  TableSlab tables(device.g);
  tables.controls().gate = 1;
  test::StepStream stream(device.g, seed);
  device.load(tables);
  test::Graph graph([&](cudaStream_t capture) {
    for (int layer = 0; layer < device.g.layers; ++layer) layerCall(layer, capture);
  });
  std::vector<double> micros;
  constexpr int kWarm = 8;
  constexpr int kTimed = 40;
  for (int replay = 0; replay < kWarm + kTimed; ++replay) {
    device.setForward(imposedMisses(tables, stream, misses));
    const double us = graph.timedReplayMicros();
    if (replay >= kWarm) micros.push_back(us / device.g.layers);
  }
  TableSlab actual(device.g);
  device.store(actual);
  const std::string wrong = test::difference(tables, actual);
  if (!wrong.empty()) {
    std::fprintf(stderr, "tables after timing %d misses: %s\n", misses, wrong.c_str());
    std::exit(1);
  }
  std::sort(micros.begin(), micros.end());
  return {micros[micros.size() / 2], micros[micros.size() / 10], micros[micros.size() * 9 / 10]};
}

template <int kThreads, int kPairs>
void timePlanner(DevicePool& device, std::ofstream& csv, uint64_t seed) {
  for (int misses : {0, 1, 2, 5, 10}) {
    const Times t = timeForwards(device, misses, seed, [&](int layer, cudaStream_t stream) {
      planWith<kThreads, kPairs><<<1, kThreads, 0, stream>>>(device.params(layer, device.g.topK));
    });
    csv << kThreads << ",none," << misses << ',' << t.median << ',' << t.p10 << ',' << t.p90 << '\n';
    std::printf("planner, %4d threads, %2d misses: %7.2f us a layer (p10 %.2f, p90 %.2f)\n", kThreads, misses, t.median,
                t.p10, t.p90);
  }
}

void timeIdle(DevicePool& device) {
  test::Graph graph([&](cudaStream_t capture) {
    for (int layer = 0; layer < device.g.layers; ++layer) {
      idle<pool::kPlanThreads><<<1, pool::kPlanThreads, 0, capture>>>(device.params(layer, device.g.topK));
    }
  });
  std::vector<double> micros;
  for (int replay = 0; replay < 40; ++replay) micros.push_back(graph.timedReplayMicros() / device.g.layers);
  std::sort(micros.begin(), micros.end());
  std::printf("a node of %d threads that does nothing: %.2f us\n", pool::kPlanThreads, micros[micros.size() / 2]);
}

void timeAll(const std::string& folder, uint64_t seed) {
  const Geometry geometry = {"qwen3.8-flash-next", 48, 512, 10, 1, 258};
  DevicePool device(geometry);
  std::ofstream planner(folder + "/planner.csv");
  planner << "threads,copy_blocks,misses,median_us_per_layer,p10_us,p90_us\n";
  timeIdle(device);
  timePlanner<256, 28>(device, planner, seed);
  timePlanner<512, 14>(device, planner, seed);
  timePlanner<1024, 7>(device, planner, seed);

  // One pinned layer of rows stands for all 48: each replay draws other experts, and no cache holds 1.4 GB.
  RowSource rows(geometry.experts, geometry.rows(), 2764800, geometry.layers);
  for (int blocks : {8, 16, 32, 64, 132}) {
    for (int misses : {0, 1, 2, 5, 10}) {
      const Times t = timeForwards(device, misses, seed, [&](int layer, cudaStream_t stream) {
        launchPlan(device.params(layer, geometry.topK), stream);
        launchCopy(rows.params(device.output(layer), layer), blocks, stream);
      });
      planner << pool::kPlanThreads << ',' << blocks << ',' << misses << ',' << t.median << ',' << t.p10 << ',' << t.p90
              << '\n';
      std::printf("plan and copy, %3d blocks, %2d misses: %7.2f us a layer (p10 %.2f, p90 %.2f)\n", blocks, misses,
                  t.median, t.p10, t.p90);
    }
  }

  std::ofstream copy(folder + "/row_copy.csv");
  copy << "blocks,copies,median_us,gb_per_s\n";
  std::vector<pool::StepOutput> plans(geometry.layers);
  test::StepStream stream(geometry, seed);
  for (int blocks : {4, 8, 16, 32, 64, 132}) {
    for (int copies : {1, 2, 5, 10}) {
      for (pool::StepOutput& plan : plans) {
        plan.promoted = copies;
        for (int i = 0; i < copies; ++i) plan.copies[i] = {stream.below(geometry.experts), stream.below(geometry.poolRows())};
      }
      DeviceBuffer<pool::StepOutput> outputs(plans.size());
      outputs.upload(plans.data(), plans.size());
      test::Graph graph([&](cudaStream_t capture) {
        for (int i = 0; i < geometry.layers; ++i) launchCopy(rows.params(outputs.data() + i, i), blocks, capture);
      });
      std::vector<double> micros;
      for (int replay = 0; replay < 9; ++replay) micros.push_back(graph.timedReplayMicros() / geometry.layers);
      std::sort(micros.begin() + 2, micros.end());
      const double median = micros[2 + (micros.size() - 2) / 2];
      const double rate = copies * double(rows.rowBytes) / median / 1e3;
      copy << blocks << ',' << copies << ',' << median << ',' << rate << '\n';
      std::printf("row copy, %3d blocks, %2d rows: %7.2f us, %.1f GB/s\n", blocks, copies, median, rate);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const long steps = argc > 1 ? std::atol(argv[1]) : 2000;
  const uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  const std::string folder = argc > 3 ? argv[3] : ".";
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::fprintf(stderr, "plan_test: no CUDA device; the kernels' logic is tested without one by test/run-on-cpu\n");
    return 1;
  }
  cudaDeviceProp device;
  POOL_CUDA_CHECK(cudaGetDeviceProperties(&device, 0));
  std::printf("%s, compute %d.%d, %d multiprocessors, %.1f GiB\n", device.name, device.major, device.minor,
              device.multiProcessorCount, device.totalGlobalMem / 1073741824.0);
  for (const Geometry& geometry : test::geometries()) {
    const long few = geometry.poolRows() > 2000 ? std::max(1L, steps / 10) : steps;
    for (bool edits : {false, true}) {
      EagerPlanner planner(geometry);
      test::compareEveryStep(geometry, planner, few, seed + edits, edits);
      compareReplays(geometry, std::max(1L, few / geometry.layers), seed + 2 + edits, edits);
    }
  }
  rowCopyCases(seed);
  routing(seed);
  planAndCopyReplays(std::max(1L, steps / 50), seed);
  farRows();
  std::printf("kernels on the GPU: all equal to the reference\n");
  timeAll(folder, seed);
  return 0;
}
