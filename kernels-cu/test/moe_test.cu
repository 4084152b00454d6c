// Conformance and timing of the MoE kernels on a GPU. Arguments: seed, folder for the CSV files; "profile" for one launch of
// each of the best kernels and no more, "times" or "link" for the times alone, or those with rows on the host, "types" for those
// of bf16 and fp16 in turn, "pool" for those of a pool's token by one kernel and by two in turn, "check" for a few cases,
// "conform" for all of them without times, behind which "bf16" or "fp16" stands for one type alone.
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
#include "moe/smxx_moe_token.cu"
#include "moe/smxx_moe_token_fp16.cu"
#include "moe/smxx_pool_token.cu"
#include "moe/smxx_pool_token_fp16.cu"
#include "plan/smxx_lru_plan.cu"
#include "pool_token_case.h"

namespace {

// Kernels of a call that are launched.
enum Parts { kAlign = 1, kGemms = 2, kSum = 4, kAllParts = 7 };

using test::Activations;
using test::DeviceBuffer;
using test::MoeCall;
using test::MoeCase;
using test::MoeGeometry;
using test::MoeResult;
using test::MoeWay;
using Ways = test::Kernels;

// Raises the limits of a kernel that takes `bytes` of dynamic shared memory, and gives shared memory what L1 could have.
template <typename Params>
void allowShared(void (*kernel)(Params), int bytes) {
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
  MoeKernel token, decode, gemms8, gemms16, gemms32, hostGemms, sum;
};

MoeKernels kernelsOf(Activations type) {
  if (type == Activations::kFp16) {
    return {smxx_moe_token_fp16,    smxx_moe_decode_fp16,     smxx_moe_gemms_8_fp16, smxx_moe_gemms_16_fp16,
            smxx_moe_gemms_32_fp16, smxx_moe_host_gemms_fp16, smxx_moe_sum_fp16};
  }
  return {smxx_moe_token,    smxx_moe_decode,     smxx_moe_gemms_8, smxx_moe_gemms_16,
          smxx_moe_gemms_32, smxx_moe_host_gemms, smxx_moe_sum};
}

void launchSum(MoeKernel sum, const pool::MoeParams& p, cudaStream_t stream) {
  const int vectors = p.tokens * (p.hidden / 8);
  sum<<<(vectors + pool::kSumThreads - 1) / pool::kSumThreads, pool::kSumThreads, 0, stream>>>(p);
  POOL_CUDA_CHECK(cudaGetLastError());
}

void launchDecode(const MoeKernels& kernels, const pool::MoeParams& p, cudaStream_t stream) {
  const int mostLanes = std::max(p.blockLanes, p.missRows == nullptr ? 0 : p.hostLanes);
  const int64_t blocks = pool::decodeBlocks(p.tokens * p.topK, p.hidden, p.width);
  launchGemm(kernels.decode, pool::kDecode, static_cast<int>(blocks), mostLanes, p, stream);
}

// The device in use, as the kernel for one token sees it.
const test::Card& card() {
  static const test::Card card = [] {
    test::Card c{};
    POOL_CUDA_CHECK(cudaDeviceGetAttribute(&c.multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    POOL_CUDA_CHECK(cudaDeviceGetAttribute(&c.sharedBytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    return c;
  }();
  return card;
}

// Blocks of a token's kernel, one a multiprocessor, and `beside` of them that do something else.
template <typename Params>
void launchTogether(void (*kernel)(Params), const pool::MoeParams& p, int beside, Params params, cudaStream_t stream) {
  const pool::TokenGrid grid = {p.topK, p.hidden, p.width, card().multiprocessors - beside};
  allowShared(kernel, grid.sharedBytes());
  void* arguments[] = {&params};
  POOL_CUDA_CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel), grid.blocks + beside, pool::kToken.threads(),
                                              arguments, grid.sharedBytes(), stream));
}

void launchToken(const MoeKernels& kernels, const pool::MoeParams& p, cudaStream_t stream) {
  launchTogether(kernels.token, p, 0, p, stream);
}

void launchPoolToken(Activations type, const pool::PoolTokenParams& p, cudaStream_t stream) {
  launchTogether(type == Activations::kFp16 ? smxx_pool_token_fp16 : smxx_pool_token, p.moe, 1, p, stream);
}

void launchAlign(const pool::MoeParams& p, cudaStream_t stream) {
  const int warps = pool::kAlignThreads / pool::kWarp;
  smxx_moe_align<<<(p.experts + warps - 1) / warps, pool::kAlignThreads, 0, stream>>>(p);
  POOL_CUDA_CHECK(cudaGetLastError());
}

void launchAligned(const MoeKernels& kernels, const pool::MoeParams& p, bool overLink, int parts, cudaStream_t stream) {
  if (parts & kAlign) launchAlign(p, stream);
  const auto gemms = [&](MoeKernel kernel, const pool::MoeBlock& block) {
    const int blocks = p.blocks.maxBlocks * block.parts(p.hidden, p.width);
    if (parts & kGemms) launchGemm(kernel, block, blocks, block.lanes(), p, stream);
  };
  if (overLink) gemms(kernels.hostGemms, pool::kAligned32);
  else if (p.blocks.blockLanes == 8) gemms(kernels.gemms8, pool::kAligned8);
  else if (p.blocks.blockLanes == 16) gemms(kernels.gemms16, pool::kAligned16);
  else gemms(kernels.gemms32, pool::kAligned32);
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
        paddedLanes_(1) {
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
        rows_(tokens * g.topK),
        missRows_(tokens * g.topK),
        weights_(tokens * g.topK),
        inner_(size_t(tokens) * g.topK * g.width),
        laneOut_(size_t(tokens) * g.topK * g.hidden),
        out_(size_t(tokens) * g.hidden),
        counts_(std::max<size_t>(test::decodeWords(g, card()), pool::maxLaneBlocks(tokens * g.topK, g.experts, blockLanes))),
        blocks_(tokens * g.topK, g.experts, blockLanes) {
    for (auto* buffer : {&inner_, &laneOut_, &out_}) POOL_CUDA_CHECK(cudaMemset(buffer->data(), 0x7f, buffer->bytes()));
    POOL_CUDA_CHECK(cudaMemset(counts_.data(), 0, counts_.bytes()));
  }

  void setInputs(const MoeCall& call, const std::vector<int32_t>& rows, const std::vector<int32_t>& missRows) {
    activations_.upload(call.activations.data(), call.activations.size());
    ids_.upload(call.ids.data(), call.ids.size());
    rows_.upload(rows.data(), rows.size());
    missRows_.upload(missRows.data(), missRows.size());
    weights_.upload(call.weights.data(), call.weights.size());
  }

  // `host`: the layer's rows there.
  pool::MoeParams params(const uint8_t* bank, const uint8_t* host, uint64_t rowBytes, const int32_t* expertRows,
                         const pool::ExpertAlphas* alphas, const MoeWay& way) {
    const uint64_t w13 = uint64_t(g_.hidden) * g_.width;
    const uint8_t* s13 = bank + w13;
    const uint8_t* w2 = s13 + w13 / 8;
    return {activations_.data(),
            ids_.data(),
            rows_.data(),
            way.rows == test::RowsIn::kBank ? nullptr : missRows_.data(),
            expertRows,
            weights_.data(),
            alphas,
            {bank, rowBytes},
            {s13, rowBytes},
            {w2, rowBytes},
            {w2 + w13 / 2, rowBytes},
            {host, rowBytes},
            inner_.data(),
            laneOut_.data(),
            out_.data(),
            counts_.data(),
            blocks_.blocks(),
            tokens_,
            g_.topK,
            g_.hidden,
            g_.width,
            g_.experts,
            way.blockLanes,
            way.hostLanes,
            0};
  }

  MoeResult result() {
    MoeResult r{std::vector<uint16_t>(inner_.count()), std::vector<uint16_t>(laneOut_.count()),
                std::vector<uint16_t>(out_.count())};
    inner_.download(r.inner.data(), r.inner.size());
    laneOut_.download(r.laneOut.data(), r.laneOut.size());
    out_.download(r.out.data(), r.out.size());
    std::vector<int32_t> counts(counts_.count());
    counts_.download(counts.data(), counts.size());
    for (int32_t count : counts) {
      if (count != 0) test::moeFailure("counts are not 0 after the call");
    }
    return r;
  }

 private:
  const MoeGeometry g_;
  const int tokens_;
  DeviceBuffer<uint16_t> activations_;
  DeviceBuffer<int32_t> ids_, rows_, missRows_;
  DeviceBuffer<float> weights_;
  DeviceBuffer<uint16_t> inner_, laneOut_, out_;
  DeviceBuffer<int32_t> counts_;
  DeviceBlocks blocks_;
};

void launch(Activations type, const pool::MoeParams& params, const MoeWay& way, cudaStream_t stream,
            int parts = kAllParts) {
  const MoeKernels kernels = kernelsOf(type);
  if (way.kernels == Ways::kToken) launchToken(kernels, params, stream);
  else if (way.kernels == Ways::kDecode) launchDecode(kernels, params, stream);
  else launchAligned(kernels, params, way.rows == test::RowsIn::kHost, parts, stream);
}

class GpuBackend {
 public:
  const test::Card& card() const { return ::card(); }

  void load(const MoeCase& experts) {
    case_ = &experts;
    bank_.reset(new DeviceBuffer<uint8_t>(experts.bank.size()));
    bank_->upload(experts.bank.data(), experts.bank.size());
    alphas_.reset(new DeviceBuffer<pool::ExpertAlphas>(experts.alphas.size()));
    alphas_->upload(experts.alphas.data(), experts.alphas.size());
  }

  MoeResult run(const MoeCall& call, const MoeWay& way) {
    const test::CallRows rows(*case_, call.ids, way.rows);
    const bool resident = way.rows == test::RowsIn::kBank;
    test::PinnedBuffer<uint8_t> host(std::max<size_t>(rows.host.size(), 1));
    std::copy(rows.host.begin(), rows.host.end(), host.data());
    DeviceBuffer<uint8_t> changed(std::max<size_t>(rows.bank.size(), 1));
    changed.upload(rows.bank.data(), rows.bank.size());
    const uint8_t* bank = resident ? bank_->data() : rows.bank.empty() ? host.deviceView() : changed.data();
    DeviceBuffer<int32_t> expertRows(rows.expertRows.size());
    expertRows.upload(rows.expertRows.data(), rows.expertRows.size());
    DeviceCall device(case_->g, call.tokens, way.blockLanes);
    device.setInputs(call, rows.rows, rows.missRows);
    launch(case_->g.type, device.params(bank, host.deviceView(), case_->rowBytes(), expertRows.data(), alphas_->data(), way),
           way, nullptr);
    POOL_CUDA_CHECK(cudaDeviceSynchronize());
    std::vector<uint8_t> after(rows.bank.size());
    changed.download(after.data(), after.size());
    test::requireBank(after, rows, way.name);
    if (!std::equal(rows.host.begin(), rows.host.end(), host.data())) test::moeFailure(way.name + ": the host's rows have changed");
    return device.result();
  }

  MoeResult runPooled(test::PooledCall& pooled) {
    const MoeGeometry& g = pooled.experts.g;
    test::PinnedBuffer<uint8_t> host(pooled.host.size());
    std::copy(pooled.host.begin(), pooled.host.end(), host.data());
    DeviceBuffer<uint8_t> bank(pooled.bank.size()), slab(pooled.slab.size());
    bank.upload(pooled.bank.data(), bank.count());
    slab.upload(static_cast<const uint8_t*>(pooled.slab.bytes()), slab.count());
    DeviceBuffer<pool::ExpertAlphas> alphas(pooled.experts.alphas.size());
    alphas.upload(pooled.experts.alphas.data(), alphas.count());
    DeviceBuffer<pool::StepOutput> output(1);
    DeviceBuffer<int32_t> stepMap(g.experts);
    POOL_CUDA_CHECK(cudaMemset(output.data(), 0x5a, output.bytes()));
    POOL_CUDA_CHECK(cudaMemset(stepMap.data(), 0x5a, stepMap.bytes()));
    DeviceCall device(g, 1, 1);
    device.setInputs(pooled.call, pooled.call.ids, pooled.call.ids);
    pool::PoolTokenParams p{};
    p.moe = device.params(bank.data(), host.deviceView(), pooled.experts.rowBytes(), nullptr, alphas.data(), {"pool", Ways::kToken, 1});
    p.plan = {pooled.slab.layout.at(slab.data(), pooled.slab.geometry), p.moe.ids, p.moe.weights, output.data(), stepMap.data(),
              pooled.layer, g.topK};
    p.moe.ids = p.moe.rows = nullptr;  // the kernel finds them itself
    launchPoolToken(g.type, p, nullptr);
    POOL_CUDA_CHECK(cudaDeviceSynchronize());
    bank.download(pooled.bank.data(), bank.count());
    slab.download(static_cast<uint8_t*>(pooled.slab.bytes()), slab.count());
    output.download(&pooled.output, 1);
    pooled.stepMap.resize(g.experts);
    stepMap.download(pooled.stepMap.data(), pooled.stepMap.size());
    if (!std::equal(pooled.host.begin(), pooled.host.end(), host.data())) test::moeFailure("pooled: the host's rows have changed");
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

// One graph of all layers, of which all rows, some or none are resident, and what it must read.
class TimedLayers {
 public:
  static constexpr MoeGeometry kGeometry = {2560, 640, 512, 10};  // but for the type
  static constexpr int kWarmReplays = 4;

  explicit TimedLayers(Activations type, int most = 48)
      : g_{kGeometry.hidden, kGeometry.width, kGeometry.experts, kGeometry.topK, type},
        layers_(std::min(most, layersThatFit())),
        bank_(uint64_t(layers_) * kGeometry.experts * kRowBytes),
        alphas_(kGeometry.experts),
        expertRows_(kGeometry.experts) {
    std::vector<int32_t> expertRows(kGeometry.experts);
    for (int e = 0; e < kGeometry.experts; ++e) expertRows[e] = e;
    expertRows_.upload(expertRows.data(), expertRows.size());
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
    DeviceCall device(g_, call.tokens, way.blockLanes);
    device.setInputs(call, call.ids, call.ids);
    launch(g_.type, device.params(bank_.data(), nullptr, kRowBytes, expertRows_.data(), alphas_.data(), way), way, nullptr);
    POOL_CUDA_CHECK(cudaDeviceSynchronize());
  }

  // Calls of all layers.
  struct Prepared {
    std::vector<std::unique_ptr<DeviceCall>> calls;
    std::vector<pool::MoeParams> params;
    double rows = 0;  // distinct ones, mean of the layers
  };

  // `call` lends its activations to every layer; each layer has a routing of its own. So many of its experts, those of the
  // first lanes, are missed.
  Prepared prepare(const MoeWay& way, MoeCall call, int layers, uint64_t seed, int missed) {
    Prepared p;
    for (int layer = 0; layer < layers; ++layer) {
      test::route(g_, test::Numbers::kRandom, false, seed + layer, call);
      std::vector<int32_t> missRows = call.ids;
      if (way.rows == test::RowsIn::kOddMissed) std::fill(missRows.begin() + missed, missRows.end(), -1);
      p.calls.emplace_back(new DeviceCall(g_, call.tokens, way.blockLanes));
      p.calls.back()->setInputs(call, call.ids, missRows);
      const uint64_t layerBytes = kGeometry.experts * kRowBytes;
      const uint8_t* host = way.rows == test::RowsIn::kBank ? nullptr : hostRows(layer);
      const uint8_t* bank = way.rows == test::RowsIn::kHost ? host : bank_.data() + layer * layerBytes;
      p.params.push_back(p.calls.back()->params(bank, host, kRowBytes, expertRows_.data(), alphas_.data(), way));
      std::vector<int32_t> distinct = call.ids;
      std::sort(distinct.begin(), distinct.end());
      p.rows += double(std::unique(distinct.begin(), distinct.end()) - distinct.begin()) / layers;
    }
    return p;
  }

  // Captures whole calls of all layers, all rows in the bank; replays may take turns with those of another type.
  class Replay {
   public:
    Replay(TimedLayers& layers, const MoeWay& way, const MoeCall& call, uint64_t seed)
        : layers_(layers.layers_),
          prepared_(layers.prepare(way, call, layers_, seed, 0)),
          graph_([&](cudaStream_t capture) {
            for (const pool::MoeParams& p : prepared_.params) launch(layers.g_.type, p, way, capture);
          }) {}
    double microsPerLayer() { return graph_.timedReplayMicros() / layers_; }

   private:
    const int layers_;
    const Prepared prepared_;
    test::Graph graph_;
  };

  int layers() const { return layers_; }

  // A layer's call over all rows as one bank, missing ones on the host.
  pool::MoeParams pooled(DeviceCall& call, int layer) {
    return call.params(bank_.data(), hostRows(layer), kRowBytes, nullptr, alphas_.data(), {"pool", Ways::kToken, 1});
  }

  void run(const MoeWay& way, const MoeCall& call, std::ofstream& csv, uint64_t seed, int missed = 0) {
    const int tokens = call.tokens;
    const int layers = way.rows == test::RowsIn::kHost && tokens > 4 ? std::min(layers_, 8) : layers_;
    const Prepared prepared = prepare(way, call, layers, seed, missed);
    const auto time = [&](int parts, int replays) {
      test::Graph graph([&](cudaStream_t capture) {
        for (const pool::MoeParams& layer : prepared.params) launch(g_.type, layer, way, capture, parts);
      });
      std::vector<double> micros;
      for (int replay = 0; replay < replays + kWarmReplays; ++replay) {
        const double us = graph.timedReplayMicros() / layers;
        if (replay >= kWarmReplays) micros.push_back(us);
      }
      std::sort(micros.begin(), micros.end());
      return micros;
    };
    const bool brief = tokens > 1024 || (way.rows == test::RowsIn::kHost && tokens > 4);
    const std::vector<double> micros = time(kAllParts, brief ? 7 : 20);
    const double median = micros[micros.size() / 2];
    const auto part = [&](int parts, bool there) { return there ? time(parts, brief ? 3 : 7)[brief ? 1 : 3] : 0.0; };
    const double gemms = part(kGemms, way.aligned());
    const double align = part(kAlign, way.aligned()), sum = part(kSum, way.aligned());
    const double rows = prepared.rows, bytes = rows * kRowBytes;
    csv << (g_.fp16() ? "fp16" : "bf16") << ',' << way.name << ',' << tokens << ',' << missed << ',' << layers << ',' << rows << ',' << median
        << ',' << micros[micros.size() / 10] << ',' << micros[micros.size() * 9 / 10] << ',' << bytes / median / 1e3 << ',' << align << ',' << gemms << ','
        << sum << '\n';
    std::printf("%s %-14s M=%-5d %2d missed %7.2f us a layer (p10 %.2f, p90 %.2f), %6.1f rows, %5.0f GB/s, floor %.2f us; alone: "
                "align %.2f, GEMMs %.2f, sum %.2f\n",
                g_.fp16() ? "fp16" : "bf16", way.name.c_str(), tokens, missed, median, micros[micros.size() / 10],
                micros[micros.size() * 9 / 10], rows,
                bytes / median / 1e3, bytes / 4.6e6, align, gemms, sum);
    std::fflush(stdout);
    for (uint16_t bits : prepared.calls.back()->result().out) {
      if (!std::isfinite(g_.value(bits))) test::moeFailure("an output of the timed run is not finite");
    }
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

  // A layer's rows on the host: of a few layers in turn, which time as all of them do.
  int hostLayers() const { return std::min(layers_, 8); }
  const uint8_t* hostRows(int layer) {
    const size_t layerBytes = kGeometry.experts * kRowBytes;
    if (!host_) {
      host_.reset(new test::RegisteredSlabs(hostLayers(), layerBytes));
      for (int l = 0; l < hostLayers(); ++l) bank_.download(host_->data(l), layerBytes, l * layerBytes);
    }
    return host_->deviceView(layer % hostLayers());
  }

  const MoeGeometry g_;
  const int layers_;
  DeviceBuffer<uint8_t> bank_;
  DeviceBuffer<pool::ExpertAlphas> alphas_;
  DeviceBuffer<int32_t> expertRows_;  // expert e in row e
  std::unique_ptr<test::RegisteredSlabs> host_;
};

// A pool of 258 rows a layer, by planner and MoE in one kernel or one after the other. Layers miss so many experts, in turn: which
// code a multiprocessor has at hand depends on the layer before. Every replay begins with the same tables.
class TimedPool {
 public:
  static constexpr int kResident = 258;

  TimedPool(TimedLayers& layers, const std::vector<int>& missedInTurn, bool oneKernel, uint64_t seed)
      : geometry_{"timed", layers.layers(), TimedLayers::kGeometry.experts, TimedLayers::kGeometry.topK, 1, kResident},
        pristine_(geometry_),
        slab_(pristine_.size()),
        outputs_(geometry_.layers),
        stepMaps_(size_t(geometry_.layers) * geometry_.experts) {
    age(seed);
    const MoeGeometry& g = TimedLayers::kGeometry;
    MoeCall call = test::makeCall(g, test::Numbers::kRandom, 1, false, seed);
    for (int layer = 0; layer < geometry_.layers; ++layer) {
      const int missed = missedInTurn[layer % missedInTurn.size()];
      missed_ += missed;
      route(missed, seed + layer, call);
      keepHits(layer, missed, call);
      calls_.emplace_back(new DeviceCall(g, 1, 1));
      calls_.back()->setInputs(call, call.ids, call.ids);
      pool::PoolTokenParams p{};
      p.moe = layers.pooled(*calls_.back(), layer);
      pool::StepOutput* output = outputs_.data() + layer;
      p.plan = {pristine_.layout.at(slab_.data(), geometry_), p.moe.ids, p.moe.weights, output,
                stepMaps_.data() + layer * geometry_.experts, layer, geometry_.topK};
      p.moe.ids = output->safeIds;
      p.moe.rows = output->routes;
      p.moe.missRows = output->missRows;
      params_.push_back(p);
    }
    const MoeKernels kernels = kernelsOf(Activations::kBf16);
    graph_.reset(new test::Graph([&](cudaStream_t capture) {
      for (const pool::PoolTokenParams& p : params_) {
        if (oneKernel) {
          launchPoolToken(Activations::kBf16, p, capture);
          continue;
        }
        smxx_lru_plan<<<1, pool::kPlanThreads, 0, capture>>>(p.plan);
        POOL_CUDA_CHECK(cudaGetLastError());
        launchToken(kernels, p.moe, capture);
      }
    }));
  }

  double microsPerLayer() {
    slab_.upload(static_cast<const uint8_t*>(pristine_.bytes()), slab_.count());
    return graph_->timedReplayMicros() / geometry_.layers;
  }

  // What the last replay has left.
  std::vector<uint16_t> outputs() {
    std::vector<uint16_t> all;
    for (const auto& call : calls_) {
      const std::vector<uint16_t> out = call->result().out;
      all.insert(all.end(), out.begin(), out.end());
    }
    return all;
  }
  test::TableSlab& tables() {
    slab_.download(static_cast<uint8_t*>(left_.bytes()), slab_.count());
    return left_;
  }
  int missed() const { return missed_; }
  int promoted() {
    int all = 0;
    std::vector<pool::StepOutput> outputs(geometry_.layers);
    outputs_.download(outputs.data(), outputs.size());
    for (const pool::StepOutput& output : outputs) all += output.promoted;
    return all;
  }

 private:
  // Every row has an age of its own.
  void age(uint64_t seed) {
    std::mt19937_64 random(seed);
    pool::PlanTables t = pristine_.tables();
    std::vector<int64_t> ages(geometry_.poolRows());
    for (size_t i = 0; i < ages.size(); ++i) ages[i] = static_cast<int64_t>(i) + 1;
    std::shuffle(ages.begin(), ages.end(), random);
    std::copy(ages.begin(), ages.end(), t.rowUse);
    t.state->clock = 2 * static_cast<int64_t>(ages.size()) + 1;
    pristine_.controls().gate = 1;
  }

  // No layer's step takes the row of what a later one reads.
  void keepHits(int layer, int missed, const MoeCall& call) {
    for (int lane = missed; lane < geometry_.topK; ++lane) {
      pristine_.tables().rowUse[layer * kResident + call.ids[lane]] += geometry_.poolRows();
    }
  }

  void route(int missed, uint64_t seed, MoeCall& call) const {
    std::mt19937_64 random(seed);
    const auto distinct = [&](int first, int count, int wanted, int32_t* to) {
      std::vector<int32_t> all(count);
      for (int i = 0; i < count; ++i) all[i] = first + i;
      std::shuffle(all.begin(), all.end(), random);
      std::copy(all.begin(), all.begin() + wanted, to);
    };
    distinct(kResident, geometry_.experts - kResident, missed, call.ids.data());
    distinct(0, kResident, geometry_.topK - missed, call.ids.data() + missed);
  }

  const test::Geometry geometry_;
  int missed_ = 0;  // in all layers
  test::TableSlab pristine_, left_{geometry_};
  DeviceBuffer<uint8_t> slab_;
  DeviceBuffer<pool::StepOutput> outputs_;
  DeviceBuffer<int32_t> stepMaps_;
  std::vector<std::unique_ptr<DeviceCall>> calls_;
  std::vector<pool::PoolTokenParams> params_;
  std::unique_ptr<test::Graph> graph_;
};

constexpr Activations kTypes[] = {Activations::kBf16, Activations::kFp16};

void timeAll(Activations type, const std::vector<int>& tokenCounts, std::ofstream& csv, uint64_t seed) {
  TimedLayers layers(type);
  MoeGeometry g = TimedLayers::kGeometry;
  g.type = type;
  for (int tokens : tokenCounts) {
    const MoeCall call = test::makeCall(g, test::Numbers::kRandom, tokens, false, seed);
    for (const MoeWay& way : test::moeWays()) {
      const bool sensible = way.rows == test::RowsIn::kBank && way.takes(g, tokens, card()) && (tokens < 512 || way.blockLanes > 8) &&
                            (tokens < 4096 || way.blockLanes > 16) && (tokens <= 8 || way.aligned());
      if (sensible) layers.run(way, call, csv, seed);
    }
  }
}

// The two types by the fastest ways, a replay of each in turn, so that what the card's clock does falls on both.
void compareTypes(const std::string& folder, uint64_t seed) {
  constexpr int kLayers = 16, kReplays = 40;
  TimedLayers bf16(Activations::kBf16, kLayers), fp16(Activations::kFp16, kLayers);
  std::ofstream csv(folder + "/moe_types.csv");
  csv << "way,tokens,layers,bf16_us_per_layer,fp16_us_per_layer,fp16_over_bf16,p10,p90\n";
  for (int tokens : {1, 4, 8, 64, 512}) {
    const int lanes = pool::fastestBlockLanes(tokens);
    const MoeWay way = tokens == 1                            ? MoeWay{"token", Ways::kToken, 1}
                       : tokens <= pool::kFastestDecodeTokens ? MoeWay{"decode-1", Ways::kDecode, 1}
                                                              : MoeWay{"aligned", Ways::kAligned, lanes};
    MoeGeometry g = TimedLayers::kGeometry;
    const MoeCall call = test::makeCall(g, test::Numbers::kRandom, tokens, false, seed);
    g.type = Activations::kFp16;
    TimedLayers::Replay ofBf16(bf16, way, call, seed);
    TimedLayers::Replay ofFp16(fp16, way, test::makeCall(g, test::Numbers::kRandom, tokens, false, seed), seed);
    std::vector<double> micros[2], ratios;
    for (int i = 0; i < TimedLayers::kWarmReplays + kReplays; ++i) {
      const double first = ofBf16.microsPerLayer(), second = ofFp16.microsPerLayer();
      if (i < TimedLayers::kWarmReplays) continue;
      micros[0].push_back(first);
      micros[1].push_back(second);
      ratios.push_back(second / first);
    }
    for (auto* values : {&micros[0], &micros[1], &ratios}) std::sort(values->begin(), values->end());
    csv << way.name << ',' << tokens << ',' << kLayers << ',' << micros[0][kReplays / 2] << ',' << micros[1][kReplays / 2]
        << ',' << ratios[kReplays / 2] << ',' << ratios[kReplays / 10] << ',' << ratios[kReplays * 9 / 10] << '\n';
    std::printf("%-8s M=%-4d bf16 %7.2f us a layer, fp16 %7.2f; fp16 / bf16 %.3f (p10 %.3f, p90 %.3f)\n", way.name.c_str(),
                tokens, micros[0][kReplays / 2], micros[1][kReplays / 2], ratios[kReplays / 2], ratios[kReplays / 10],
                ratios[kReplays * 9 / 10]);
  }
}

// A pool's token by one kernel and by two, a replay of each in turn.
void comparePool(const std::string& folder, uint64_t seed) {
  constexpr int kReplays = 20;
  TimedLayers layers(Activations::kBf16);
  std::ofstream csv(folder + "/pool_token.csv");
  csv << "missed,layers,two_us_per_layer,two_p10,two_p90,one_us_per_layer,one_p10,one_p90,one_over_two,ratio_p10,ratio_p90\n";
  for (const std::vector<int>& missedInTurn : {std::vector<int>{0}, {1}, {2}, {5}, {10}, {0, 1}, {0, 1, 0, 0, 2, 0, 1}}) {
    TimedPool two(layers, missedInTurn, false, seed), one(layers, missedInTurn, true, seed);
    std::vector<double> values[3];
    for (int i = 0; i < TimedLayers::kWarmReplays + kReplays; ++i) {
      const double first = two.microsPerLayer(), second = one.microsPerLayer();
      if (i < TimedLayers::kWarmReplays) continue;
      values[0].push_back(first);
      values[1].push_back(second);
      values[2].push_back(second / first);
    }
    const std::string differs = test::difference(two.tables(), one.tables());
    if (!differs.empty() || two.outputs() != one.outputs()) test::moeFailure("one kernel and two leave different tables or outputs " + differs);
    if (one.promoted() != one.missed()) test::moeFailure("not as many rows were promoted as should be missed");
    const double missed = static_cast<double>(one.missed()) / layers.layers();  // a layer
    csv << missed << ',' << layers.layers();
    for (auto& v : values) {
      std::sort(v.begin(), v.end());
      csv << ',' << v[kReplays / 2] << ',' << v[kReplays / 10] << ',' << v[kReplays * 9 / 10];
    }
    csv << '\n';
    std::printf("pool, %5.2f missed a layer: planner and MoE in turn %7.2f us a layer, in one kernel %7.2f; ratio %.3f (p10 %.3f, p90 %.3f)\n", missed,
                values[0][kReplays / 2], values[1][kReplays / 2], values[2][kReplays / 2], values[2][kReplays / 10], values[2][kReplays * 9 / 10]);
    std::fflush(stdout);
  }
}

// Rows on the host: some, kept in the bank, and all, read where they are.
void timeLink(std::ofstream& csv, uint64_t seed) {
  using test::RowsIn;
  TimedLayers layers(Activations::kBf16);
  for (int tokens : {1, 2, 4, 8, 64, 512}) {
    const MoeCall call = test::makeCall(TimedLayers::kGeometry, test::Numbers::kRandom, tokens, false, seed);
    for (int missed : {0, 1, 2, 5, 10}) {
      if (tokens == 1) layers.run({"token-missed", Ways::kToken, 1, RowsIn::kOddMissed}, call, csv, seed, missed);
      if (tokens <= 4) layers.run({"decode-missed", Ways::kDecode, 1, RowsIn::kOddMissed, tokens}, call, csv, seed, missed);
    }
    if (tokens == 1) layers.run({"token-host", Ways::kToken, 1, RowsIn::kHost}, call, csv, seed);
    if (tokens <= 4) layers.run({"decode-host", Ways::kDecode, 1, RowsIn::kHost, tokens}, call, csv, seed);
    else layers.run({"aligned-host", Ways::kAligned, 32, RowsIn::kHost}, call, csv, seed);
  }
}

void timeAll(const std::string& folder, uint64_t seed, bool link) {
  std::ofstream csv(folder + "/moe.csv");
  csv << "activations,way,tokens,missed,layers,distinct_rows,median_us_per_layer,p10_us,p90_us,gb_per_s,"
         "align_alone_us,gemms_alone_us,sum_alone_us\n";
  timeLink(csv, seed);
  if (!link) {
    timeAll(Activations::kBf16, {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 8192}, csv, seed);
    timeAll(Activations::kFp16, {1, 8, 64, 512}, csv, seed);
  }
  std::printf("marks, us a layer (GEMMs and sum alone; planner not inside)\n"
              "  rows on the host: link floor 54 us a distinct row; best peer 568 (M=1), 4,074 (8), 28,700 (512)\n"
              "  M=1   plain read 8.45, reach 14, at least 16; best peers 38.5 (Marlin), 39.5 (Triton)\n"
              "  M=2   best peer 47.0; M=4 63.7\n"
              "  M=8   floor 45, reach 65, at least 80; best peer 106\n"
              "  M=64  floor 221, reach 290, at least 330; best peer 416\n"
              "  M=512 floor 308, reach 400, at least 480; best peer 656\n");
}

const char* nameOf(Activations type) { return type == Activations::kFp16 ? "fp16" : "bf16"; }

// All that does not depend on time, with activations of one type.
void conform(GpuBackend& backend, Activations type, std::ofstream& errorsCsv, uint64_t seed) {
  const char* name = nameOf(type);
  for (const MoeGeometry& g : {MoeGeometry{64, 64, 5, 2, type}, MoeGeometry{192, 128, 6, 3, type},
                               MoeGeometry{320, 640, 24, 10, type}, MoeGeometry{704, 192, 16, 8, type}}) {
    for (int tokens : {1, 2, 7, 20}) test::exactNumbers(backend, g, tokens, seed + tokens);
  }
  test::oneToken(backend, {64, 64, 0, 0, type}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 32, 33}, seed);
  test::oneToken(backend, {192, 320, 0, 0, type}, {1, 2, 7, 10, 16}, seed);
  test::oneToken(backend, {704, 64, 0, 0, type}, {1, 10, 16}, seed);
  test::pooledTokens(backend, {64, 64, 5, 2, type}, 3, 2, 400, seed);
  test::pooledTokens(backend, {320, 192, 40, 8, type}, 2, 16, 200, seed);
  test::pooledTokens(backend, {2560, 640, 24, 10, type}, 2, 12, 40, seed);
  test::pooledTokens(backend, {192, 1344, 5, 2, type}, 2, 2, 60, seed);  // down of a missed row in two rounds
  test::pooledTokens(backend, {64, 64, 3, 1, type}, 2, 1, 200, seed);
  test::pooledTokens(backend, {64, 64, 40, 32, type}, 2, 32, 100, seed);
  test::pooledTokens(backend, {64, 64, 4096, 10, type}, 2, 700, 20, seed);
  std::printf("%s, tokens through a pool by one kernel: tables, rows and outputs equal to the references after every step\n", name);
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
      if (way.name != (tokens == 1 ? "token" : tokens == 64 ? "aligned-8" : "aligned-16")) continue;
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
  const std::string only = argc > 3 ? argv[3] : "";
  if (only == "types") {
    compareTypes(folder, seed);
    return 0;
  }
  if (only == "pool") {
    comparePool(folder, seed);
    return 0;
  }
  if (only == "times" || only == "link") {
    timeAll(folder, seed, only == "link");
    return 0;
  }
  test::compareMmaForms(folder, seed);

  GpuBackend backend;
  if (only == "check") {
    for (const Activations type : kTypes) {
      test::exactNumbers(backend, {320, 640, 24, 10, type}, 2, seed);
      test::exactNumbers(backend, {704, 192, 16, 8, type}, 7, seed);
      test::ordersOfSums(backend, {2560, 640, 4, 10, type}, seed);
      test::randomNumbers(backend, {2560, 640, 24, 10, type}, {4, 1, 2}, seed);
      test::pooledTokens(backend, {320, 192, 40, 8, type}, 2, 16, 100, seed);
    }
    std::printf("checked\n");
    return 0;
  }
  test::alignments(backend, {1, 10, 129, 5120, 40960}, {1, 24, 512, 4096}, seed);
  std::printf("alignment: equal to its definition\n");
  std::ofstream errorsCsv(folder + "/moe_errors.csv");
  errorsCsv << "activations,hidden,width,experts,top_k,most_tokens,one_gemm,chain,worst_lane\n";
  for (const Activations type : kTypes) {
    if (argc <= 4 || std::string(argv[4]) == nameOf(type)) conform(backend, type, errorsCsv, seed);
  }
  if (only == "conform") return 0;
  compareTypes(folder, seed);
  timeAll(folder, seed, false);
  return 0;
}
