// The source of the router and the stand-ins, run on the CPU by fibers and compared with plain loops. Argument: seed.
#include "moe_ops_on_cpu.h"

#include "model/smxx_router.cuh"
#include "model/smxx_stand_in.cuh"
#include "router_twin.h"

namespace {

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

void require(bool holds, const std::string& what) {
  if (!holds) fail(what);
}

test::Routing runRouter(const test::RouterCase& c, uint64_t seed) {
  test::Routing r;
  const int groups = (c.tokens + pool::kRouterTokens - 1) / pool::kRouterTokens;
  const int blocks = (c.experts + pool::kRouterWarps - 1) / pool::kRouterWarps * groups;
  r.logits.assign(size_t(c.tokens) * c.experts, -77.0f);
  r.ids.assign(size_t(c.tokens) * c.topK, -77);
  r.weights.assign(size_t(c.tokens) * c.topK, -77.0f);
  const pool::RouterParams params = {c.activations.data(), c.matrix.data(), r.logits.data(), r.ids.data(), r.weights.data(),
                                     c.tokens,             c.hidden,        c.experts,       c.topK};
  require(pool::refusedRouter(c.tokens, c.hidden, c.experts, c.topK) == nullptr, "router: a case is refused");
  cpu::Block(pool::kRouterWarps * pool::kWarp, blocks, seed).run([&] { pool::routerLogits(params); });
  cpu::Block(pool::kChooseThreads, c.tokens, seed).run([&] { pool::chooseExperts(params); });
  return r;
}

void router(int tokens, int hidden, int experts, int topK, uint64_t seed, bool ties) {
  const std::string name = "router " + std::to_string(tokens) + "x" + std::to_string(hidden) + "x" +
                           std::to_string(experts) + " top-" + std::to_string(topK) + ": ";
  const test::RouterCase c(tokens, hidden, experts, topK, seed, ties);
  const test::Routing want = test::routerTwin(c, [](std::vector<float>& values) {
    for (float& value : values) value = pool::expFp32(value);
  });
  const test::Routing got = runRouter(c, seed);
  require(got.logits == want.logits, name + "logits differ from the twin");
  require(got.ids == want.ids, name + "ids differ from the twin");
  require(got.weights == want.weights, name + "weights differ from the twin");
  const test::RouterError error = test::routerError(c, got, 1e-4);
  require(!error.wrongChoice, name + "a choice is not float64's");
  require(error.weight < 1e-5 && error.logit < 1e-5, name + "too far from float64");
}

// A token that is not a number gets topK distinct experts with weights that the planner refuses.
void notANumber() {
  test::RouterCase c(2, 16, 40, 5, 3);
  c.activations[7] = 0x7fc0;
  const test::Routing r = runRouter(c, 9);
  for (int k = 0; k < c.topK; ++k) {
    require(r.ids[k] == k && r.weights[k] != r.weights[k], "router: the token that is not a number");
    require(r.weights[c.topK + k] > 0, "router: its neighbour");
  }
}

void refusals() {
  require(pool::refusedRouter(1, 2560, 512, 10) == nullptr, "refused a good shape");
  const int bad[][4] = {{0, 8, 8, 1}, {1, 12, 8, 1}, {1, 0, 8, 1}, {1, 8, 4097, 1}, {1, 8, 8, 9}, {1, 8, 128, 65}, {1, 8, 8, 0}};
  for (const auto& b : bad) require(pool::refusedRouter(b[0], b[1], b[2], b[3]) != nullptr, "took a bad shape");
}

struct StandInCase {
  std::vector<uint64_t> memory;
  std::vector<uint16_t> after;
  pool::StandInState state = {};
  int64_t units = 0;

  uint64_t digest(uint64_t bytes, uint64_t bytesPerUnit, bool withUnits, int64_t maxUnits, int blocks) {
    const pool::StandInParams params = {reinterpret_cast<const uint8_t*>(memory.data()), bytes, bytesPerUnit,
                                        withUnits ? &units : nullptr, maxUnits, after.data(), &state,
                                        static_cast<int32_t>(after.size()), 0};
    cpu::Block(64, blocks, blocks).run([&] { pool::standIn<64, 3>(params); });
    require(state.sum == 0 && state.arrived == 0, "stand-in: the scratch is not 0 after a call");
    return state.digest;
  }
};

void standIn(uint64_t seed) {
  std::mt19937_64 random(seed);
  StandInCase c;
  c.memory.resize(2 * 4000);
  c.after.resize(333);
  for (uint64_t& word : c.memory) word = random();
  for (uint16_t& value : c.after) value = static_cast<uint16_t>(random());
  const uint64_t bytes = 16 * (1 + random() % 1000);
  const uint64_t whole = c.digest(bytes, 0, false, 0, 1);
  for (int blocks : {2, 5, 70}) require(c.digest(bytes, 0, false, 0, blocks) == whole, "stand-in: another grid, another digest");
  const auto changes = [&](auto& word, const char* what) {
    const auto kept = word;
    word ^= 1;
    require(c.digest(bytes, 0, false, 0, 3) != whole, std::string("stand-in: not read: ") + what);
    word = kept;
  };
  for (uint64_t i = 0; i < bytes / 8; ++i) changes(c.memory[i], "a word");
  for (uint16_t& value : c.after) changes(value, "the layer's output");
  c.memory[bytes / 8] ^= 1;
  require(c.digest(bytes, 0, false, 0, 3) == whole, "stand-in: read past its bytes");

  // The same bytes as a fixed part and units of a context; contexts outside [0, maxUnits] are cut.
  const uint64_t three = c.digest(16 * 10 + 3 * 32, 0, false, 0, 2);
  c.units = 3;
  require(c.digest(16 * 10, 32, true, 100, 2) == three, "stand-in: units");
  c.units = 300;
  require(c.digest(16 * 10, 32, true, 3, 2) == three, "stand-in: more units than there may be");
  c.units = -5;
  require(c.digest(16 * 10, 32, true, 3, 2) == c.digest(16 * 10, 0, false, 0, 1), "stand-in: negative units");
  require(c.digest(0, 0, false, 0, 2) != whole, "stand-in: nothing but the layer's output");
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t seed = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  for (bool ties : {false, true}) {
    router(1, 8, 1, 1, seed, ties);
    router(1, 40, 7, 7, seed, ties);
    router(3, 64, 130, 64, seed, ties);
    router(9, 264, 300, 10, seed, ties);
    router(1, 2560, 512, 10, seed, ties);
    router(2, 24, 4096, 8, seed, ties);
  }
  notANumber();
  refusals();
  for (uint64_t i = 0; i < 3; ++i) standIn(seed + i);
  std::printf("router and stand-ins on the CPU: all equal to plain loops\n");
  return 0;
}
