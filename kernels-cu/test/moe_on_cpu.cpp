// The MoE kernels' source, run on the CPU by fibers and compared with the references. Argument: seed.
#include "moe_ops_on_cpu.h"

#include "moe_conformance.h"
#include "moe/smxx_moe_align.cuh"
#include "moe/smxx_moe_decode.cuh"
#include "moe/smxx_moe_general.cuh"
#include "moe/smxx_moe_token.cuh"
#include "moe/smxx_pool_token.cuh"
#include "pool_token_case.h"

namespace {

class CpuBackend {
 public:
  // Few multiprocessors: blocks with several units and tiles, and not as many of them each.
  test::Card card() const { return {5, 227 * 1024}; }

  void load(const test::MoeCase& experts) { case_ = &experts; }

  // General calls are cut by experts and by ranges of aligned blocks.
  void inParts(bool inParts) { inParts_ = inParts; }

  test::MoeResult run(const test::MoeCall& call, const test::MoeWay& way) {
    const test::MoeGeometry g = case_->g;
    const int lanes = static_cast<int>(call.ids.size());
    test::CallRows rows(*case_, call.ids, way.rows);
    const std::vector<uint8_t> host = rows.host;
    std::vector<int32_t> counts(std::max<size_t>(test::decodeWords(g, card()), pool::maxLaneBlocks(lanes, g.experts, way.blockLanes)));
    test::MoeResult result = poison(call);
    const std::vector<uint8_t>& bank = rows.bank.empty() ? rows.host : rows.bank;
    pool::MoeParams p = params(call, bank, rows.host, result, counts);
    p.ids = call.ids.data();
    p.rows = rows.rows.data();
    p.missRows = way.rows == test::RowsIn::kBank ? nullptr : rows.missRows.data();
    p.expertRows = rows.expertRows.data();
    p.blockLanes = way.blockLanes;
    p.hostLanes = way.hostLanes;
    BlockBuffers blocks(lanes, g.experts, way.blockLanes);
    p.blocks = blocks.blocks;
    if (way.kernels == test::Kernels::kToken) token(p);
    else if (way.kernels == test::Kernels::kDecode) decode(p, way.mostLanes());
    else if (way.rows == test::RowsIn::kHost) overLink(p);
    else if (inParts_) alignedInParts(p);
    else aligned(p);
    test::requireBank(rows.bank, rows, way.name);
    if (rows.host != host) test::moeFailure(way.name + ": the host's rows have changed");
    requireZero(counts);
    return result;
  }

  test::MoeResult runPooled(test::PooledCall& pooled) {
    case_ = &pooled.experts;
    const test::MoeGeometry g = case_->g;
    std::vector<int32_t> counts(test::decodeWords(g, card()));
    test::MoeResult result = poison(pooled.call);
    std::memset(&pooled.output, 0x5a, sizeof pooled.output);
    pooled.stepMap.assign(g.experts, 0x5a5a5a5a);
    pool::PoolTokenParams p{};
    p.plan = {pooled.slab.tables(), pooled.call.ids.data(), pooled.call.weights.data(), &pooled.output,
              pooled.stepMap.data(), pooled.layer, g.topK};
    p.moe = params(pooled.call, pooled.bank, pooled.host, result, counts);
    p.moe.blockLanes = p.moe.hostLanes = 1;
    inTurns(card().poolGrid(g), 1, [&](auto type, uint8_t* shared) { pool::poolToken<decltype(type)>(p.plan, p.moe, shared); });
    requireZero(counts);
    return result;
  }

  test::AlignResult align(const std::vector<int32_t>& ids, int experts, int blockLanes) {
    BlockBuffers blocks(static_cast<int>(ids.size()), experts, blockLanes);
    pool::MoeParams p{};
    p.ids = ids.data();
    p.tokens = static_cast<int32_t>(ids.size());
    p.topK = 1;
    p.experts = experts;
    p.blocks = blocks.blocks;
    align(p);
    return blocks.result;
  }

 private:
  test::MoeResult poison(const test::MoeCall& call) const {
    const test::MoeGeometry& g = case_->g;
    const size_t lanes = call.ids.size();
    return {std::vector<uint16_t>(lanes * g.width, 0x7fff), std::vector<uint16_t>(lanes * g.hidden, 0x7fff),
            std::vector<uint16_t>(size_t(call.tokens) * g.hidden, 0x7fff)};
  }

  // All of a call but its lanes' rows, what its blocks take, and aligned blocks.
  pool::MoeParams params(const test::MoeCall& call, const std::vector<uint8_t>& bank, const std::vector<uint8_t>& host,
                         test::MoeResult& result, std::vector<int32_t>& counts) const {
    const test::MoeGeometry& g = case_->g;
    const uint64_t stride = case_->rowBytes();
    const uint8_t* s13 = bank.data() + case_->w13Bytes();
    const uint8_t* w2 = s13 + case_->s13Bytes();
    pool::MoeParams p{};
    p.activations = call.activations.data();
    p.weights = call.weights.data();
    p.alphas = case_->alphas.data();
    p.w13 = {bank.data(), stride};
    p.s13 = {s13, stride};
    p.w2 = {w2, stride};
    p.s2 = {w2 + case_->w2Bytes(), stride};
    p.host = {host.data(), stride};
    p.inner = result.inner.data();
    p.laneOut = result.laneOut.data();
    p.out = result.out.data();
    p.counts = counts.data();
    p.tokens = call.tokens;
    p.topK = g.topK;
    p.hidden = g.hidden;
    p.width = g.width;
    p.experts = g.experts;
    return p;
  }

  static void requireZero(const std::vector<int32_t>& counts) {
    for (int32_t count : counts) {
      if (count != 0) test::moeFailure("counts are not 0 after the call");
    }
  }

  // What alignment writes, poisoned.
  struct BlockBuffers {
    BlockBuffers(int lanes, int experts, int blockLanes) {
      const int64_t maxBlocks = pool::maxLaneBlocks(lanes, experts, blockLanes);
      result.sortedLanes.assign(maxBlocks * blockLanes, 0x5a5a5a5a);
      result.blockExperts.assign(maxBlocks, 0x5a5a5a5a);
      blocks = {result.sortedLanes.data(), result.blockExperts.data(), &result.paddedLanes, blockLanes,
                static_cast<int32_t>(maxBlocks)};
    }
    BlockBuffers(const BlockBuffers&) = delete;
    BlockBuffers& operator=(const BlockBuffers&) = delete;

    test::AlignResult result;
    pool::LaneBlocks blocks;
  };

  void align(const pool::MoeParams& p) {
    const int warps = pool::kAlignThreads / pool::kWarp;
    launch(pool::kAlignThreads, (p.experts + warps - 1) / warps, 0, [&] { pool::alignLanes(p); });
  }

  // Calls run(type) with the case's type of activations.
  template <typename Run>
  void withType(const Run& run) {
    if (case_->g.fp16()) run(pool::Fp16());
    else run(pool::Bf16());
  }

  void decode(const pool::MoeParams& p, int mostLanes) {
    const auto blocks = static_cast<int>(pool::decodeBlocks(p.tokens * p.topK, p.hidden, p.width));
    withType([&](auto type) {
      std::vector<pool::DecodeShared> own(blocks);
      launchWaiting(pool::kDecode.threads(), blocks, pool::kDecode.sharedBytes(mostLanes),
                    [&](uint8_t* shared) { pool::decodeBlock<decltype(type)>(p, blockIdx.x, own[blockIdx.x], shared); });
    });
  }

  void token(const pool::MoeParams& p) {
    inTurns(card().grid(case_->g), 0, [&](auto type, uint8_t* shared) { pool::tokenMoe<decltype(type)>(p, shared); });
  }

  static constexpr uint8_t kPoison = 0x7f;  // a lane of such bytes is none

  // The blocks of a token's kernel and so many more, each with shared memory of its own, for they take turns.
  template <typename Kernel>
  void inTurns(const pool::TokenGrid& grid, int more, const Kernel& kernel) {
    const size_t sharedBytes = card().sharedBytes;
    const int blocks = grid.blocks + more;
    std::vector<uint8_t> shared(blocks * sharedBytes, kPoison);
    withType([&](auto type) {
      cpu::Block::runInTurns(pool::kToken.threads(), blocks, seed_++,
                             [&] { kernel(type, shared.data() + blockIdx.x * sharedBytes); });
    });
    for (size_t i = 0; i < shared.size(); ++i) {
      if (i % sharedBytes >= size_t(grid.sharedBytes()) && shared[i] != kPoison) test::moeFailure("a kernel writes past its shared memory");
    }
  }

  void aligned(const pool::MoeParams& p) {
    align(p);
    gemms(p, p.blocks.maxBlocks);
    sum(p);
  }

  void overLink(const pool::MoeParams& p) {
    align(p);
    withType([&](auto type) { gemms<pool::OverLink<decltype(type)>>(p, p.blocks.maxBlocks); });
    sum(p);
  }

  // Every third expert in a bank of its own whose other rows are poison, then the others, by two ranges of aligned blocks.
  void alignedInParts(pool::MoeParams p) {
    align(p);
    std::vector<uint8_t> second(case_->bank.size(), 0xff);
    std::vector<int32_t> firstRows(p.experts, -1), secondRows(p.experts, -1);
    const uint64_t stride = p.w13.strideBytes;
    for (int e = 0; e < p.experts; ++e) {
      const int32_t row = case_->expertRows[e];
      (e % 3 == 0 ? secondRows : firstRows)[e] = row;
      if (e % 3 == 0) std::memcpy(second.data() + row * stride, p.w13.base + row * stride, stride);
    }
    const pool::MoeParams whole = p;
    p.expertRows = secondRows.data();
    for (pool::RowBase* part : {&p.w13, &p.s13, &p.w2, &p.s2}) part->base = second.data() + (part->base - whole.w13.base);
    gemms(p, p.blocks.maxBlocks);
    p = whole;
    p.expertRows = firstRows.data();
    const int half = p.blocks.maxBlocks / 2;
    p.firstBlock = half;
    gemms(p, p.blocks.maxBlocks - half);
    p.firstBlock = 0;
    gemms(p, half);
    sum(p);
  }

  void sum(const pool::MoeParams& p) {
    const int vectors = p.tokens * p.hidden / 8;
    const int blocks = (vectors + pool::kSumThreads - 1) / pool::kSumThreads;
    withType([&](auto type) { launch(pool::kSumThreads, blocks, 0, [&] { pool::generalSum<decltype(type)>(p); }); });
  }

  void gemms(const pool::MoeParams& p, int blocks) {
    withType([&](auto type) {
      using Aligned8 = pool::Aligned8<decltype(type)>;
      using Aligned16 = pool::Aligned16<decltype(type)>;
      using Aligned32 = pool::Aligned32<decltype(type)>;
      if (p.blocks.blockLanes == 8) gemms<Aligned8>(p, blocks);
      else if (p.blocks.blockLanes == 16) gemms<Aligned8, Aligned16>(p, blocks);
      else gemms<Aligned8, Aligned16, Aligned32>(p, blocks);
    });
  }

  template <typename... Products>
  void gemms(const pool::MoeParams& p, int blocks) {
    const pool::MoeBlock block = pool::WidestOf<Products...>::block();
    launchWaiting(block.threads(), blocks * block.parts(p.hidden, p.width), block.sharedBytes(block.lanes()),
                  [&](uint8_t* shared) { pool::generalGemms<Products...>(p, shared); });
  }

  // Blocks that wait for others take turns where they are few, each with shared memory of its own: a wait left out shows.
  template <typename Kernel>
  void launchWaiting(int threads, int blocks, int sharedBytes, const Kernel& kernel) {
    if (blocks > kBlocksInTurns) {
      launch(threads, blocks, sharedBytes, [&] { kernel(cpu::dynamicShared().data()); });
      return;
    }
    constexpr int kGuard = 1024;
    const size_t apart = sharedBytes + kGuard;
    std::vector<uint8_t> shared(blocks * apart, 0xff);
    cpu::Block::runInTurns(threads, blocks, seed_++, [&] { kernel(shared.data() + blockIdx.x * apart); });
    for (size_t i = 0; i < shared.size(); ++i) {
      if (i % apart >= size_t(sharedBytes) && shared[i] != 0xff) test::moeFailure("a kernel writes past its shared memory");
    }
  }

  // Shared memory is poison before, and must be so behind what the launch asks for after.
  template <typename Kernel>
  void launch(int threads, int blocks, int sharedBytes, const Kernel& kernel) {
    std::vector<uint8_t>& shared = cpu::dynamicShared();
    std::fill(shared.begin(), shared.end(), 0xff);
    cpu::Block(threads, blocks, seed_++).run(kernel);
    for (size_t i = sharedBytes; i < shared.size(); ++i) {
      if (shared[i] != 0xff) test::moeFailure("a kernel writes past its shared memory");
    }
  }

  static constexpr int kBlocksInTurns = 16;

  const test::MoeCase* case_ = nullptr;
  bool inParts_ = false;
  uint64_t seed_ = 1;
};

}  // namespace

int main(int argc, char** argv) {
  const uint64_t seed = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  test::refusals();
  CpuBackend backend;
  test::alignments(backend, {1, 7, 300}, {1, 5, 40}, seed);
  test::alignments(backend, {2 * pool::kWindowLanes + 9}, {3}, seed);  // in three windows
  for (const test::Activations type : {test::Activations::kBf16, test::Activations::kFp16}) {
    test::exactNumbers(backend, {64, 64, 5, 2, type}, 2, seed);
    test::exactNumbers(backend, {64, 64, 1, 1, type}, 1, seed);
    test::oneToken(backend, {64, 128, 0, 0, type}, {3, 16}, seed);
    test::oneToken(backend, {64, 64, 0, 0, type}, {11, 32}, seed);
    test::pooledTokens(backend, {64, 64, 5, 2, type}, 3, 2, 60, seed);
    test::pooledTokens(backend, {128, 192, 9, 4, type}, 2, 5, 40, seed + 1);
    // Fewer blocks than lanes, so that none may be for the missed lanes alone; more parts of a missed row than blocks for it.
    test::pooledTokens(backend, {64, 64, 9, 7, type}, 2, 8, 40, seed + 4);
    test::pooledTokens(backend, {64, 768, 9, 4, type}, 2, 8, 24, seed + 5);
    // Rows over the link in several rounds of chunks, of gate and up and of down.
    test::pooledTokens(backend, {1344, 64, 5, 2, type}, 2, 2, 12, seed + 2);
    test::pooledTokens(backend, {192, 1344, 5, 2, type}, 2, 2, 12, seed + 3);
    test::exactNumbers(backend, {192, 128, 6, 3, type}, 4, seed + 1);
    backend.inParts(true);
    test::exactNumbers(backend, {192, 128, 6, 3, type}, 4, seed + 1);
    backend.inParts(false);
    test::ordersOfSums(backend, {384, 64, 3, 3, type}, seed);
    test::notFinite(backend, {64, 64, 3, 2, type}, seed);
    test::extremeScales(backend, {256, 192, 4, 3, type}, 6, seed + 3);  // sums enough that errors lie close to their mean
    const test::MoeErrors errors = test::randomNumbers(backend, {384, 64, 6, 3, type}, {3, 1, 2}, seed + 2);
    std::printf("%s errors: one GEMM %.2e, chain %.2e, worst lane %.2e\n",
                type == test::Activations::kFp16 ? "fp16" : "bf16", errors.down, errors.chain, errors.worstLane);
  }
  std::printf("MoE kernels on the CPU: all equal to the reference\n");
  return 0;
}
