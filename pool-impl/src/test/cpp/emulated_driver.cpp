/* The stub driver with memory, streams and kernels: device memory is host memory, and kernels are their own source run on
   the CPU. It holds the binding (argument layout, launch shapes, copies, capture, fork and join, error paths) to results,
   never to a device's behaviour. Work waits until the host waits for it, and then runs in a random order that streams, events
   and a captured graph's dependencies allow, so that a missing wait or join shows. EMULATED_FAIL=NAME makes that call fail
   with CUDA_ERROR_ILLEGAL_ADDRESS (700), and as on a device every call after it, or with EMULATED_FAIL_CODE, it alone;
   EMULATED_FAIL_AFTER=N only from its N+1-th use on, EMULATED_FAIL_TIMES=M no more often than that. EMULATED_FAIL_STAIRS=NAMES, comma-separated, makes their first use fail for
   want of memory, then the second one after that, then the third one after that, and so on, from one question for the free
   memory to the next one. Device memory ends at EMULATED_MEMORY_BYTES (1 GiB); at the context's end the number of things
   not freed is printed to stderr. EMULATED_SKIP=KERNEL makes that kernel do nothing, EMULATED_SKIP_AFTER=N only from its
   N+1-th launch on: a comparison that does not see it compares nothing. EMULATED_COUNT=1 also prints how much
   the host enqueued. */
#include "moe_ops_on_cpu.h"

#include "convert/smxx_expert_rows.cuh"
#include "model/smxx_router.cuh"
#include "model/smxx_stand_in.cuh"
#include "moe/smxx_moe_align.cuh"
#include "moe/smxx_moe_decode.cuh"
#include "moe/smxx_moe_general.cuh"
#include "moe/smxx_moe_token.cuh"
#include "moe/smxx_pool_token.cuh"
#include "plan/smxx_lru_plan.cuh"
#include "route/smxx_partition.cuh"
#include "route/smxx_route_forward.cuh"
#include "route/smxx_route_replay.cuh"
#include "rows/smxx_row_copy.cuh"

extern "C" {
extern const char expertpool_stub_driver[];  // in C++ a constant is not exported otherwise

static int setting(const char* name, int otherwise);

// Three multiprocessors, whose blocks take turns, with the shared memory of an H200 or EMULATED_SHARED_BYTES.
static int emulatedAttribute(int attribute) {
  constexpr int kMultiprocessors = 16, kSharedBytes = 97;  // CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, .._PER_BLOCK_OPTIN
  return attribute == kMultiprocessors ? 3 : attribute == kSharedBytes ? setting("EMULATED_SHARED_BYTES", 227 << 10) : attribute;
}
#define STUB_ATTRIBUTE(attribute) emulatedAttribute(attribute)
#include "../c/stub_driver.c"
}

#include <malloc.h>

#include <map>
#include <mutex>
#include <string>

namespace {

constexpr int kInvalidValue = 1;
constexpr int kOutOfMemory = 2;
constexpr int kMaxDynamicSharedBytes = 8;  // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
constexpr int kNotFound = 500;
constexpr int kIllegalAddress = 700;
constexpr int kCaptureUnsupported = 900;
constexpr int kCaptureUnjoined = 904;

using Work = std::function<void()>;

struct Node {
  Work work;
  std::vector<int> after;  // earlier nodes
};
using Graph = std::vector<Node>;

struct Stream;

std::mt19937_64 order(1);
std::recursive_mutex lock;  // slabs are pinned by several threads

// What is being captured: the streams that take part, and how far each of them and of the events has come.
struct Capture {
  Stream* origin;
  Graph graph;
  std::map<Stream*, std::vector<int>> ends;  // last nodes of each stream
};

struct Stream {
  Capture* capture = nullptr;
  std::vector<long> ends;  // last pieces of work, not captured
};

struct Event {
  Capture* capture = nullptr;
  std::vector<int> after;
  std::vector<long> pending;  // as `after`, not captured
};

// Work that was enqueued and not yet run, by number.
struct Pending {
  Work work;
  std::vector<long> after;
};
std::map<long, Pending> pending;
long enqueued = 0;

int alive = 0;
std::map<unsigned long long, size_t> allocated;  // device memory by address
size_t usedBytes = 0;

size_t memoryBytes() { return setting("EMULATED_MEMORY_BYTES", 1 << 30); }

int failures = 0;
bool lost = false;  // an illegal address stays
int launches = 0;  // of the kernel that is to be skipped

// What the host did.
struct {
  int kernels = 0;  // launched outside a capture
  int captures = 0;
  int graphs = 0;  // launched
  int allocations = 0;
} counted;
int captures = 0;

// The stacks of one launch are the next one's: giving them back to the system between takes most of the time.
[[maybe_unused]] const int kept = mallopt(M_TRIM_THRESHOLD, 1 << 30);

bool onStairs = false;
long stair = 0;  // uses that succeed before the next one fails
long climbed = 0;

// For want of memory, or not.
int climb(const char* call) {
  const char* names = std::getenv("EMULATED_FAIL_STAIRS");
  if (!names || !onStairs || ("," + std::string(names) + ",").find("," + std::string(call) + ",") == std::string::npos) return 0;
  if (climbed++ < stair) return 0;
  climbed = 0;
  ++stair;
  return kOutOfMemory;
}

int result(const char* call) {
  const std::lock_guard<std::recursive_mutex> guard(lock);
  if (lost) return kIllegalAddress;
  if (const int failed = climb(call)) return failed;
  const char* name = std::getenv("EMULATED_FAIL");
  if (!name || std::string(name) != call) return 0;
  const long use = failures++ - setting("EMULATED_FAIL_AFTER", 0);
  if (use < 0 || use >= setting("EMULATED_FAIL_TIMES", 1 << 30)) return 0;
  const int failed = setting("EMULATED_FAIL_CODE", kIllegalAddress);
  lost = failed == kIllegalAddress;
  return failed;
}

// As result, of a call that a capture under way forbids.
int outsideCapture(const char* call) { return captures ? kCaptureUnsupported : result(call); }

void count(int change) {
  const std::lock_guard<std::recursive_mutex> guard(lock);
  alive += change;
  counted.allocations += change > 0;
}

template <typename T>
int make(const char* call, T** handle) {
  if (const int failed = result(call)) return failed;
  *handle = new T();
  count(1);
  return 0;
}

void runAll();

template <typename T>
int drop(const char* call, T* handle) {
  runAll();
  delete handle;
  count(-1);
  return result(call);
}

int enqueue(const char* call, Stream* stream, Work work) {
  if (const int failed = result(call)) return failed;
  if (Capture* capture = stream->capture) {
    capture->graph.push_back({work, capture->ends[stream]});
    capture->ends[stream] = {static_cast<int>(capture->graph.size()) - 1};
  } else {
    const std::lock_guard<std::recursive_mutex> guard(lock);
    pending[enqueued] = {work, stream->ends};
    stream->ends = {enqueued++};
  }
  return 0;
}

bool isPending(const std::vector<long>& numbers) {
  for (long number : numbers) {
    if (pending.count(number)) return true;
  }
  return false;
}

// Runs pending work in a random order until these have run.
void runUntil(const std::vector<long>& wanted) {
  const std::lock_guard<std::recursive_mutex> guard(lock);
  while (isPending(wanted)) {
    std::vector<long> ready;
    for (const auto& [number, next] : pending) {
      if (!isPending(next.after)) ready.push_back(number);
    }
    const long next = ready[order() % ready.size()];
    const Work work = pending[next].work;
    work();
    pending.erase(next);
  }
}

// As the driver does before it frees anything.
void runAll() {
  std::vector<long> all;
  for (const auto& [number, next] : pending) all.push_back(number);
  runUntil(all);
}

// Runs every node after those it depends on, otherwise in a random order.
void run(const Graph& graph) {
  std::vector<bool> done(graph.size());
  for (size_t finished = 0; finished < graph.size(); ++finished) {
    std::vector<int> ready;
    for (size_t i = 0; i < graph.size(); ++i) {
      bool free = !done[i];
      for (int before : graph[i].after) free &= done[before];
      if (free) ready.push_back(static_cast<int>(i));
    }
    const int next = ready[order() % ready.size()];
    graph[next].work();
    done[next] = true;
  }
}

struct Grid {
  int blocks;
  int threads;
  int sharedBytes;
};

void runBlocks(const Grid& grid, const std::function<void()>& kernel) {
  std::fill(cpu::dynamicShared().begin(), cpu::dynamicShared().end(), 0xff);
  cpu::Block(grid.threads, grid.blocks, order()).run(kernel);
}

// One kernel: what a launch of it must look like, and its source.
struct Kernel {
  std::function<bool(const void*, const Grid&)> asExpected;
  std::function<Work(const void*, const Grid&)> bind;
  bool together = false;                   // its blocks wait for each other: a cooperative launch
  mutable int mostSharedBytes = 48 << 10;  // dynamic ones of a block, as cuFuncSetAttribute has it
};

template <typename Params, typename Expected, typename Body>
Kernel kernel(const Expected& expected, const Body& body) {
  return {[expected](const void* argument, const Grid& grid) { return expected(*static_cast<const Params*>(argument), grid); },
          [body](const void* argument, const Grid& grid) -> Work {
            const Params params = *static_cast<const Params*>(argument);
            return [=] { runBlocks(grid, [&] { body(params); }); };
          }};
}

int ceilOf(int value, int unit) { return (value + unit - 1) / unit; }

template <typename Type>
Kernel decodeKernel() {
  return kernel<pool::MoeParams>(
      [](const pool::MoeParams& p, const Grid& g) {
        return g.blocks == pool::decodeBlocks(p.tokens * p.topK, p.hidden, p.width) && g.threads == pool::kDecode.threads() &&
               g.sharedBytes == pool::kDecode.sharedBytes(std::max(p.blockLanes, p.missRows == nullptr ? 0 : p.hostLanes));
      },
      [](const pool::MoeParams& p) { pool::decodeMoe<Type>(p, cpu::dynamicShared().data()); });
}

// Blocks that wait for each other: all at the same time, each with shared memory of its own. `moeOf(params)` is the token's
// call, which `beside` blocks take no part in.
template <typename Params, typename MoeOf, typename Body>
Kernel togetherKernel(int beside, const MoeOf& moeOf, const Body& body) {
  return {[=](const void* argument, const Grid& g) {
            const pool::MoeParams& p = moeOf(*static_cast<const Params*>(argument));
            const pool::TokenGrid grid = {p.topK, p.hidden, p.width, g.blocks - beside};
            return p.tokens == 1 && g.blocks == emulatedAttribute(16) && g.threads == pool::kToken.threads() &&
                   grid.fits(emulatedAttribute(97)) && g.sharedBytes == grid.sharedBytes();
          },
          [=](const void* argument, const Grid& g) -> Work {
            const Params p = *static_cast<const Params*>(argument);
            return [=] {
              std::vector<uint8_t> shared(g.blocks * size_t(g.sharedBytes), 0xff);
              cpu::Block::runInTurns(g.threads, g.blocks, order(),
                                     [&] { body(p, shared.data() + blockIdx.x * size_t(g.sharedBytes)); });
            };
          },
          true};
}

template <typename Type>
Kernel tokenKernel() {
  return togetherKernel<pool::MoeParams>(0, [](const pool::MoeParams& p) -> const pool::MoeParams& { return p; },
                                         pool::tokenMoe<Type>);
}

template <typename Type>
Kernel poolTokenKernel() {
  return togetherKernel<pool::PoolTokenParams>(
      1, [](const pool::PoolTokenParams& p) -> const pool::MoeParams& { return p.moe; },
      [](const pool::PoolTokenParams& p, uint8_t* shared) { pool::poolToken<Type>(p.plan, p.moe, shared); });
}

template <typename Product, typename Body>
Kernel alignedKernel(const Body& body) {
  return kernel<pool::MoeParams>(
      [=](const pool::MoeParams& p, const Grid& g) {
        const pool::MoeBlock block = Product::block();
        const int parts = block.parts(p.hidden, p.width);
        return g.blocks > 0 && g.blocks % parts == 0 && g.blocks / parts + p.firstBlock <= p.blocks.maxBlocks &&
               g.threads == block.threads() && g.sharedBytes == block.sharedBytes(block.lanes()) &&
               p.blocks.blockLanes == block.lanes();
      },
      [=](const pool::MoeParams& p) { body(p, cpu::dynamicShared().data()); });
}

template <typename Body>
Kernel overLinkKernel(const Body& body) {
  return kernel<pool::MoeParams>(
      [=](const pool::MoeParams& p, const Grid& g) {
        const pool::MoeBlock block = pool::kAligned32;
        const int parts = block.parts(p.hidden, p.width);
        return g.blocks > 0 && g.blocks % parts == 0 && g.blocks / parts + p.firstBlock <= p.blocks.maxBlocks &&
               g.threads == block.threads() && g.sharedBytes == block.sharedBytes(block.lanes()) &&
               p.blocks.blockLanes <= block.lanes();
      },
      [=](const pool::MoeParams& p) { body(p, cpu::dynamicShared().data()); });
}

template <typename Body>
Kernel alignKernel(const Body& body) {
  return kernel<pool::MoeParams>(
      [](const pool::MoeParams& p, const Grid& g) {
        return g.blocks == ceilOf(p.experts, pool::kAlignThreads / pool::kWarp) && g.threads == pool::kAlignThreads &&
               g.sharedBytes == 0 &&
               p.blocks.maxBlocks == pool::maxLaneBlocks(p.tokens * p.topK, p.experts, p.blocks.blockLanes);
      },
      body);
}

Kernel standInKernel() {
  return kernel<pool::StandInParams>(
      [](const pool::StandInParams& p, const Grid& g) {
        return g.blocks > 0 && g.threads == pool::kStandInThreads && g.sharedBytes == 0 && p.bytes % 16 == 0 &&
               p.bytesPerUnit % 16 == 0;
      },
      pool::standIn<pool::kStandInThreads, pool::kStandInVectors>);
}

// The kernels of the MoE for one type of activations, whose names end in `suffix`.
template <typename Type>
void addMoeKernels(const std::string& suffix, std::map<std::string, Kernel>& all) {
  using Aligned8 = pool::Aligned8<Type>;
  using Aligned16 = pool::Aligned16<Type>;
  using Aligned32 = pool::Aligned32<Type>;
  all.insert({
      {"smxx_moe_decode" + suffix, decodeKernel<Type>()},
      {"smxx_moe_token" + suffix, tokenKernel<Type>()},
      {"smxx_pool_token" + suffix, poolTokenKernel<Type>()},
      {"smxx_moe_gemms_8" + suffix, alignedKernel<Aligned8>(pool::generalGemms<Aligned8>)},
      {"smxx_moe_gemms_16" + suffix, alignedKernel<Aligned16>(pool::generalGemms<Aligned8, Aligned16>)},
      {"smxx_moe_gemms_32" + suffix, alignedKernel<Aligned32>(pool::generalGemms<Aligned8, Aligned16, Aligned32>)},
      {"smxx_moe_host_gemms" + suffix, overLinkKernel(pool::generalGemms<pool::OverLink<Type>>)},
      {"smxx_moe_sum" + suffix, kernel<pool::MoeParams>(
                                    [](const pool::MoeParams& p, const Grid& g) {
                                      return g.blocks == ceilOf(p.tokens * p.hidden / 8, pool::kSumThreads) &&
                                             g.threads == pool::kSumThreads && g.sharedBytes == 0;
                                    },
                                    [](const pool::MoeParams& p) { pool::generalSum<Type>(p); })},
  });
}

std::map<std::string, Kernel> allKernels() {
  std::map<std::string, Kernel> all = {
      {"smxx_lru_plan", kernel<pool::PlanParams>(
                            [](const pool::PlanParams&, const Grid& g) {
                              return g.blocks == 1 && g.threads == pool::kPlanThreads && g.sharedBytes == 0;
                            },
                            [](const pool::PlanParams& p) { pool::planStep<pool::kPlanThreads, pool::kPlanPairs>(p); })},
      {"smxx_partition", kernel<pool::PartitionParams>(
                             [](const pool::PartitionParams& p, const Grid& g) {
                               return g.blocks == 1 && g.threads == pool::kPartitionThreads && g.sharedBytes == 0 &&
                                      p.ringSize > 0;
                             },
                             [](const pool::PartitionParams& p) { pool::partitionLanes(p); })},
      {"smxx_route_forward", kernel<pool::RouteParams>(
                                 [](const pool::RouteParams& p, const Grid& g) {
                                   return g.blocks == p.layers && g.threads == pool::kRouteThreads && g.sharedBytes == 0 &&
                                          p.outputWords % 4 == 0 && p.digest == nullptr;
                                 },
                                 [](const pool::RouteParams& p) { pool::routeForward(p); })},
      {"smxx_route_replay", kernel<pool::RouteParams>(
                                [](const pool::RouteParams& p, const Grid& g) {
                                  return g.blocks == pool::routeBlocks(p.outputWords) && g.threads == pool::kRouteThreads &&
                                         g.sharedBytes == 0 && p.outputWords % 4 == 0;
                                },
                                [](const pool::RouteParams& p) { pool::replayRoute(p); })},
      {"smxx_row_copy", kernel<pool::RowCopyParams>(
                            [](const pool::RowCopyParams&, const Grid& g) {
                              return g.threads == pool::kCopyThreads && g.sharedBytes == 0;
                            },
                            [](const pool::RowCopyParams& p) { pool::copyRows(p); })},
      {"smxx_moe_align", alignKernel(pool::alignLanes)},
      {"smxx_dense_stand_in", standInKernel()},
      {"smxx_kv_stand_in", standInKernel()},
      {"smxx_router_logits", kernel<pool::RouterParams>(
                                 [](const pool::RouterParams& p, const Grid& g) {
                                   return g.blocks == ceilOf(p.experts, pool::kRouterWarps) * ceilOf(p.tokens, pool::kRouterTokens) &&
                                          g.threads == pool::kRouterWarps * pool::kWarp && g.sharedBytes == 0 &&
                                          !pool::refusedRouter(p.tokens, p.hidden, p.experts, p.topK);
                                 },
                                 pool::routerLogits)},
      {"smxx_router_choose", kernel<pool::RouterParams>(
                                 [](const pool::RouterParams& p, const Grid& g) {
                                   return g.blocks == p.tokens && g.threads == pool::kChooseThreads && g.sharedBytes == 0;
                                 },
                                 pool::chooseExperts)},
      {"smxx_scale_counts", kernel<pool::ConvertParams>(
                                [](const pool::ConvertParams& p, const Grid& g) {
                                  return g.blocks == p.experts * pool::kProjections && g.threads == pool::kConvertThreads &&
                                         g.sharedBytes == 0;
                                },
                                pool::countScales)},
      {"smxx_expert_rows", kernel<pool::ConvertParams>(
                               [](const pool::ConvertParams& p, const Grid& g) {
                                 return g.blocks == p.experts * pool::expertTiles(p) && g.threads == pool::kConvertThreads &&
                                        g.sharedBytes == 0;
                               },
                               pool::convertTile)},
  };
  addMoeKernels<pool::Bf16>("", all);
  addMoeKernels<pool::Fp16>("_fp16", all);
  return all;
}

const std::map<std::string, Kernel>& kernels() {
  static const std::map<std::string, Kernel> all = allKernels();
  return all;
}

bool isSkipped(const Kernel& kernel) {
  const std::lock_guard<std::recursive_mutex> guard(lock);
  const char* name = std::getenv("EMULATED_SKIP");
  return name && &kernels().at(name) == &kernel && launches++ >= setting("EMULATED_SKIP_AFTER", 0);
}

}  // namespace

extern "C" {

int cuDevicePrimaryCtxRetain(void** context, int) {
  *context = &alive;
  return result("cuDevicePrimaryCtxRetain");
}
int cuCtxSetCurrent(void*) { return result("cuCtxSetCurrent"); }
int cuDevicePrimaryCtxRelease_v2(int) {
  if (setting("EMULATED_COUNT", 0)) {
    std::fprintf(stderr, "%d kernels, %d captures, %d graphs, %d allocations\n", counted.kernels, counted.captures,
                 counted.graphs, counted.allocations);
  }
  std::fprintf(stderr, "not freed: %d\n", alive);
  return result("cuDevicePrimaryCtxRelease");
}
int cuCtxPushCurrent_v2(void*) { return result("cuCtxPushCurrent"); }
int cuCtxPopCurrent_v2(void** context) {
  *context = &alive;
  return 0;
}
int cuModuleLoadData(void** module, const void*) {
  *module = &alive;
  return result("cuModuleLoadData");
}
int cuModuleUnload(void*) { return result("cuModuleUnload"); }
int cuModuleGetFunction(const void** function, void*, const char* name) {
  const auto found = kernels().find(name);
  if (found == kernels().end()) return kNotFound;
  *function = &found->second;
  return result("cuModuleGetFunction");
}
int cuFuncSetAttribute(const Kernel* kernel, int attribute, int value) {
  if (attribute == kMaxDynamicSharedBytes) kernel->mostSharedBytes = value;
  return result("cuFuncSetAttribute");
}
int cuFuncGetAttribute(int* value, int attribute, const Kernel* kernel) {
  if (attribute != kMaxDynamicSharedBytes) return kInvalidValue;
  *value = kernel->mostSharedBytes;
  return result("cuFuncGetAttribute");
}

int cuMemGetInfo_v2(size_t* free, size_t* total) {
  onStairs = !onStairs;
  stair = climbed = 0;
  *free = memoryBytes() - usedBytes;
  *total = memoryBytes();
  return result("cuMemGetInfo");
}
int cuMemAlloc_v2(unsigned long long* pointer, size_t bytes) {
  if (const int failed = outsideCapture("cuMemAlloc")) return failed;
  if (usedBytes + bytes > memoryBytes()) return kOutOfMemory;
  *pointer = reinterpret_cast<unsigned long long>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  std::memset(reinterpret_cast<void*>(*pointer), 0x5a, bytes);
  usedBytes += allocated[*pointer] = bytes;
  count(1);
  return 0;
}
int cuMemFree_v2(unsigned long long pointer) {
  runAll();
  usedBytes -= allocated[pointer];
  allocated.erase(pointer);
  std::free(reinterpret_cast<void*>(pointer));
  count(-1);
  return outsideCapture("cuMemFree");
}
int cuMemHostAlloc(void** pointer, size_t bytes, unsigned flags) {
  if (flags != 2) return kInvalidValue;  // device-mapped
  if (const int failed = outsideCapture("cuMemHostAlloc")) return failed;
  *pointer = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  std::memset(*pointer, 0x5a, bytes);
  count(1);
  return 0;
}
int cuMemHostRegister_v2(void* memory, size_t, unsigned flags) {
  if ((flags != 2 && flags != 10) || reinterpret_cast<uintptr_t>(memory) % 4096) return kInvalidValue;
  if (const int failed = outsideCapture("cuMemHostRegister")) return failed;
  count(1);
  return 0;
}
int cuMemHostUnregister(void*) {
  count(-1);
  return outsideCapture("cuMemHostUnregister");
}
int cuMemHostGetDevicePointer_v2(unsigned long long* device, void* host, unsigned) {
  *device = reinterpret_cast<unsigned long long>(host);
  return result("cuMemHostGetDevicePointer");
}
int cuMemFreeHost(void* pointer) {
  runAll();
  std::free(pointer);
  count(-1);
  return outsideCapture("cuMemFreeHost");
}
int cuMemcpyHtoDAsync_v2(unsigned long long to, const void* from, size_t bytes, Stream* stream) {
  return enqueue("cuMemcpyHtoDAsync", stream, [=] { std::memcpy(reinterpret_cast<void*>(to), from, bytes); });
}
int cuMemcpyDtoHAsync_v2(void* to, unsigned long long from, size_t bytes, Stream* stream) {
  return enqueue("cuMemcpyDtoHAsync", stream, [=] { std::memcpy(to, reinterpret_cast<void*>(from), bytes); });
}
int cuMemcpyDtoDAsync_v2(unsigned long long to, unsigned long long from, size_t bytes, Stream* stream) {
  return enqueue("cuMemcpyDtoDAsync", stream,
                 [=] { std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes); });
}
int cuMemsetD8Async(unsigned long long to, unsigned char value, size_t bytes, Stream* stream) {
  return enqueue("cuMemsetD8Async", stream, [=] { std::memset(reinterpret_cast<void*>(to), value, bytes); });
}

int cuStreamCreate(Stream** stream, unsigned) { return make("cuStreamCreate", stream); }
int cuStreamDestroy_v2(Stream* stream) { return drop("cuStreamDestroy", stream); }
int cuStreamSynchronize(Stream* stream) {
  if (stream->capture) return kCaptureUnsupported;
  runUntil(stream->ends);
  return result("cuStreamSynchronize");
}
int cuStreamIsCapturing(Stream* stream, int* status) {
  *status = stream->capture ? 1 : 0;
  return result("cuStreamIsCapturing");
}
int cuStreamBeginCapture_v2(Stream* stream, int) {
  stream->capture = new Capture{stream, {}, {}};
  ++counted.captures;
  ++captures;
  return result("cuStreamBeginCapture");
}
int cuStreamEndCapture(Stream* stream, Graph** graph) {
  Capture* capture = stream->capture;
  const std::vector<int>& end = capture->ends[stream];
  // Every other stream's last node must be one that the origin's last nodes come after.
  std::vector<bool> joined(capture->graph.size());
  for (int node : end) joined[node] = true;
  for (int i = static_cast<int>(joined.size()) - 1; i >= 0; --i) {
    for (int before : capture->graph[i].after) joined[before] = joined[before] || joined[i];
  }
  bool all = true;
  for (const auto& [other, nodes] : capture->ends) {
    for (int node : nodes) all &= joined[node];
    other->capture = nullptr;
  }
  --captures;
  int failed = all ? 0 : kCaptureUnjoined;
  if (!failed) failed = make("cuStreamEndCapture", graph);
  if (!failed) (*graph)->swap(capture->graph);
  delete capture;
  return failed;
}
int cuGraphInstantiateWithFlags(Graph** executable, Graph* graph, unsigned long long) {
  const int failed = make("cuGraphInstantiate", executable);
  if (!failed) **executable = *graph;
  return failed;
}
int cuGraphDestroy(Graph* graph) { return drop("cuGraphDestroy", graph); }
int cuGraphExecDestroy(Graph* executable) { return drop("cuGraphExecDestroy", executable); }
int cuGraphLaunch(Graph* executable, Stream* stream) {
  ++counted.graphs;
  return enqueue("cuGraphLaunch", stream, [graph = *executable] { run(graph); });
}

// The host writes before it waits for what comes after: what is not there when its turn comes would never be.
int cuStreamWaitValue32_v2(Stream* stream, unsigned long long address, unsigned value, unsigned flags) {
  if (flags != 1) return kInvalidValue;  // equal
  return enqueue("cuStreamWaitValue32", stream, [=] {
    if (*reinterpret_cast<const volatile unsigned*>(address) == value) return;
    std::fprintf(stderr, "waits for ever for a value of %u\n", value);
    std::_Exit(3);
  });
}
int cuStreamWriteValue32_v2(Stream* stream, unsigned long long address, unsigned value, unsigned) {
  return enqueue("cuStreamWriteValue32", stream, [=] { *reinterpret_cast<volatile unsigned*>(address) = value; });
}

int cuEventCreate(Event** event, unsigned) { return make("cuEventCreate", event); }
int cuEventDestroy_v2(Event* event) { return drop("cuEventDestroy", event); }
int cuEventRecord(Event* event, Stream* stream) {
  event->capture = stream->capture;
  event->after = stream->capture ? stream->capture->ends[stream] : std::vector<int>();
  event->pending = stream->ends;
  return result("cuEventRecord");
}
int cuStreamWaitEvent(Stream* stream, Event* event, unsigned) {
  if (event->capture) {
    stream->capture = event->capture;
    std::vector<int>& ends = event->capture->ends[stream];
    ends.insert(ends.end(), event->after.begin(), event->after.end());
  } else {
    stream->ends.insert(stream->ends.end(), event->pending.begin(), event->pending.end());
  }
  return result("cuStreamWaitEvent");
}
int cuEventSynchronize(Event* event) {
  runUntil(event->pending);
  return outsideCapture("cuEventSynchronize");
}
int cuEventElapsedTime(float* milliseconds, Event*, Event*) {
  *milliseconds = 0.25f;
  return result("cuEventElapsedTime");
}

static int launch(const char* call, const Kernel& kernel, const Grid& grid, Stream* stream, void** arguments) {
  counted.kernels += !stream->capture;
  if (isSkipped(kernel)) return enqueue(call, stream, [] {});
  if (grid.sharedBytes > kernel.mostSharedBytes || !kernel.asExpected(arguments[0], grid)) return kInvalidValue;
  return enqueue(call, stream, kernel.bind(arguments[0], grid));
}
int cuLaunchKernel(void* function, unsigned blocks, unsigned, unsigned, unsigned threads, unsigned, unsigned,
                   unsigned sharedBytes, Stream* stream, void** arguments, void** extra) {
  const Kernel& kernel = *static_cast<const Kernel*>(function);
  const Grid grid = {static_cast<int>(blocks), static_cast<int>(threads), static_cast<int>(sharedBytes)};
  return extra || kernel.together ? kInvalidValue : launch("cuLaunchKernel", kernel, grid, stream, arguments);
}
int cuLaunchCooperativeKernel(void* function, unsigned blocks, unsigned, unsigned, unsigned threads, unsigned, unsigned,
                              unsigned sharedBytes, Stream* stream, void** arguments) {
  const Kernel& kernel = *static_cast<const Kernel*>(function);
  const Grid grid = {static_cast<int>(blocks), static_cast<int>(threads), static_cast<int>(sharedBytes)};
  return kernel.together ? launch("cuLaunchCooperativeKernel", kernel, grid, stream, arguments) : kInvalidValue;
}

}  // extern "C"
