// The kernels' source, run on the CPU by fibers and compared with the reference. Arguments: steps, seed.
#include "cuda_on_cpu.h"

#include "conformance.h"
#include "partition_case.h"
#include "plan/smxx_lru_plan.cuh"
#include "route/smxx_partition.cuh"
#include "route/smxx_route_replay.cuh"
#include "route_case.h"
#include "row_copy_case.h"
#include "rows/smxx_row_copy.cuh"

namespace {

// The planner's source with this many threads a block and pairs of rows read at once by each.
template <int kThreads, int kPairs>
class EmulatedPlanner {
 public:
  EmulatedPlanner(const test::Geometry& geometry, uint64_t seed)
      : slab_(geometry), stepMap_(geometry.experts), block_(kThreads, 1, seed) {}

  void load(test::TableSlab& from) { std::memcpy(slab_.bytes(), from.bytes(), from.size()); }
  void store(test::TableSlab& to) { std::memcpy(to.bytes(), slab_.bytes(), to.size()); }

  test::StepResult step(const test::Step& step) {
    std::memset(&output_, 0x5a, sizeof output_);
    std::fill(stepMap_.begin(), stepMap_.end(), 0x5a5a5a5a);
    const pool::PlanParams params = {slab_.tables(), step.ids.data(), step.weights.data(),
                                     &output_,       stepMap_.data(), step.layer,
                                     static_cast<int32_t>(step.ids.size())};
    block_.run([&] { pool::planStep<kThreads, kPairs>(params); });
    return test::resultOf(output_, stepMap_, step.ids.size());
  }

 private:
  test::TableSlab slab_;
  std::vector<int32_t> stepMap_;
  pool::StepOutput output_;
  cpu::Block block_;
};

template <int kThreads, int kPairs>
void planner(const test::Geometry& geometry, long steps, uint64_t seed) {
  for (bool edits : {false, true}) {
    EmulatedPlanner<kThreads, kPairs> planner(geometry, seed);
    test::compareEveryStep(geometry, planner, steps, seed + edits, edits);
  }
}

void rowCopy(int blocks, uint64_t seed) {
  test::RowCopyCase rows(seed);
  const pool::RowCopyParams params = rows.params(rows.plan, rows.layers.data(), rows.bank.data());
  cpu::Block grid(pool::kCopyThreads, blocks, seed);
  grid.run([&] { pool::copyRows(params); });
  rows.check(rows.bank, blocks);
}

void partition(int layers, int experts, int lanes, int ringSize, uint64_t seed) {
  test::PartitionCase call(layers, experts, lanes, ringSize, seed);
  std::vector<int32_t> safeIds(lanes, 0x5a5a5a5a), ringRows(experts, 0x5a5a5a5a);
  pool::PartitionOutput output;
  std::memset(&output, 0x5a, sizeof output);
  const pool::PartitionParams params = call.params(safeIds.data(), ringRows.data(), &output);
  cpu::Block(pool::kPartitionThreads, 1, seed).run([&] { pool::partitionLanes(params); });
  call.check(safeIds, ringRows, output);
}

template <typename T>
class CpuMemory {
 public:
  explicit CpuMemory(size_t count) : values_(new Aligned[(count * sizeof(T) + 15) / 16]), count_(count) {
    std::memset(values_.get(), 0x5a, count * sizeof(T));
  }
  T* data() { return reinterpret_cast<T*>(values_.get()); }
  void set(const std::vector<T>& values) { std::memcpy(values_.get(), values.data(), count_ * sizeof(T)); }
  std::vector<T> get() { return {data(), data() + count_}; }

 private:
  struct alignas(16) Aligned {
    char bytes[16];
  };
  std::unique_ptr<Aligned[]> values_;
  size_t count_;
};

void routing(const test::RouteShape& shape, uint64_t seed) {
  test::RouteCase<CpuMemory> replay(shape, seed);
  replay.run(7, [&](const pool::RouteParams& p, int blocks) {
    cpu::Block(pool::kRouteThreads, blocks, ++seed).run([&] { pool::replayRoute(p); });
  });
}

}  // namespace

int main(int argc, char** argv) {
  const long steps = argc > 1 ? std::atol(argv[1]) : 400;
  const uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  for (const test::Geometry& geometry : test::geometries()) {
    const long few = geometry.poolRows() > 2000 ? std::max(1L, steps / 10) : steps;
    planner<64, 3>(geometry, few, seed);
    planner<pool::kPlanThreads, pool::kPlanPairs>(geometry, std::max(1L, few / 10), seed + 100);
  }
  for (int blocks : {1, 2, 7, 64}) rowCopy(blocks, seed + blocks);
  for (const test::RouteShape& shape : test::routeShapes()) routing(shape, seed);
  for (int round = 0; round < 6; ++round) {
    partition(3, 512, 5120, 128, seed + round);
    partition(2, 4096, 3000, 100, seed + round);
    partition(1, 1, 1, 1, seed + round);
    partition(4, 13, 0, 3, seed + round);
    partition(5, 33, 1025, 7, seed + round);
  }
  std::printf("kernels on the CPU: all equal to the reference\n");
  return 0;
}
