// Host time of an eager launch from a plain C++ loop over the driver API: what doctor's "launch" is held against, the same
// kernel, argument, grid and bursts. Needs no CUDA headers and no device to compile.
// Usage: launch_cost POOL_FATBIN; prints CSV: side,median_us,p10_us,p90_us.
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <vector>

#include "pool/layout.h"

namespace {

constexpr int kBursts = 200;
constexpr int kLaunches = 200;
constexpr unsigned kNonBlocking = 1;  // CU_STREAM_NON_BLOCKING

void check(int result, const char* call) {
  if (result == 0) return;
  std::fprintf(stderr, "launch_cost: %s: CUDA error %d\n", call, result);
  std::exit(1);
}

template <typename Function>
Function* find(void* library, const char* name) {
  void* symbol = dlsym(library, name);
  if (symbol) return reinterpret_cast<Function*>(symbol);
  std::fprintf(stderr, "launch_cost: the driver has no %s\n", name);
  std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (argc != 2 || !driver) {
    std::fprintf(stderr, "launch_cost: %s\n", driver ? "expected the path of pool.fatbin" : "no libcuda.so.1");
    return 2;
  }
  std::ifstream file(argv[1], std::ios::binary);
  const std::vector<char> binary((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());

  int device = 0;
  void* context = nullptr;
  void* module = nullptr;
  void* function = nullptr;
  void* stream = nullptr;
  unsigned long long plan = 0;
  check(find<int(unsigned)>(driver, "cuInit")(0), "cuInit");
  check(find<int(int*, int)>(driver, "cuDeviceGet")(&device, 0), "cuDeviceGet");
  check(find<int(void**, int)>(driver, "cuDevicePrimaryCtxRetain")(&context, device), "cuDevicePrimaryCtxRetain");
  check(find<int(void*)>(driver, "cuCtxSetCurrent")(context), "cuCtxSetCurrent");
  check(find<int(void**, const void*)>(driver, "cuModuleLoadData")(&module, binary.data()), "cuModuleLoadData");
  check(find<int(void**, void*, const char*)>(driver, "cuModuleGetFunction")(&function, module, "smxx_row_copy"),
        "cuModuleGetFunction");
  check(find<int(void**, unsigned)>(driver, "cuStreamCreate")(&stream, kNonBlocking), "cuStreamCreate");
  check(find<int(unsigned long long*, size_t)>(driver, "cuMemAlloc_v2")(&plan, sizeof(pool::StepOutput)), "cuMemAlloc");
  check(find<int(unsigned long long, unsigned char, size_t)>(driver, "cuMemsetD8_v2")(plan, 0, sizeof(pool::StepOutput)),
        "cuMemsetD8");
  const auto launch = find<int(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                               void**)>(driver, "cuLaunchKernel");
  const auto synchronise = find<int(void*)>(driver, "cuStreamSynchronize");

  pool::RowCopyParams params = {};
  params.plan = reinterpret_cast<const pool::StepOutput*>(plan);  // of no copies: the kernel ends at once
  void* arguments[] = {&params};
  std::vector<double> micros;
  for (int burst = -kBursts; burst < kBursts; ++burst) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kLaunches; ++i) {
      check(launch(function, 1, 1, 1, pool::kCopyThreads, 1, 1, 0, stream, arguments, nullptr), "cuLaunchKernel");
    }
    const std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - start;
    check(synchronise(stream), "cuStreamSynchronize");
    if (burst >= 0) micros.push_back(taken.count() / kLaunches);
  }
  std::sort(micros.begin(), micros.end());
  std::printf("side,median_us,p10_us,p90_us\nc++,%.4f,%.4f,%.4f\n", micros[kBursts / 2], micros[kBursts / 10],
              micros[kBursts * 9 / 10]);
  return 0;
}
