// Conformance and timing of the MoE kernels on a GPU. Arguments: seed, folder for the CSV files; "profile" for one launch of
// each of the best kernels and no more.
//
// Order: which MMA form gives which bits, correctness, then times. Any difference ends the program with status 1.
#include <fstream>
#include <memory>

#include "gpu_buffers.h"
#include "mma_forms.h"
#include "moe_conformance.h"
#include "moe/smxx_moe_decode.cu"
#include "moe/smxx_moe_decode_fp16.cu"
#include "moe/smxx_moe_general.cu"
#include "moe/smxx_moe_general_fp16.cu"

namespace {

// Kernels of a call that are launched.
enum Parts { kAlign = 1, kGateUp = 2, kDown = 4, kSum = 8, kAllParts = 15 };

using test::Activations;
using test::DeviceBuffer;
using test::MoeCall;
using test::MoeCase;
using test::MoeGeometry;
using test::MoeResult;
using test::MoeWay;

// Raises the limits of a kernel that takes `bytes` of dynamic shared memory, and gives shared memory what L1 could have.
void allowShared(void (*kernel)(pool::MoeParams), int bytes) {
  POOL_CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  POOL_CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, 100));
}

void launchGemm(void (*kernel)(pool::MoeParams), const pool::MoeBlock& block, int blocks, int blockLanes, const pool::MoeParams& p,
                cudaStream_t stream) {
  const int bytes = block.sharedBytes(blockLanes);
  allowShared(kernel, bytes);
  kernel<<<blocks, block.threads(), bytes, stream>>>(p);
  POOL_CUDA_CHECK(cudaGetLastError());
}

// The kernels that depend on the type of activations.
using MoeKernel = void (*)(pool::MoeParams);
struct MoeKernels {
  MoeKernel decodeGateUp, decodeDown, gateUp8, gateUp16, gateUp32, down8, down16, down32, sum;
};

MoeKernels kernelsOf(Activations type) {
  if (type == Activations::kFp16) {
    return {smxx_moe_decode_gate_up_fp16, smxx_moe_decode_down_fp16, smxx_moe_gate_up_8_fp16,
            smxx_moe_gate_up_16_fp16,     smxx_moe_gate_up_32_fp16,  smxx_moe_down_8_fp16,
            smxx_moe_down_16_fp16,        smxx_moe_down_32_fp16,     smxx_moe_sum_fp16};
  }
  return {smxx_moe_decode_gate_up, smxx_moe_decode_down, smxx_moe_gate_up_8, smxx_moe_gate_up_16, smxx_moe_gate_up_32,
          smxx_moe_down_8,         smxx_moe_down_16,     smxx_moe_down_32,   smxx_moe_sum};
}

void launchSum(MoeKernel sum, const pool::MoeParams& p, cudaStream_t stream) {
  const int vectors = p.tokens * (p.hidden / 8);
  sum<<<(vectors + pool::kAlignThreads - 1) / pool::kAlignThreads, pool::kAlignThreads, 0, stream>>>(p);
  POOL_CUDA_CHECK(cudaGetLastError());
}

void launchDecode(const MoeKernels& kernels, const pool::MoeParams& p, int parts, cudaStream_t stream) {
  const int lanes = p.tokens * p.topK;
  const pool::MoeBlock gateUp = pool::kDecodeGateUp, down = pool::kDecodeDown;
  if (parts & kGateUp) {
    launchGemm(kernels.decodeGateUp, gateUp, lanes * gateUp.gateUpParts(p.width), p.blockLanes, p, stream);
  }
  if (parts & kDown) launchGemm(kernels.decodeDown, down, lanes * down.downParts(p.hidden), p.blockLanes, p, stream);
}

void launchAlign(const pool::MoeParams& p, cudaStream_t stream) {
  const int warps = pool::kAlignThreads / pool::kWarp;
  smxx_moe_align<<<(p.experts + warps - 1) / warps, pool::kAlignThreads, 0, stream>>>(p);
  POOL_CUDA_CHECK(cudaGetLastError());
}

void launchAligned(const MoeKernels& kernels, const pool::MoeParams& p, int parts, cudaStream_t stream) {
  if (parts & kAlign) launchAlign(p, stream);
  const auto gemms = [&](MoeKernel gateUp, MoeKernel down, const pool::MoeBlock& block) {
    const int blocks = p.blocks.maxBlocks;
    if (parts & kGateUp) launchGemm(gateUp, block, blocks * block.gateUpParts(p.width), block.lanes(), p, stream);
    if (parts & kDown) launchGemm(down, block, blocks * block.downParts(p.hidden), block.lanes(), p, stream);
  };
  if (p.blocks.blockLanes == 8) gemms(kernels.gateUp8, kernels.down8, pool::kAligned8);
  else if (p.blocks.blockLanes == 16) gemms(kernels.gateUp16, kernels.down16, pool::kAligned16);
  else gemms(kernels.gateUp32, kernels.down32, pool::kAligned32);
  if (parts & kSum) launchSum(kernels.sum, p, stream);
}

// What alignment writes, poisoned.
class DeviceBlocks {
 public:
  DeviceBlocks(int lanes, int experts, int blockLanes)
      : blockLanes_(blockLanes),
        maxBlocks_(static_cast<int>(pool::maxLaneBlocks(lanes, experts, blockLanes))),
        sortedLanes_(size_t(maxBlocks_) * blockLanes),
        blockExperts_(maxBlocks_),
        paddedLanes_(1)
         {
    for (auto* buffer : {&sortedLanes_, &blockExperts_, &paddedLanes_}) {
      POOL_CUDA_CHECK(cudaMemset(buffer->data(), 0x5a, buffer->bytes()));
    }
  }

  pool::LaneBlocks blocks() {
    return {sortedLanes_.data(), blockExperts_.data(), paddedLanes_.data(), blockLanes_, maxBlocks_};
  }

  test::AlignResult result() {
    test::AlignResult r{std::vector<int32_t>(sortedLanes_.count()), std::vector<int32_t>(blockExperts_.count()), 0};
    sortedLanes_.download(r.sortedLanes.data(), r.sortedLanes.size());
    blockExperts_.download(r.blockExperts.data(), r.blockExperts.size());
    paddedLanes_.download(&r.paddedLanes, 1);
    return r;
  }

 private:
  const int blockLanes_;
  const int maxBlocks_;
  DeviceBuffer<int32_t> sortedLanes_, blockExperts_, paddedLanes_;
};

// Inputs, scratch and outputs of one layer call.
class DeviceCall {
 public:
  DeviceCall(const MoeGeometry& g, int tokens, int blockLanes)
      : g_(g),
        tokens_(tokens),
        activations_(size_t(tokens) * g.hidden),
        ids_(tokens * g.topK),
        rows_(2 * tokens * g.topK),
        weights_(tokens * g.topK),
        inner_(size_t(tokens) * g.topK * g.width),
        laneOut_(size_t(tokens) * g.topK * g.hidden),
        out_(size_t(tokens) * g.hidden),
        arrivals_(g.hidden / pool::kTileChannels),
        blocks_(tokens * g.topK, g.experts, blockLanes) {
    for (auto* buffer : {&inner_, &laneOut_, &out_}) POOL_CUDA_CHECK(cudaMemset(buffer->data(), 0x7f, buffer->bytes()));
    POOL_CUDA_CHECK(cudaMemset(arrivals_.data(), 0, arrivals_.bytes()));
  }

  void setInputs(const MoeCall& call, const std::vector<int32_t>& expertRows, const MoeWay& way) {
    std::vector<int32_t> rows(call.ids.size(), 0x7fffffff);
    for (size_t i = 0; i < rows.size(); ++i) {
      if (test::validLane(g_, call.ids[i])) rows[i] = expertRows[call.ids[i]];
    }
    activations_.upload(call.activations.data(), call.activations.size());
    ids_.upload(call.ids.data(), call.ids.size());
    std::vector<int32_t> ofCalls;
    for (int number = 0; number < 2; ++number) {
      const std::vector<int32_t> mine = test::rowsOfCall(rows, call.ids, way, number);
      ofCalls.insert(ofCalls.end(), mine.begin(), mine.end());
    }
    rows_.upload(ofCalls.data(), ofCalls.size());
    weights_.upload(call.weights.data(), call.weights.size());
  }

  pool::MoeParams params(const uint8_t* bank, uint64_t rowBytes, const int32_t* expertRows,
                         const pool::ExpertAlphas* alphas, const MoeWay& way) {
    const uint64_t w13 = uint64_t(g_.hidden) * g_.width;
    const uint8_t* s13 = bank + w13;
    const uint8_t* w2 = s13 + w13 / 8;
    return {activations_.data(),
            ids_.data(),
            rows_.data(),
            expertRows,
            weights_.data(),
            alphas,
            {bank, rowBytes},
            {s13, rowBytes},
            {w2, rowBytes},
            {w2 + w13 / 2, rowBytes},
            inner_.data(),
            laneOut_.data(),
            out_.data(),
            arrivals_.data(),
            blocks_.blocks(),
            tokens_,
            g_.topK,
            g_.hidden,
            g_.width,
            g_.experts,
            way.blockLanes,
            way.calls,
            0};
  }

  MoeResult result() {
    MoeResult r{std::vector<uint16_t>(inner_.count()), std::vector<uint16_t>(laneOut_.count()),
                std::vector<uint16_t>(out_.count())};
    inner_.download(r.inner.data(), r.inner.size());
    laneOut_.download(r.laneOut.data(), r.laneOut.size());
    out_.download(r.out.data(), r.out.size());
    std::vector<int32_t> arrivals(arrivals_.count());
    arrivals_.download(arrivals.data(), arrivals.size());
    for (int32_t arrived : arrivals) {
      if (arrived != 0) test::moeFailure("arrivals are not 0 after the call");
    }
    return r;
  }

 private:
  const MoeGeometry g_;
  const int tokens_;
  DeviceBuffer<uint16_t> activations_;
  DeviceBuffer<int32_t> ids_, rows_;
  DeviceBuffer<float> weights_;
  DeviceBuffer<uint16_t> inner_, laneOut_, out_;
  DeviceBuffer<int32_t> arrivals_;
  DeviceBlocks blocks_;
};

void launch(Activations type, const pool::MoeParams& params, const MoeWay& way, cudaStream_t stream,
            int parts = kAllParts) {
  const MoeKernels kernels = kernelsOf(type);
  for (int number = 0; way.decode && number < way.calls; ++number) {
    pool::MoeParams call = params;
    call.rows += number * params.tokens * params.topK;
    launchDecode(kernels, call, parts, stream);
  }
  if (!way.decode) launchAligned(kernels, params, parts, stream);
}

class GpuBackend {
 public:
  void load(const MoeCase& experts) {
    case_ = &experts;
    bank_.reset(new DeviceBuffer<uint8_t>(experts.bank.size()));
    bank_->upload(experts.bank.data(), experts.bank.size());
    expertRows_.reset(new DeviceBuffer<int32_t>(experts.expertRows.size()));
    expertRows_->upload(experts.expertRows.data(), experts.expertRows.size());
    alphas_.reset(new DeviceBuffer<pool::ExpertAlphas>(experts.alphas.size()));
    alphas_->upload(experts.alphas.data(), experts.alphas.size());
  }

  MoeResult run(const MoeCall& call, const MoeWay& way) {
    DeviceCall device(case_->g, call.tokens, way.blockLanes);
    device.setInputs(call, case_->expertRows, way);
    const pool::MoeParams params =
        device.params(bank_->data(), case_->rowBytes(), expertRows_->data(), alphas_->data(), way);
    launch(case_->g.type, params, way, nullptr);
    POOL_CUDA_CHECK(cudaDeviceSynchronize());
    return device.result();
  }

  test::AlignResult align(const std::vector<int32_t>& ids, int experts, int blockLanes) {
    DeviceBlocks blocks(static_cast<int>(ids.size()), experts, blockLanes);
    DeviceBuffer<int32_t> device(ids.size());
    device.upload(ids.data(), ids.size());
    pool::MoeParams p{};
    p.ids = device.data();
    p.tokens = static_cast<int32_t>(ids.size());
    p.topK = 1;
    p.experts = experts;
    p.blocks = blocks.blocks();
    launchAlign(p, nullptr);
    POOL_CUDA_CHECK(cudaDeviceSynchronize());
    return blocks.result();
  }

 private:
  const MoeCase* case_ = nullptr;
  std::unique_ptr<DeviceBuffer<uint8_t>> bank_;
  std::unique_ptr<DeviceBuffer<int32_t>> expertRows_;
  std::unique_ptr<DeviceBuffer<pool::ExpertAlphas>> alphas_;
};

// Random words, scale codes from 2^-3 to 4.
__global__ void fillBank(uint32_t* bank, uint64_t words, uint64_t rowWords, uint64_t w13, uint64_t s13, uint64_t w2) {
  for (uint64_t i = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x; i < words; i += uint64_t(gridDim.x) * blockDim.x) {
    uint64_t x = i * 0x9e3779b97f4a7c15ull;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    const uint32_t word = static_cast<uint32_t>(x >> 32);
    const uint64_t at = i % rowWords;
    const bool scales = (at >= w13 && at < w13 + s13) || at >= w13 + s13 + w2;
    bank[i] = scales ? 0x98989898u + (word & 0x1f1f1f1fu) : word;
  }
}

// One graph of all layers with all experts resident, and what it must read.
class TimedLayers {
 public:
  static constexpr MoeGeometry kGeometry = {2560, 640, 512, 10};  // but for the type
  static constexpr int kWarmReplays = 4;

  explicit TimedLayers(Activations type, int most = 48)
      : g_{kGeometry.hidden, kGeometry.width, kGeometry.experts, kGeometry.topK, type},
        layers_(std::min(most, layersThatFit())),
        bank_(uint64_t(layers_) * kGeometry.experts * kRowBytes),
        alphas_(kGeometry.experts) {
    const uint64_t w13 = uint64_t(kGeometry.hidden) * kGeometry.width;
    fillBank<<<2112, 512>>>(reinterpret_cast<uint32_t*>(bank_.data()), bank_.bytes() / 4, kRowBytes / 4, w13 / 4, w13 / 32,
                            w13 / 8);
    POOL_CUDA_CHECK(cudaGetLastError());
    const float unit = std::ldexp(1.0f, g_.log2Alpha());
    std::vector<pool::ExpertAlphas> alphas(kGeometry.experts, {unit / 160, unit / 200, unit / 30});
    alphas_.upload(alphas.data(), alphas.size());
  }

  void once(const MoeWay& way, MoeCall call, uint64_t seed) {
    test::route(g_, test::Numbers::kRandom, false, seed, call);
    std::vector<int32_t> expertRows(kGeometry.experts);
    for (int e = 0; e < kGeometry.experts; ++e) expertRows[e] = e;
    DeviceCall device(g_, call.tokens, way.blockLanes);
    device.setInputs(call, expertRows, way);
    DeviceBuffer<int32_t> rows(expertRows.size());
    rows.upload(expertRows.data(), expertRows.size());
    launch(g_.type, device.params(bank_.data(), kRowBytes, rows.data(), alphas_.data(), way), way, nullptr);
    POOL_CUDA_CHECK(cudaDeviceSynchronize());
  }

  // `call` lends its activations to every layer; each layer has a routing of its own.
  void run(const MoeWay& way, MoeCall call, std::ofstream& csv, uint64_t seed) {
    const int tokens = call.tokens;
    std::vector<std::unique_ptr<DeviceCall>> calls;
    std::vector<pool::MoeParams> params;
    double rows = 0;
    for (int layer = 0; layer < layers_; ++layer) {
      test::route(g_, test::Numbers::kRandom, false, seed + layer, call);
      std::vector<int32_t> expertRows(kGeometry.experts);
      for (int e = 0; e < kGeometry.experts; ++e) expertRows[e] = e;
      const uint8_t* bank = bank_.data() + uint64_t(layer) * kGeometry.experts * kRowBytes;
      calls.emplace_back(new DeviceCall(g_, tokens, way.blockLanes));
      calls.back()->setInputs(call, expertRows, way);
      DeviceBuffer<int32_t>& device = *rowBuffers_.emplace_back(new DeviceBuffer<int32_t>(expertRows.size()));
      device.upload(expertRows.data(), expertRows.size());
      params.push_back(calls.back()->params(bank, kRowBytes, device.data(), alphas_.data(), way));
      std::vector<int32_t> distinct = call.ids;
      std::sort(distinct.begin(), distinct.end());
      rows += double(std::unique(distinct.begin(), distinct.end()) - distinct.begin()) / layers_;
    }
    const auto time = [&](int parts, int replays) {
      test::Graph graph([&](cudaStream_t capture) {
        for (const pool::MoeParams& layer : params) launch(g_.type, layer, way, capture, parts);
      });
      std::vector<double> micros;
      for (int replay = 0; replay < replays + kWarmReplays; ++replay) {
        const double us = graph.timedReplayMicros() / layers_;
        if (replay >= kWarmReplays) micros.push_back(us);
      }
      std::sort(micros.begin(), micros.end());
      return micros;
    };
    const bool brief = tokens > 1024;
    const std::vector<double> micros = time(kAllParts, brief ? 7 : 20);
    const double median = micros[micros.size() / 2];
    const auto part = [&](int parts, bool there) { return there ? time(parts, brief ? 3 : 7)[brief ? 1 : 3] : 0.0; };
    const double gateUp = part(kGateUp, true), down = part(kDown, true);
    const double align = part(kAlign, !way.decode), sum = part(kSum, !way.decode);
    const double bytes = rows * kRowBytes;
    csv << (g_.fp16() ? "fp16" : "bf16") << ',' << way.name << ',' << tokens << ',' << layers_ << ',' << rows << ',' << median << ',' << micros[micros.size() / 10]
        << ',' << micros[micros.size() * 9 / 10] << ',' << bytes / median / 1e3 << ',' << align << ',' << gateUp << ','
        << down << ',' << sum << '\n';
    std::printf("%s %-12s M=%-5d %7.2f us a layer (p10 %.2f, p90 %.2f), %6.1f rows, %5.0f GB/s, floor %.2f us; alone: "
                "align %.2f, gate and up %.2f, down %.2f, sum %.2f\n",
                g_.fp16() ? "fp16" : "bf16", way.name.c_str(), tokens, median, micros[micros.size() / 10], micros[micros.size() * 9 / 10], rows,
                bytes / median / 1e3, bytes / 4.6e6, align, gateUp, down, sum);
    std::fflush(stdout);
    for (uint16_t bits : calls.back()->result().out) {
      if (!std::isfinite(g_.value(bits))) test::moeFailure("an output of the timed run is not finite");
    }
    rowBuffers_.clear();
  }

 private:
  static constexpr uint64_t kRowBytes = 2764800;

  static int layersThatFit() {
    size_t free = 0, total = 0;
    POOL_CUDA_CHECK(cudaMemGetInfo(&free, &total));
    const int layers = static_cast<int>(std::min<size_t>(48, free / 10 * 9 / (kGeometry.experts * kRowBytes)));
    if (layers == 0) test::moeFailure("no room for one layer of the timed geometry");
    return layers;
  }

  const MoeGeometry g_;
  const int layers_;
  DeviceBuffer<uint8_t> bank_;
  DeviceBuffer<pool::ExpertAlphas> alphas_;
  std::vector<std::unique_ptr<DeviceBuffer<int32_t>>> rowBuffers_;
};

constexpr Activations kTypes[] = {Activations::kBf16, Activations::kFp16};

void timeAll(Activations type, const std::vector<int>& tokenCounts, std::ofstream& csv, uint64_t seed) {
  TimedLayers layers(type);
  MoeGeometry g = TimedLayers::kGeometry;
  g.type = type;
  for (int tokens : tokenCounts) {
    const MoeCall call = test::makeCall(g, test::Numbers::kRandom, tokens, false, seed);
    for (const MoeWay& way : test::moeWays()) {
      const bool sensible = way.takes(tokens * g.topK) && (tokens < 512 || way.blockLanes > 8) &&
                            (tokens < 4096 || way.blockLanes > 16) && (tokens <= 8 || !way.decode);
      if (sensible) layers.run(way, call, csv, seed);
    }
  }
}

void timeAll(const std::string& folder, uint64_t seed) {
  std::ofstream csv(folder + "/moe.csv");
  csv << "activations,way,tokens,layers,distinct_rows,median_us_per_layer,p10_us,p90_us,gb_per_s,"
         "align_alone_us,gate_up_alone_us,down_alone_us,sum_alone_us\n";
  timeAll(Activations::kBf16, {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 8192}, csv, seed);
  timeAll(Activations::kFp16, {1, 8, 64, 512}, csv, seed);
  std::printf("marks, us a layer (GEMMs and sum alone; planner not inside)\n"
              "  M=1   plain read 8.45, reach 14, at least 16; best peers 38.5 (Marlin), 39.5 (Triton)\n"
              "  M=2   best peer 47.0; M=4 63.7\n"
              "  M=8   floor 45, reach 65, at least 80; best peer 106\n"
              "  M=64  floor 221, reach 290, at least 330; best peer 416\n"
              "  M=512 floor 308, reach 400, at least 480; best peer 656\n");
}

// All that does not depend on time, with activations of one type.
void conform(GpuBackend& backend, Activations type, std::ofstream& errorsCsv, uint64_t seed) {
  const char* name = type == Activations::kFp16 ? "fp16" : "bf16";
  for (const MoeGeometry& g : {MoeGeometry{64, 64, 5, 2, type}, MoeGeometry{192, 128, 6, 3, type},
                               MoeGeometry{320, 640, 24, 10, type}, MoeGeometry{704, 192, 16, 8, type}}) {
    for (int tokens : {1, 2, 7, 20}) test::exactNumbers(backend, g, tokens, seed + tokens);
  }
  // The ends of what refusedMoe lets through, one at a time.
  test::exactNumbers(backend, {64, 64, 1, 1, type}, 1, seed);
  test::exactNumbers(backend, {64, 64, 2, 2, type}, 8192, seed);
  test::exactNumbers(backend, {64, 64, 4096, 4096, type}, 2, seed);
  test::exactNumbers(backend, {65536, 64, 2, 2, type}, 3, seed);
  test::exactNumbers(backend, {64, 65536, 2, 2, type}, 3, seed);
  for (const MoeGeometry& g : {MoeGeometry{384, 64, 3, 3, type}, MoeGeometry{2560, 640, 4, 10, type}}) {
    test::ordersOfSums(backend, g, seed);
  }
  test::notFinite(backend, {320, 192, 3, 2, type}, seed);
  std::printf("%s, exact numbers and numbers not finite: every lane and output equal to the reference\n", name);
  test::extremeScales(backend, {512, 256, 8, 4, type}, 8, seed);
  struct RandomCase {
    MoeGeometry g;
    std::vector<int> tokens;
  };
  for (const RandomCase& c : {RandomCase{{128, 64, 6, 2, type}, {12, 1, 2, 4, 8}},
                              RandomCase{{2048, 768, 16, 8, type}, {8, 1, 2, 4}},
                              RandomCase{{2560, 640, 24, 10, type}, {8, 1, 2, 4}},
                              RandomCase{{256, 128, 40, 6, type}, {512, 1, 2, 4, 8, 64}},
                              RandomCase{{2880, 704, 12, 4, type}, {3, 1}}}) {
    const test::MoeErrors e = test::randomNumbers(backend, c.g, c.tokens, seed);
    errorsCsv << name << ',' << c.g.hidden << ',' << c.g.width << ',' << c.g.experts << ',' << c.g.topK << ','
              << c.tokens[0] << ',' << e.down << ',' << e.chain << ',' << e.worstLane << '\n';
    std::printf("%s, hidden %d, width %d: one GEMM %.2e, chain %.2e, worst lane %.2e; same bits in all ways and placements\n",
                name, c.g.hidden, c.g.width, e.down, e.chain, e.worstLane);
    std::fflush(stdout);
  }
}

// One launch of each kernel of the best ways, for a profiler.
void profile(uint64_t seed) {
  TimedLayers layers(Activations::kBf16, 1);
  for (const MoeWay& way : test::moeWays())
    for (int tokens : {1, 64, 512}) {
      if (way.name != (tokens == 1 ? "decode-1" : tokens == 64 ? "aligned-8" : "aligned-16")) continue;
      layers.once(way, test::makeCall(TimedLayers::kGeometry, test::Numbers::kRandom, tokens, false, seed), seed);
    }
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t seed = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  const std::string folder = argc > 2 ? argv[2] : ".";
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::fprintf(stderr, "moe_test: no CUDA device; the kernels' logic is tested without one by test/run-moe-on-cpu\n");
    return 1;
  }
  cudaDeviceProp device;
  POOL_CUDA_CHECK(cudaGetDeviceProperties(&device, 0));
  std::printf("%s, compute %d.%d, %d multiprocessors, %.1f GiB\n", device.name, device.major, device.minor,
              device.multiProcessorCount, device.totalGlobalMem / 1073741824.0);
  if (argc > 3 && std::string(argv[3]) == "profile") {
    profile(seed);
    return 0;
  }
  test::compareMmaForms(folder, seed);

  GpuBackend backend;
  test::alignments(backend, {1, 10, 129, 5120, 40960}, {1, 24, 512, 4096}, seed);
  std::printf("alignment: equal to its definition\n");
  std::ofstream errorsCsv(folder + "/moe_errors.csv");
  errorsCsv << "activations,hidden,width,experts,top_k,most_tokens,one_gemm,chain,worst_lane\n";
  for (const Activations type : kTypes) conform(backend, type, errorsCsv, seed);
  timeAll(folder, seed);
  return 0;
}
