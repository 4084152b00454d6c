// What every way to run the MoE must fulfil. A backend has card(), load(case) and run(call, way), the scratch and output
// poisoned.
#pragma once

#include <string>

#include "moe_rows.h"

namespace test {

[[noreturn]] inline void moeFailure(const std::string& what) {
  std::printf("FAILED %s\n", what.c_str());
  std::exit(1);
}

// The bank after a call: missed rows have come, all else is as it was.
inline void requireBank(const std::vector<uint8_t>& got, const CallRows& rows, const std::string& way) {
  if (got == rows.after) return;
  for (size_t i = 0; i < got.size(); ++i) {
    if (got[i] != rows.after[i]) {
      moeFailure(way + ": bank row " + std::to_string(i / rows.rowBytes) + " differs at byte " + std::to_string(i % rows.rowBytes));
    }
  }
}

// Blocks of lanes by the definition of marlin-nvfp4 4.1, invalid experts ignored.
struct ReferenceBlocks {
  ReferenceBlocks(const std::vector<int32_t>& ids, int experts, int blockLanes) {
    const int lanes = static_cast<int>(ids.size());
    const int64_t maxBlocks = pool::maxLaneBlocks(lanes, experts, blockLanes);
    for (int e = 0; e < experts; ++e) {
      const size_t first = sortedLanes.size();
      for (int lane = 0; lane < lanes; ++lane) {
        if (ids[lane] == e) sortedLanes.push_back(lane);
      }
      while (sortedLanes.size() % blockLanes != 0) sortedLanes.push_back(lanes);
      blockExperts.resize(blockExperts.size() + (sortedLanes.size() - first) / blockLanes, e);
    }
    paddedLanes = static_cast<int32_t>(sortedLanes.size());
    sortedLanes.resize(maxBlocks * blockLanes, lanes);
    blockExperts.resize(maxBlocks, -1);
  }

  std::vector<int32_t> sortedLanes, blockExperts;
  int32_t paddedLanes;
};

inline std::string describe(const MoeGeometry& g, const MoeWay& way, int tokens) {
  char text[160];
  std::snprintf(text, sizeof text, "%s %s, hidden %d, width %d, %d experts, top-%d, %d tokens",
                g.fp16() ? "fp16" : "bf16", way.name.c_str(), g.hidden, g.width, g.experts, g.topK, tokens);
  return text;
}

inline void requireEqual(const std::vector<uint16_t>& got, const std::vector<uint16_t>& expected, size_t stride,
                         const MoeGeometry& g, const std::string& what) {
  for (size_t i = 0; i < expected.size(); ++i) {
    if (got[i] == expected[i]) continue;
    moeFailure(what + ": row " + std::to_string(i / stride) + " place " + std::to_string(i % stride) + ": " +
               std::to_string(g.value(got[i])) + ", expected " + std::to_string(g.value(expected[i])));
  }
}

// Shapes that the kernels would compute wrongly have a reason not to be taken.
inline void refusals() {
  const struct {
    int64_t tokens, topK, hidden, width, experts;
    const char* refused;  // the beginning of the reason, or null
  } shapes[] = {{1, 10, 2560, 640, 512, nullptr},
                {8192, 8, 2048, 768, 128, nullptr},
                {1, 1, 64, 64, 1, nullptr},
                {8192, 4096, 65536, 65536, 4096, nullptr},
                {1, 10, 0, 640, 512, "hidden must be a"},
                {1, 10, -64, 640, 512, "hidden must be a"},
                {1, 10, 32, 640, 512, "hidden must be a"},
                {1, 10, 2592, 640, 512, "hidden must be a"},
                {1, 10, 65600, 640, 512, "hidden and width must be at most"},
                {1, 10, 2560, 0, 512, "width must be a"},
                {1, 10, 2560, 80, 512, "width must be a"},
                {1, 10, 2560, 65600, 512, "hidden and width must be at most"},
                {1, 10, int64_t{1} << 40, 640, 512, "hidden and width must be at most"},
                {1, 1, 2560, 640, 0, "experts must be"},
                {1, 10, 2560, 640, 4097, "experts must be"},
                {1, 0, 2560, 640, 512, "topK must be"},
                {1, 11, 2560, 640, 10, "topK must be"},
                {0, 10, 2560, 640, 512, "tokens must be"},
                {8193, 10, 2560, 640, 512, "tokens must be"}};
  for (const auto& s : shapes) {
    const char* reason = pool::refusedMoe(s.tokens, s.topK, s.hidden, s.width, s.experts);
    const bool right = s.refused == nullptr ? reason == nullptr
                                            : reason != nullptr && std::string(reason).rfind(s.refused, 0) == 0;
    if (!right) {
      moeFailure("refusal of hidden " + std::to_string(s.hidden) + ", width " + std::to_string(s.width) + ", " +
                 std::to_string(s.experts) + " experts, top-" + std::to_string(s.topK) + ", " + std::to_string(s.tokens) +
                 " tokens: " + (reason == nullptr ? "none" : reason));
    }
  }
}

// Every lane and output of a call equal to the rounded reference, on numbers whose sums are exact.
template <typename Backend>
void exactCall(Backend& backend, const MoeCase& experts, const MoeCall& call) {
  const MoeGeometry& g = experts.g;
  const RoundedReference reference(experts, call);
  if (reference.largestRatio >= 4194304.0) moeFailure("the exact numbers are not exact");
  for (const MoeWay& way : moeWays()) {
    if (!way.takes(g, call.tokens, backend.card())) continue;
    const MoeResult result = backend.run(call, way);
    const std::string what = "exact, " + describe(g, way, call.tokens);
    for (size_t lane = 0; lane < call.ids.size(); ++lane) {
      if (!validLane(g, call.ids[lane])) continue;
      const auto rowOf = [&](const std::vector<uint16_t>& all, int stride) {
        return std::vector<uint16_t>(all.begin() + lane * stride, all.begin() + (lane + 1) * stride);
      };
      const std::string where = what + ", lane " + std::to_string(lane);
      requireEqual(rowOf(result.inner, g.width), rowOf(reference.result.inner, g.width), g.width, g, where + " inner");
      requireEqual(rowOf(result.laneOut, g.hidden), rowOf(reference.result.laneOut, g.hidden), g.hidden, g,
                   where + " out");
    }
    requireEqual(result.out, reference.result.out, g.hidden, g, what);
  }
}

template <typename Backend>
void exactNumbers(Backend& backend, const MoeGeometry& g, int tokens, uint64_t seed) {
  if (pool::refusedMoe(tokens, g.topK, g.hidden, g.width, g.experts)) moeFailure("the test's shape is refused");
  const MoeCase experts(g, Numbers::kExact, Rule::kNewer, 3, seed);
  backend.load(experts);
  exactCall(backend, experts, makeCall(g, Numbers::kExact, tokens, true, seed));
}

// One token by so many slots: some of them bad, all missed where odd experts are, all to one expert, and none valid.
template <typename Backend>
void oneToken(Backend& backend, MoeGeometry g, const std::vector<int>& topKs, uint64_t seed) {
  g.experts = *std::max_element(topKs.begin(), topKs.end()) / 2 * 2 + 2;
  MoeCase experts(g, Numbers::kExact, Rule::kNewer, 1, seed);
  backend.load(experts);
  for (int topK : topKs) {
    experts.g.topK = topK;
    MoeCall call = makeCall(experts.g, Numbers::kExact, 1, true, seed + topK);
    exactCall(backend, experts, call);
    route(experts.g, Numbers::kExact, false, seed + topK, call);
    for (int32_t& id : call.ids) id |= 1;
    exactCall(backend, experts, call);
    std::fill(call.ids.begin(), call.ids.end(), 1 + topK % 2);
    exactCall(backend, experts, call);
    std::fill(call.ids.begin(), call.ids.end(), g.experts);
    exactCall(backend, experts, call);
  }
}

// The order of the chunks and of the slots, which exact numbers can't show.
template <typename Backend>
void ordersOfSums(Backend& backend, const MoeGeometry& g, uint64_t seed) {
  const MoeCase experts(g, Numbers::kExact, Rule::kNewer, 3, seed);
  const MoeCall call = makeCancellingCall(g);
  const RoundedReference reference(experts, call);
  backend.load(experts);
  for (const MoeWay& way : moeWays()) {
    if (!way.takes(g, 1, backend.card())) continue;
    requireEqual(backend.run(call, way).out, reference.result.out, g.hidden, g, "order of sums, " + describe(g, way, 1));
  }
}

// What is not finite goes its way as IEEE 754 has it, and every NaN is one and the same: lanes too large, an activation that
// is infinite, one that is NaN.
template <typename Backend>
void notFinite(Backend& backend, const MoeGeometry& g, uint64_t seed) {
  const MoeCase experts(g, Numbers::kExact, Rule::kNewer, 3, seed);
  MoeCall call = makeCall(g, Numbers::kExact, 3, false, seed);
  for (int slot = 0; slot < g.topK; ++slot) call.weights[slot] = slot % 2 ? -0x1p20f : 0x1p20f;
  call.activations[g.hidden + 1] = g.fp16() ? 0xfc00 : 0xff80;
  call.activations[2 * g.hidden + 1] = g.fp16() ? 0xfd01 : 0xffa1;
  const RoundedReference reference(experts, call);
  const auto count = [&](uint16_t bits) { return std::count(reference.result.out.begin(), reference.result.out.end(), bits); };
  if (count(kNan16) < g.hidden || count(g.bits(INFINITY)) + count(g.bits(-INFINITY)) == 0) moeFailure("all is finite");
  backend.load(experts);
  for (const MoeWay& way : moeWays()) {
    if (way.takes(g, 3, backend.card())) {
      requireEqual(backend.run(call, way).out, reference.result.out, g.hidden, g, "not finite, " + describe(g, way, 3));
    }
    for (int t = 0; t < 3 && way.takes(g, 1, backend.card()); ++t) {
      const auto out = reference.result.out.begin() + t * g.hidden;
      requireEqual(backend.run(call.only(t, g), way).out, {out, out + g.hidden}, g.hidden, g,
                   "not finite, token " + std::to_string(t) + " alone, " + describe(g, way, 1));
    }
  }
}

// What alignment leaves.
struct AlignResult {
  std::vector<int32_t> sortedLanes, blockExperts;
  int32_t paddedLanes;
};

// Alignment equal to its definition: few and many lanes, one to 4,096 experts, ids out of range, all lanes to one expert.
template <typename Backend>
void alignments(Backend& backend, const std::vector<int>& laneCounts, const std::vector<int>& expertCounts, uint64_t seed) {
  std::mt19937_64 random(seed);
  for (int lanes : laneCounts)
    for (int experts : expertCounts)
      for (int blockLanes : {8, 16, 32})
        for (int kind = 0; kind < 3; ++kind) {
          std::vector<int32_t> ids(lanes);
          for (int32_t& id : ids) {
            id = kind == 1 ? experts - 1 : static_cast<int32_t>(random() % experts);
            if (kind == 2 && random() % 3 == 0) id = random() % 2 ? -1 : experts + static_cast<int32_t>(random() % 9);
          }
          const ReferenceBlocks expected(ids, experts, blockLanes);
          const AlignResult got = backend.align(ids, experts, blockLanes);
          if (got.sortedLanes != expected.sortedLanes || got.blockExperts != expected.blockExperts ||
              got.paddedLanes != expected.paddedLanes) {
            moeFailure("alignment of " + std::to_string(lanes) + " lanes, " + std::to_string(experts) + " experts, " +
                       std::to_string(blockLanes) + " a block, kind " + std::to_string(kind));
          }
        }
}

// Relative errors against float64.
struct MoeErrors {
  double down = 0;       // one GEMM, from the kernel's own inner values; bound 2e-3
  double chain = 0;      // [tokens, hidden]; bound 5e-3
  double worstLane = 0;  // bound 1e-2
};

inline double norm(const std::vector<double>& v) {
  double sum = 0;
  for (double x : v) sum += x * x;
  return std::sqrt(sum);
}

inline MoeErrors errorsOf(const MoeCase& experts, const MoeCall& call, const MoeResult& result) {
  const MoeGeometry g = experts.g;
  std::vector<double> exact(result.out.size()), difference(result.out.size());
  double downError = 0, downNorm = 0;
  MoeErrors errors;
  for (int e = 0; e < g.experts; ++e) {
    if (std::find(call.ids.begin(), call.ids.end(), e) == call.ids.end()) continue;
    const DenseExpert dense(experts, e);
    for (size_t lane = 0; lane < call.ids.size(); ++lane) {
      if (call.ids[lane] != e) continue;
      const size_t token = lane / g.topK;
      const std::vector<double> out = dense.down(dense.inner(call.activations.data() + token * g.hidden));
      std::vector<double> own(g.width);
      for (int n = 0; n < g.width; ++n) own[n] = g.value(result.inner[lane * g.width + n]);
      const std::vector<double> ownOut = dense.down(own);
      double laneError = 0, laneNorm = 0;
      for (int h = 0; h < g.hidden; ++h) {
        const double weight = call.weights[lane];
        const double got = g.value(result.laneOut[lane * g.hidden + h]);
        exact[token * g.hidden + h] += weight * out[h];
        laneError += std::pow(got - weight * out[h], 2);
        laneNorm += std::pow(weight * out[h], 2);
        downError += std::pow(got - weight * ownOut[h], 2);
        downNorm += std::pow(weight * ownOut[h], 2);
      }
      errors.worstLane = std::max(errors.worstLane, std::sqrt(laneError / laneNorm));
    }
  }
  for (size_t i = 0; i < exact.size(); ++i) difference[i] = g.value(result.out[i]) - exact[i];
  errors.down = std::sqrt(downError / downNorm);
  errors.chain = norm(difference) / norm(exact);
  return errors;
}

inline void requireBounds(const MoeErrors& e, const std::string& what) {
  // Written so that NaN fails.
  if (!(e.down <= 2e-3 && e.chain <= 5e-3 && e.worstLane <= 1e-2)) {
    char text[120];
    std::snprintf(text, sizeof text, ": down %.2e, chain %.2e, worst lane %.2e", e.down, e.chain, e.worstLane);
    moeFailure(what + text);
  }
}

// Random numbers: within the bounds of float64; every way and every token alone give the same bits, in any placement.
template <typename Backend>
MoeErrors randomNumbers(Backend& backend, const MoeGeometry& g, const std::vector<int>& tokenCounts, uint64_t seed) {
  MoeCase experts(g, Numbers::kRandom, Rule::kNewer, 5, seed);
  const int most = *std::max_element(tokenCounts.begin(), tokenCounts.end());
  const MoeCall call = makeCall(g, Numbers::kRandom, most, true, seed);
  backend.load(experts);
  MoeResult expected;
  MoeErrors errors;
  bool haveExpected = false;
  for (int placement = 0; placement < 2; ++placement) {
    for (int tokens : tokenCounts) {
      const MoeCall part = call.first(tokens, g);
      for (const MoeWay& way : moeWays()) {
        if (!way.takes(g, tokens, backend.card())) continue;
        const MoeResult result = backend.run(part, way);
        if (tokens == most && !haveExpected) {
          expected = result;
          haveExpected = true;
          errors = errorsOf(experts, part, result);
          requireBounds(errors, describe(g, way, tokens));
        }
        if (!haveExpected) moeFailure("the largest token count comes first");
        requireEqual(result.out, {expected.out.begin(), expected.out.begin() + size_t(tokens) * g.hidden}, g.hidden, g,
                     "bits, placement " + std::to_string(placement) + ", " + describe(g, way, tokens));
      }
    }
    const int step = std::max(1, most / 16);
    for (int t = 0; t < most; t += step) {
      for (const MoeWay& way : moeWays()) {
        if (!way.takes(g, 1, backend.card())) continue;
        requireEqual(backend.run(call.only(t, g), way).out,
                     {expected.out.begin() + size_t(t) * g.hidden, expected.out.begin() + size_t(t + 1) * g.hidden},
                     g.hidden, g, "bits, token " + std::to_string(t) + " alone, " + describe(g, way, 1));
      }
    }
    experts.place(2);
    backend.load(experts);
  }
  return errors;
}

// The extreme scales of marlin-nvfp4 2.5 under both rules: within the bounds, and the same bits from a way of each kind.
template <typename Backend>
void extremeScales(Backend& backend, const MoeGeometry& g, int tokens, uint64_t seed) {
  for (const Numbers numbers : {Numbers::kWorstScales, Numbers::kTinyScales, Numbers::kTinyGlobals})
    for (const Rule rule : {Rule::kNewer, Rule::kOlder}) {
      const MoeCase experts(g, numbers, rule, 1, seed);
      const MoeCall call = makeCall(g, numbers, tokens, false, seed);
      backend.load(experts);
      const std::string kind = " of kind " + std::to_string(static_cast<int>(numbers)) + (rule == Rule::kNewer ? ", newer" : ", older");
      const std::vector<MoeWay> ways = moeWays();
      const MoeResult result = backend.run(call, ways.front());
      requireBounds(errorsOf(experts, call, result), "scales" + kind + " rule, " + describe(g, ways.front(), tokens));
      requireEqual(backend.run(call, ways.back()).out, result.out, g.hidden, g, "bits, scales" + kind + " rule");
    }
}

}  // namespace test
