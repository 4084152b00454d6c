// Experts for the MoE tests: plain codes and scales, the same packed into bank rows, and references in float64.
//
// The packer and the references follow marlin-nvfp4 sections 1 and 2 and share no code with the kernels.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "pool/moe.h"

namespace test {

// The type of activations, inner values and outputs.
enum class Activations { kBf16, kFp16 };

inline float bf16Value(uint16_t bits) {
  const uint32_t word = static_cast<uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &word, sizeof value);
  return value;
}

inline float fp16Value(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int mantissa = bits & 1023;
  const float magnitude = exponent == 31  ? (mantissa ? NAN : INFINITY)
                          : exponent == 0 ? std::ldexp(float(mantissa), -24)
                                          : std::ldexp(float(1024 + mantissa), exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

// Nearest of the numbers with so many bits whose last place is 2^leastPlace or more, ties to even.
inline double nearest(double value, int bits, int leastPlace) {
  int exponent;
  std::frexp(value, &exponent);
  const double place = std::ldexp(1.0, std::max(exponent - bits, leastPlace));
  return std::nearbyint(value / place) * place;
}

constexpr uint16_t kNan16 = 0x7fff;  // what every NaN becomes, in both types

inline uint16_t bf16Bits(float value) {
  if (std::isnan(value)) return kNan16;
  const float rounded = std::isfinite(value) ? static_cast<float>(nearest(value, 8, -133)) : value;
  uint32_t word;
  std::memcpy(&word, &rounded, sizeof word);
  return static_cast<uint16_t>(word >> 16);
}

inline uint16_t fp16Bits(float value) {
  if (std::isnan(value)) return kNan16;
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double rounded = std::isfinite(value) ? nearest(std::fabs(value), 11, -24) : INFINITY;
  if (rounded > 65504) return sign | 0x7c00;
  int exponent;
  std::frexp(rounded, &exponent);
  if (rounded < 0x1p-14) return sign | static_cast<uint16_t>(std::ldexp(rounded, 24));
  return sign | static_cast<uint16_t>((exponent + 14) << 10 | (static_cast<int>(std::ldexp(rounded, 11 - exponent)) & 1023));
}

struct MoeGeometry {
  int hidden;
  int width;
  int experts;
  int topK;
  Activations type = Activations::kBf16;

  bool fp16() const { return type == Activations::kFp16; }
  float value(uint16_t bits) const { return fp16() ? fp16Value(bits) : bf16Value(bits); }
  uint16_t bits(float value) const { return fp16() ? fp16Bits(value) : bf16Bits(value); }
  // Accumulators are the true sums times 2^-log2Alpha * sf / global scale (marlin-nvfp4 2.6).
  int log2Alpha() const { return fp16() ? 7 : 119; }
};

// How block scales are rescaled (marlin-nvfp4 2.5); fp16 never rescales, but the newer rule zeroes for it too.
enum class Rule { kNewer, kOlder };

// What the numbers are like.
enum class Numbers {
  kRandom,       // normal activations, any code, block scales from 1/4 to 8, global scales of every projection different
  kWorstScales,  // the same, but every block scale is 448 or the smallest, 2^-9
  kTinyScales,   // block scales from 2^-9 to 2^-6, the smallest that are
  kTinyGlobals,  // large block scales, global scales as small as accumulators and results can be without being subnormal
  kExact,        // all sums exact in fp32 in any order (marlin-nvfp4 2.8)
};

inline double e2m1(int code) {
  static const double magnitudes[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  return code & 8 ? -magnitudes[code & 7] : magnitudes[code & 7];
}

inline double e4m3(int byte) {
  const int exponent = byte >> 3 & 15;
  const int mantissa = byte & 7;
  return exponent == 0 ? std::ldexp(mantissa, -9) : std::ldexp(8 + mantissa, exponent - 10);
}

// One projection as a checkpoint has it: codes [n][k], one E4M3 byte for each 16 k.
struct PlainMatrix {
  int n;
  int k;
  float global;
  int shift;  // scale factor sf = 2^shift
  std::vector<uint8_t> codes;
  std::vector<uint8_t> scales;
  std::vector<double> rescaled;  // of each E4M3 byte below 0x7f: what the kernel's scale code stands for, times sf

  double scaleOf(int row, int group) const { return rescaled[scales[size_t(row) * (k / 16) + group]]; }
  // Code times scale as the kernel sees it, but for its power of two.
  double scaled(int row, int column) const { return e2m1(codes[size_t(row) * k + column]) * scaleOf(row, column / 16); }

  // Chooses sf and what becomes of each scale.
  void rescale(Rule rule, Activations type) {
    double largest = 0, smallest = INFINITY;
    for (uint8_t scale : scales) {
      largest = std::max(largest, e4m3(scale));
      if (scale != 0) smallest = std::min(smallest, e4m3(scale));
    }
    shift = 0;
    if (type == Activations::kBf16 && largest > 0) {
      if (rule == Rule::kNewer && largest < 448) shift = static_cast<int>(std::floor(std::log2(448 / largest)));
      if (rule == Rule::kOlder && smallest < std::ldexp(1.0, -6)) {
        shift = static_cast<int>(std::ceil(std::log2(std::ldexp(1.0, -6) / smallest)));
      }
    }
    for (int byte = 0; byte < 0x7f; ++byte) {
      const double value = std::ldexp(e4m3(static_cast<uint8_t>(byte)), shift);
      // The code of what overflows half is that of infinity, which is read as 512.
      rescaled.push_back(rule == Rule::kNewer && value < std::ldexp(1.0, -6) ? 0.0 : value * 128 >= 65520 ? 512.0 : value);
    }
  }
};

class MoeCase {
 public:
  MoeCase(const MoeGeometry& geometry, Numbers numbers, Rule rule, int spareRows, uint64_t seed)
      : g(geometry), random_(seed), numbers_(numbers), rule_(rule) {
    for (int e = 0; e < g.experts; ++e) {
      gate.push_back(matrix(g.width, g.hidden, 0));
      up.push_back(matrix(g.width, g.hidden, 1));
      down.push_back(matrix(g.hidden, g.width, 2));
    }
    for (int e = 0; e < g.experts; ++e) {
      alphas.push_back({alpha(gate[e]), alpha(up[e]), alpha(down[e])});
    }
    place(spareRows);
  }

  size_t w13Bytes() const { return size_t(g.hidden) * g.width; }
  size_t s13Bytes() const { return w13Bytes() / 8; }
  size_t w2Bytes() const { return w13Bytes() / 2; }
  size_t s2Bytes() const { return w13Bytes() / 16; }
  size_t rowBytes() const { return w13Bytes() + s13Bytes() + w2Bytes() + s2Bytes(); }

  // Puts the experts into other rows; what no expert owns is poison.
  void place(int spareRows) {
    const int rows = g.experts + spareRows;
    std::vector<int32_t> order(rows);
    for (int i = 0; i < rows; ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), random_);
    expertRows.assign(order.begin(), order.begin() + g.experts);
    bank.assign(rows * rowBytes(), 0xff);
    for (int e = 0; e < g.experts; ++e) pack(e, bank.data() + expertRows[e] * rowBytes());
  }

  MoeGeometry g;  // calls of another top-k may follow
  std::vector<PlainMatrix> gate, up, down;
  std::vector<pool::ExpertAlphas> alphas;
  std::vector<uint8_t> bank;        // [rows][w13, s13, w2, s2]
  std::vector<int32_t> expertRows;  // [experts]

 private:
  float alpha(const PlainMatrix& m) const { return std::ldexp(m.global, g.log2Alpha() - m.shift); }
  int draw(int from, int to) { return std::uniform_int_distribution<int>(from, to)(random_); }

  PlainMatrix matrix(int n, int k, int projection) {
    PlainMatrix m{n, k, 1.0f, 0, std::vector<uint8_t>(size_t(n) * k), std::vector<uint8_t>(size_t(n) * (k / 16)), {}};
    if (numbers_ != Numbers::kExact) {
      for (auto& code : m.codes) code = static_cast<uint8_t>(draw(0, 15));
      for (auto& scale : m.scales) scale = scaleByte();
      m.global = globalScale(k, projection);
    } else {
      // Gate reads k = 0 alone, so silu's argument is large and silu exact; the others have few small values.
      for (int row = 0; row < n; ++row)
        for (int column = 0; column < k; ++column) {
          const int any = column % pool::kChunkK == 0 ? 2 : draw(0, 3) == 0 ? draw(0, 15) : 0;
          m.codes[size_t(row) * k + column] = static_cast<uint8_t>(projection == 0 ? (column == 0 ? 2 : 0) : any);
        }
      for (size_t i = 0; i < m.scales.size(); ++i) {
        const bool firstOfChunk = i % (k / 16) % pool::kChunkSteps == 0;
        m.scales[i] = static_cast<uint8_t>(projection == 0 || firstOfChunk ? 0x38 : 0x38 + 8 * draw(0, 1));
      }
      const float bf16[] = {128.0f, 0.5f, 2.0f};
      const float fp16[] = {32.0f, 0.125f, 0x1p-8f};  // nothing overflows
      m.global = (g.fp16() ? fp16 : bf16)[projection];
    }
    m.rescale(rule_, g.type);
    return m;
  }

  uint8_t scaleByte() {
    switch (numbers_) {
      case Numbers::kWorstScales: return draw(0, 1) ? 0x7e : 0x01;
      case Numbers::kTinyScales: return static_cast<uint8_t>(draw(0x01, 0x08));
      case Numbers::kTinyGlobals: return static_cast<uint8_t>(draw(0x70, 0x7e));
      default: return static_cast<uint8_t>(draw(0x28, 0x50));
    }
  }

  // Results near unit size for the scales above: silu is neither linear nor zero, and fp16 neither overflows nor is
  // subnormal. Up is not gate (bug 5 of marlin-nvfp4 8).
  float globalScale(int k, int projection) {
    int exponent = projection == 1 ? -10 : -11;
    if (numbers_ == Numbers::kWorstScales) exponent -= 8;
    if (numbers_ == Numbers::kTinyScales) exponent += 9;
    if (numbers_ == Numbers::kTinyGlobals) exponent -= g.fp16() || projection == 0 ? 7 : projection == 1 ? 16 : 90;
    return std::ldexp(float(draw(128, 255)), exponent) / std::sqrt(float(k));
  }

  static void packWord(const PlainMatrix& m, int row, int n, int channels, uint8_t* words) {
    for (int k = 0; k < m.k; ++k) {
      const int nr = n % 64, kr = k % 16;
      const int lane = 4 * (nr % 8) + kr % 8 / 2;
      const size_t word = size_t(k / 16) * 2 * channels + n / 64 * 128 + lane * 4 + nr / 16;
      const int nibble = 4 * (kr % 2) + 2 * (nr % 16 / 8) + kr / 8;
      uint8_t& byte = words[word * 4 + nibble / 2];
      const int at = nibble % 2 * 4;
      byte = static_cast<uint8_t>((byte & ~(15 << at)) | m.codes[size_t(row) * m.k + k] << at);
    }
  }

  static void packScale(const PlainMatrix& m, int row, int n, int channels, uint8_t* codes) {
    const int v = n % 64 / 8;
    const int sigma = (v & 4) | (v & 1) << 1 | (v >> 1 & 1);
    for (int group = 0; group < m.k / 16; ++group) {
      const double value = std::ldexp(m.scaleOf(row, group), 7);
      int code = 0;
      if (value > 0) {  // always a normal half
        int exponent;
        const double fraction = std::frexp(value, &exponent);  // value = fraction * 2^exponent, fraction in [0.5, 1)
        code = (exponent - 1 + 15) * 8 + static_cast<int>(fraction * 16) - 8;
      }
      codes[size_t(group) * channels + n / 64 * 64 + n % 8 * 8 + sigma] = static_cast<uint8_t>(code);
    }
  }

  void pack(int e, uint8_t* row) const {
    uint8_t* s13 = row + w13Bytes();
    uint8_t* w2 = s13 + s13Bytes();
    uint8_t* s2 = w2 + w2Bytes();
    for (int n = 0; n < g.width; ++n) {
      packWord(gate[e], n, n, 2 * g.width, row);
      packWord(up[e], n, g.width + n, 2 * g.width, row);
      packScale(gate[e], n, n, 2 * g.width, s13);
      packScale(up[e], n, g.width + n, 2 * g.width, s13);
    }
    for (int n = 0; n < g.hidden; ++n) {
      packWord(down[e], n, n, g.hidden, w2);
      packScale(down[e], n, n, g.hidden, s2);
    }
  }

  std::mt19937_64 random_;
  const Numbers numbers_;
  const Rule rule_;
};

// Inputs of one layer call.
struct MoeCall {
  int tokens;
  std::vector<uint16_t> activations;  // [tokens, hidden]
  std::vector<int32_t> ids;           // [tokens * topK]
  std::vector<float> weights;

  // Token t alone.
  MoeCall only(int t, const MoeGeometry& g) const {
    return {1,
            {activations.begin() + size_t(t) * g.hidden, activations.begin() + size_t(t + 1) * g.hidden},
            {ids.begin() + t * g.topK, ids.begin() + (t + 1) * g.topK},
            {weights.begin() + t * g.topK, weights.begin() + (t + 1) * g.topK}};
  }
  MoeCall first(int count, const MoeGeometry& g) const {
    return {count,
            {activations.begin(), activations.begin() + size_t(count) * g.hidden},
            {ids.begin(), ids.begin() + count * g.topK},
            {weights.begin(), weights.begin() + count * g.topK}};
  }
};

// Distinct experts for each token, drawn uniformly; where badLanes, some lanes carry no expert or repeat another's.
inline void route(const MoeGeometry& g, Numbers numbers, bool badLanes, uint64_t seed, MoeCall& call) {
  std::mt19937_64 random(seed);
  call.ids.resize(call.tokens * g.topK);
  call.weights.resize(call.ids.size());
  std::vector<int32_t> experts(g.experts);
  for (int e = 0; e < g.experts; ++e) experts[e] = e;
  for (size_t lane = 0; lane < call.ids.size(); ++lane) {
    const size_t slot = lane % g.topK;
    std::swap(experts[slot], experts[slot + random() % (g.experts - slot)]);
    call.ids[lane] = experts[slot];
    call.weights[lane] = numbers == Numbers::kExact ? std::ldexp(1.0f, -static_cast<int>(random() % 3))
                                                    : 0.02f + float(random() % 1000) / 5000.0f;
    if (badLanes && random() % 5 == 0) call.ids[lane] = random() % 2 ? -1 : (random() % 2 ? g.experts : 0x7fffffff);
    if (badLanes && slot > 0 && random() % 9 == 0) call.ids[lane] = call.ids[lane - 1];
  }
}

inline MoeCall makeCall(const MoeGeometry& g, Numbers numbers, int tokens, bool badLanes, uint64_t seed) {
  std::mt19937_64 random(seed);
  MoeCall call{tokens, std::vector<uint16_t>(size_t(tokens) * g.hidden), {}, {}};
  std::normal_distribution<float> normal;
  for (size_t i = 0; i < call.activations.size(); ++i) {
    const int few = static_cast<int>(random() % 24);
    const float exact = i % g.hidden == 0 ? 1.0f : few == 0 ? 1.0f : few == 1 ? -1.0f : 0.0f;
    call.activations[i] = g.bits(numbers == Numbers::kExact ? exact : normal(random));
  }
  route(g, numbers, badLanes, seed + 1, call);
  return call;
}

// One token whose sums are exact in the order that the design fixes and in no other: the first two chunks of K cancel and
// the third is far smaller; so do the first two slots and the third. For Numbers::kExact, hidden above 320, top-3 or more.
inline MoeCall makeCancellingCall(const MoeGeometry& g) {
  MoeCall call{1, std::vector<uint16_t>(g.hidden), std::vector<int32_t>(g.topK, -1), std::vector<float>(g.topK)};
  const float large = g.fp16() ? 0x1p9f : 0x1p12f, heavy = g.fp16() ? 0x1p20f : 1.0f;
  const float values[] = {large, -large, large * 0x1p-25f};
  const float weights[] = {heavy, -heavy, heavy * 0x1p-25f};
  const int ids[] = {1, 1, 0};
  for (int i = 0; i < 3; ++i) {
    call.activations[i * pool::kChunkK] = g.bits(values[i]);
    call.ids[i] = ids[i];
    call.weights[i] = weights[i];
  }
  return call;
}

// What the kernels leave: scratch of valid lanes, and the output.
struct MoeResult {
  std::vector<uint16_t> inner;    // [lanes, width]
  std::vector<uint16_t> laneOut;  // [lanes, hidden]
  std::vector<uint16_t> out;      // [tokens, hidden]
};

inline bool validLane(const MoeGeometry& g, int32_t id) { return id >= 0 && id < g.experts; }

// The rounding points of the design with sums in float64, which are exact for Numbers::kExact.
class RoundedReference {
 public:
  RoundedReference(const MoeCase& c, const MoeCall& call) : c_(c), g_(c.g) {
    result.inner.resize(call.ids.size() * g_.width);
    result.laneOut.resize(call.ids.size() * g_.hidden);
    result.out.resize(size_t(call.tokens) * g_.hidden);
    for (size_t lane = 0; lane < call.ids.size(); ++lane) {
      if (validLane(g_, call.ids[lane])) this->lane(call, static_cast<int>(lane));
    }
    for (int t = 0; t < call.tokens; ++t)
      for (int h = 0; h < g_.hidden; ++h) {
        float sum = 0;
        for (int s = 0; s < g_.topK; ++s) {
          const size_t lane = size_t(t) * g_.topK + s;
          if (validLane(g_, call.ids[lane])) sum += g_.value(result.laneOut[lane * g_.hidden + h]);
        }
        result.out[size_t(t) * g_.hidden + h] = g_.bits(sum);
      }
  }

  MoeResult result;
  double largestRatio = 0;  // largest sum of magnitudes over the smallest product; exact in any order below 2^22

 private:
  float accumulate(const PlainMatrix& m, int row, const uint16_t* x) {
    double sum = 0, magnitudes = 0, granule = INFINITY;
    for (int k = 0; k < m.k; ++k) {
      const double product = g_.value(x[k]) * m.scaled(row, k);
      sum += product;
      magnitudes += std::fabs(product);
      // The lowest bit set in the product.
      if (product != 0 && std::isfinite(product)) {
        int exponent;
        double fraction = std::fabs(std::frexp(product, &exponent));
        int bits = 0;
        while (fraction != std::floor(fraction)) {
          fraction *= 2;
          ++bits;
        }
        granule = std::min(granule, std::ldexp(1.0, exponent - bits));
      }
    }
    if (magnitudes > 0) largestRatio = std::max(largestRatio, magnitudes / granule);
    return static_cast<float>(std::ldexp(sum, -g_.log2Alpha()));
  }

  void lane(const MoeCall& call, int lane) {
    const int e = call.ids[lane];
    const uint16_t* x = call.activations.data() + size_t(lane / g_.topK) * g_.hidden;
    uint16_t* inner = result.inner.data() + size_t(lane) * g_.width;
    for (int n = 0; n < g_.width; ++n) {
      const float xg = g_.value(g_.bits(accumulate(c_.gate[e], n, x) * c_.alphas[e].gate));
      const float xu = g_.value(g_.bits(accumulate(c_.up[e], n, x) * c_.alphas[e].up));
      const float silu = g_.value(g_.bits(static_cast<float>(xg / (1 + std::exp(-double(xg))))));
      inner[n] = g_.bits(silu * xu);
    }
    for (int n = 0; n < g_.hidden; ++n) {
      const float factor = c_.alphas[e].down * call.weights[lane];
      result.laneOut[size_t(lane) * g_.hidden + n] = g_.bits(accumulate(c_.down[e], n, inner) * factor);
    }
  }

  const MoeCase& c_;
  const MoeGeometry g_;
};

// Weights of one expert as float64, true values on the scales after the rule.
class DenseExpert {
 public:
  DenseExpert(const MoeCase& c, int e) : gate_(dense(c.gate[e])), up_(dense(c.up[e])), down_(dense(c.down[e])), g_(c.g) {}

  std::vector<double> inner(const uint16_t* x) const {
    std::vector<double> values(g_.hidden), h(g_.width);
    for (int k = 0; k < g_.hidden; ++k) values[k] = g_.value(x[k]);
    for (int n = 0; n < g_.width; ++n) {
      const double gate = dot(gate_, n, values);
      h[n] = gate / (1 + std::exp(-gate)) * dot(up_, n, values);
    }
    return h;
  }
  std::vector<double> down(const std::vector<double>& h) const {
    std::vector<double> out(g_.hidden);
    for (int n = 0; n < g_.hidden; ++n) out[n] = dot(down_, n, h);
    return out;
  }

 private:
  static std::vector<double> dense(const PlainMatrix& m) {
    std::vector<double> values(size_t(m.n) * m.k);
    for (int n = 0; n < m.n; ++n)
      for (int k = 0; k < m.k; ++k) values[size_t(n) * m.k + k] = std::ldexp(m.scaled(n, k), -m.shift) * m.global;
    return values;
  }
  static double dot(const std::vector<double>& m, int n, const std::vector<double>& x) {
    double sum = 0;
    for (size_t k = 0; k < x.size(); ++k) sum += m[n * x.size() + k] * x[k];
    return sum;
  }

  std::vector<double> gate_, up_, down_;
  const MoeGeometry g_;
};

}  // namespace test
