// Router and stand-ins on a GPU: equality with plain loops, then times. Arguments: seed, folder for the CSV files.
#include <algorithm>
#include <fstream>
#include <memory>
#include <string>

#include "gpu_buffers.h"
#include "model/smxx_router.cu"
#include "model/smxx_stand_in.cu"
#include "router_twin.h"

namespace {

using test::DeviceBuffer;

template <int kThreads, int kVectors>
__global__ void __launch_bounds__(kThreads, 1024 / kThreads) standInWith(const __grid_constant__ pool::StandInParams params) {
  pool::standIn<kThreads, kVectors>(params);
}

__global__ void exponentials(float* values, int count) {
  for (int i = threadIdx.x; i < count; i += blockDim.x) values[i] = pool::expFp32(values[i]);
}

void require(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

double median(std::vector<double> values, int warm) {
  std::sort(values.begin() + warm, values.end());
  return values[warm + (values.size() - warm) / 2];
}

// A call's buffers on the device.
struct RouterBuffers {
  explicit RouterBuffers(const test::RouterCase& c)
      : activations(c.activations.size()), matrix(c.matrix.size()), logits(size_t(c.tokens) * c.experts),
        ids(size_t(c.tokens) * c.topK), weights(ids.count()) {
    activations.upload(c.activations.data(), c.activations.size());
    matrix.upload(c.matrix.data(), c.matrix.size());
    params = {activations.data(), matrix.data(), logits.data(), ids.data(), weights.data(),
              c.tokens,           c.hidden,      c.experts,     c.topK};
  }

  void launch(cudaStream_t stream) {
    const int groups = (params.tokens + pool::kRouterTokens - 1) / pool::kRouterTokens;
    const int blocks = (params.experts + pool::kRouterWarps - 1) / pool::kRouterWarps * groups;
    smxx_router_logits<<<blocks, pool::kRouterWarps * pool::kWarp, 0, stream>>>(params);
    smxx_router_choose<<<params.tokens, pool::kChooseThreads, 0, stream>>>(params);
    POOL_CUDA_CHECK(cudaGetLastError());
  }

  DeviceBuffer<uint16_t> activations, matrix;
  DeviceBuffer<float> logits;
  DeviceBuffer<int32_t> ids;
  DeviceBuffer<float> weights;
  pool::RouterParams params;
};

void routerCase(int tokens, int hidden, int experts, int topK, uint64_t seed, bool ties) {
  const test::RouterCase c(tokens, hidden, experts, topK, seed, ties);
  RouterBuffers device(c);
  for (int repeat = 0; repeat < 2; ++repeat) device.launch(nullptr);
  POOL_CUDA_CHECK(cudaDeviceSynchronize());
  test::Routing got;
  got.logits.resize(device.logits.count());
  got.ids.resize(device.ids.count());
  got.weights.resize(device.weights.count());
  device.logits.download(got.logits.data(), got.logits.size());
  device.ids.download(got.ids.data(), got.ids.size());
  device.weights.download(got.weights.data(), got.weights.size());
  const test::Routing want = test::routerTwin(c, [](std::vector<float>& values) {
    DeviceBuffer<float> buffer(values.size());
    buffer.upload(values.data(), values.size());
    exponentials<<<1, 256>>>(buffer.data(), static_cast<int>(values.size()));
    buffer.download(values.data(), values.size());
  });
  const std::string name = "router, " + std::to_string(tokens) + " tokens of " + std::to_string(experts) + " experts: ";
  require(got.logits == want.logits && got.ids == want.ids && got.weights == want.weights, name + "differs from the twin");
  const test::RouterError error = test::routerError(c, got, 1e-4);
  require(!error.wrongChoice && error.weight < 1e-5, name + "too far from float64");
  std::printf("%sequal to the twin; from float64: weights %.1e, logits %.1e\n", name.c_str(), error.weight, error.logit);
}

void timeRouter(const std::string& folder, uint64_t seed) {
  std::ofstream csv(folder + "/router.csv");
  csv << "tokens,median_us\n";
  for (int tokens : {1, 8, 64}) {
    constexpr int kLayers = 24;
    const test::RouterCase c(tokens, 2560, 512, 10, seed);
    std::vector<std::unique_ptr<RouterBuffers>> layers;
    for (int i = 0; i < kLayers; ++i) layers.push_back(std::make_unique<RouterBuffers>(c));
    test::Graph graph([&](cudaStream_t stream) {
      for (auto& layer : layers) layer->launch(stream);
    });
    std::vector<double> micros;
    for (int i = 0; i < 24; ++i) micros.push_back(graph.timedReplayMicros() / kLayers);
    csv << tokens << ',' << median(micros, 4) << '\n';
    std::printf("router, %d tokens: %.2f us\n", tokens, median(micros, 4));
  }
}

constexpr uint64_t kBytes = 150000000 / 16 * 16;
constexpr int kBuffers = 24;

struct StandInBuffers {
  StandInBuffers() : memory(kBuffers * kBytes), after(2560), state(1) {
    POOL_CUDA_CHECK(cudaMemset(memory.data(), 0x11, memory.bytes()));
    POOL_CUDA_CHECK(cudaMemset(after.data(), 0x22, after.bytes()));
    POOL_CUDA_CHECK(cudaMemset(state.data(), 0, state.bytes()));
  }

  pool::StandInParams params(int buffer, uint64_t bytes) {
    return {memory.data() + buffer * kBytes, bytes, 0, nullptr, 0, after.data(), state.data(), 2560, 0};
  }

  uint64_t digest() {
    pool::StandInState host;
    state.download(&host, 1);
    require(host.sum == 0 && host.arrived == 0, "stand-in: scratch is not 0 after a call");
    return host.digest;
  }

  DeviceBuffer<uint8_t> memory;
  DeviceBuffer<uint16_t> after;
  DeviceBuffer<pool::StandInState> state;
};

// Memory holds 0x11 in every byte and the output 0x2222 in every value, so that the sum is known.
void standInCases(StandInBuffers& device) {
  for (uint64_t bytes : {uint64_t{16}, uint64_t{16} * 12345, kBytes, kBytes * 10}) {
    uint64_t sum = bytes / 8 * 0x1111111111111111u + 2560 * (0x2222u * uint64_t{0x100000001b3u});
    sum = (sum ^ sum >> 31) * 0x9e3779b97f4a7c15u;
    sum ^= sum >> 29;
    for (int blocks : {1, 132, 528}) {
      smxx_dense_stand_in<<<blocks, pool::kStandInThreads>>>(device.params(0, bytes));
      POOL_CUDA_CHECK(cudaDeviceSynchronize());
      require(device.digest() == sum, "stand-in: digest of " + std::to_string(bytes) + " bytes");
    }
  }
  std::printf("stand-in: digests as expected\n");
}

template <int kThreads, int kVectors>
void timeStandIn(StandInBuffers& device, std::ofstream& csv, int processors, uint64_t bytes) {
  for (int perProcessor : {1, 2, 3, 4, 8}) {
    if (perProcessor * kThreads > 2048) continue;
    const int calls = static_cast<int>(kBuffers * kBytes / bytes);
    test::Graph graph([&](cudaStream_t stream) {
      for (int i = 0; i < calls; ++i) {
        standInWith<kThreads, kVectors><<<perProcessor * processors, kThreads, 0, stream>>>(
            device.params(i * static_cast<int>(bytes / kBytes), bytes));
      }
    });
    std::vector<double> micros;
    for (int i = 0; i < 14; ++i) micros.push_back(graph.timedReplayMicros() / calls);
    const double us = median(micros, 4);
    csv << kThreads << ',' << kVectors << ',' << perProcessor << ',' << bytes << ',' << us << ',' << bytes / us / 1e3 << '\n';
    std::printf("stand-in, %.0f MB, %4d threads, %2d vectors, %d blocks a multiprocessor: %.2f us, %.0f GB/s\n", bytes / 1e6,
                kThreads, kVectors, perProcessor, us, bytes / us / 1e3);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t seed = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  const std::string folder = argc > 2 ? argv[2] : ".";
  cudaDeviceProp properties;
  POOL_CUDA_CHECK(cudaGetDeviceProperties(&properties, 0));
  for (bool ties : {false, true}) {
    routerCase(1, 2560, 512, 10, seed, ties);
    routerCase(9, 264, 300, 10, seed, ties);
    routerCase(64, 2048, 128, 8, seed, ties);
    routerCase(2, 24, 4096, 64, seed, ties);
  }
  timeRouter(folder, seed);
  StandInBuffers device;
  standInCases(device);
  std::ofstream csv(folder + "/stand_in.csv");
  csv << "threads,vectors,blocks_per_multiprocessor,bytes,median_us,gb_per_s\n";
  const int processors = properties.multiProcessorCount;
  for (uint64_t bytes : {kBytes, kBytes * 8}) {
    timeStandIn<256, 8>(device, csv, processors, bytes);
    timeStandIn<512, 8>(device, csv, processors, bytes);
    timeStandIn<1024, 8>(device, csv, processors, bytes);
  }
  return 0;
}
