/* The stub driver with memory and one kernel: device memory is host memory, and smxx_lru_plan is its own source run on
   the CPU. It holds the binding (argument layout, copies, capture, error paths) to results, never to a device's behaviour.
   EMULATED_FAIL=NAME makes that call fail with CUDA_ERROR_ILLEGAL_ADDRESS (700), EMULATED_FAIL_AFTER=N only from its
   N+1-th use on; at the context's end the number of things not freed is printed to stderr. */
#include "cuda_on_cpu.h"

#include "plan/smxx_lru_plan.cuh"

extern "C" {
extern const char expertpool_stub_driver[];  // in C++ a constant is not exported otherwise
#include "../c/stub_driver.c"
}

#include <string>

namespace {

constexpr int kIllegalAddress = 700;
constexpr int kPlannerHandle = 7;

struct Stream {
  bool capturing = false;
  std::vector<std::function<void()>> captured;
};

using Graph = std::vector<std::function<void()>>;

int alive = 0;
int failures = 0;

int result(const char* call) {
  const char* name = std::getenv("EMULATED_FAIL");
  if (!name || std::string(name) != call) return 0;
  return failures++ < setting("EMULATED_FAIL_AFTER", 0) ? 0 : kIllegalAddress;
}

template <typename T>
int make(const char* call, T** handle) {
  if (const int failed = result(call)) return failed;
  *handle = new T();
  ++alive;
  return 0;
}

template <typename T>
int drop(const char* call, T* handle) {
  delete handle;
  --alive;
  return result(call);
}

int enqueue(const char* call, Stream* stream, std::function<void()> work) {
  if (const int failed = result(call)) return failed;
  if (stream->capturing) {
    stream->captured.push_back(work);
  } else {
    work();
  }
  return 0;
}

}  // namespace

extern "C" {

int cuDevicePrimaryCtxRetain(void** context, int) {
  *context = &alive;
  return result("cuDevicePrimaryCtxRetain");
}
int cuCtxSetCurrent(void*) { return result("cuCtxSetCurrent"); }
int cuDevicePrimaryCtxRelease_v2(int) {
  std::fprintf(stderr, "not freed: %d\n", alive);
  return result("cuDevicePrimaryCtxRelease");
}
int cuModuleLoadData(void** module, const void*) {
  *module = &alive;
  return result("cuModuleLoadData");
}
int cuModuleUnload(void*) { return result("cuModuleUnload"); }
int cuModuleGetFunction(void** function, void*, const char* name) {
  *function = reinterpret_cast<void*>(kPlannerHandle);
  return std::string(name) == "smxx_lru_plan" ? result("cuModuleGetFunction") : 500;
}

int cuMemAlloc_v2(unsigned long long* pointer, size_t bytes) {
  if (const int failed = result("cuMemAlloc")) return failed;
  *pointer = reinterpret_cast<unsigned long long>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  std::memset(reinterpret_cast<void*>(*pointer), 0x5a, bytes);
  ++alive;
  return 0;
}
int cuMemFree_v2(unsigned long long pointer) {
  std::free(reinterpret_cast<void*>(pointer));
  --alive;
  return result("cuMemFree");
}
int cuMemHostAlloc(void** pointer, size_t bytes, unsigned flags) {
  if (flags != 2) return 1;  // device-mapped
  if (const int failed = result("cuMemHostAlloc")) return failed;
  *pointer = std::malloc(bytes);
  ++alive;
  return 0;
}
int cuMemFreeHost(void* pointer) {
  std::free(pointer);
  --alive;
  return result("cuMemFreeHost");
}
int cuMemcpyHtoDAsync_v2(unsigned long long to, const void* from, size_t bytes, Stream* stream) {
  return enqueue("cuMemcpyHtoDAsync", stream, [=] { std::memcpy(reinterpret_cast<void*>(to), from, bytes); });
}
int cuMemcpyDtoHAsync_v2(void* to, unsigned long long from, size_t bytes, Stream* stream) {
  return enqueue("cuMemcpyDtoHAsync", stream, [=] { std::memcpy(to, reinterpret_cast<void*>(from), bytes); });
}

int cuStreamCreate(Stream** stream, unsigned) { return make("cuStreamCreate", stream); }
int cuStreamDestroy_v2(Stream* stream) { return drop("cuStreamDestroy", stream); }
int cuStreamSynchronize(Stream*) { return result("cuStreamSynchronize"); }
int cuStreamBeginCapture_v2(Stream* stream, int) {
  stream->capturing = true;
  return result("cuStreamBeginCapture");
}
int cuStreamEndCapture(Stream* stream, Graph** graph) {
  stream->capturing = false;
  const int failed = make("cuStreamEndCapture", graph);
  if (!failed) (*graph)->swap(stream->captured);
  stream->captured.clear();
  return failed;
}
int cuGraphInstantiateWithFlags(Graph** executable, Graph* graph, unsigned long long) {
  const int failed = make("cuGraphInstantiate", executable);
  if (!failed) **executable = *graph;
  return failed;
}
int cuGraphDestroy(Graph* graph) { return drop("cuGraphDestroy", graph); }
int cuGraphExecDestroy(Graph* executable) { return drop("cuGraphExecDestroy", executable); }
int cuGraphLaunch(Graph* executable, Stream*) {
  if (const int failed = result("cuGraphLaunch")) return failed;
  for (const auto& work : *executable) work();
  return 0;
}

int cuEventCreate(int** event, unsigned) { return make("cuEventCreate", event); }
int cuEventDestroy_v2(int* event) { return drop("cuEventDestroy", event); }
int cuEventRecord(int*, Stream*) { return result("cuEventRecord"); }
int cuEventSynchronize(int*) { return result("cuEventSynchronize"); }
int cuEventElapsedTime(float* milliseconds, int*, int*) {
  *milliseconds = 0.25f;
  return result("cuEventElapsedTime");
}

int cuLaunchKernel(void* function, unsigned blocks, unsigned, unsigned, unsigned threads, unsigned, unsigned,
                   unsigned sharedBytes, Stream* stream, void** arguments, void** extra) {
  const bool asExpected = reinterpret_cast<intptr_t>(function) == kPlannerHandle && blocks == 1 &&
                          threads == pool::kPlanThreads && sharedBytes == 0 && !extra;
  if (!asExpected) return 1;
  const pool::PlanParams params = *static_cast<const pool::PlanParams*>(arguments[0]);
  return enqueue("cuLaunchKernel", stream, [params] {
    cpu::Block block(pool::kPlanThreads, 1, 1);
    block.run([&] { pool::planStep<pool::kPlanThreads, pool::kPlanHeldPairs>(params); });
  });
}

}  // extern "C"
