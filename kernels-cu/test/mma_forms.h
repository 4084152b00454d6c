// First experiment of the GEMM: does it matter to the bits which operand of the MMA the weights are?
#pragma once

#include <fstream>

#include "gpu_buffers.h"
#include "moe_case.h"
#include "moe/device_ops.cuh"

namespace test {

constexpr int kFormSteps = 10;  // k16 steps of one sum
constexpr int kFormK = kFormSteps * 16;

// A warp a tile: weights [16][kFormK] by lanes [8][kFormK], once with the weights as the 16-row operand, once as the
// 8-column one with the lanes padded to 16 rows. sums: [tile][form][16][8].
__global__ void mmaForms(const uint16_t* weights, const uint16_t* lanes, float* sums) {
  const int thread = threadIdx.x, g = thread / 4, q = thread % 4;
  const uint16_t* w = weights + size_t(blockIdx.x) * 16 * kFormK;
  const uint16_t* x = lanes + size_t(blockIdx.x) * 8 * kFormK;
  const auto pair = [&](const uint16_t* m, int row, int k) {
    return *reinterpret_cast<const uint32_t*>(m + row * kFormK + k);
  };
  float swapped[4] = {}, normal[2][4] = {};
  for (int k = 2 * q; k < kFormK; k += 16) {
    const uint32_t a[4] = {pair(w, g, k), pair(w, g + 8, k), pair(w, g, k + 8), pair(w, g + 8, k + 8)};
    const uint32_t b[2] = {pair(x, g, k), pair(x, g, k + 8)};
    pool::Bf16Ops::mma(swapped, a, b);
    const uint32_t rows[4] = {b[0], 0, b[1], 0};
    const uint32_t low[2] = {a[0], a[2]};
    const uint32_t high[2] = {a[1], a[3]};
    pool::Bf16Ops::mma(normal[0], rows, low);
    pool::Bf16Ops::mma(normal[1], rows, high);
  }
  float* out = sums + size_t(blockIdx.x) * 2 * 128;
  for (int i = 0; i < 4; ++i) out[(g + i / 2 * 8) * 8 + 2 * q + i % 2] = swapped[i];
  for (int half = 0; half < 2; ++half)
    for (int i = 0; i < 2; ++i) out[128 + (half * 8 + 2 * q + i) * 8 + g] = normal[half][i];
}

// Sums of the two forms, and of two models of the tensor core, compared to the last bit; one row a kind of numbers.
inline void compareMmaForms(const std::string& folder, uint64_t seed) {
  constexpr int kTiles = 4096;
  std::ofstream csv(folder + "/mma_forms.csv");
  csv << "numbers,sums,forms_differ,one_rounding_a_step_differs,rounding_each_product_differs,worst_relative_to_float64\n";
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  for (const char* numbers : {"like weights and activations", "exponents over 2^40", "subnormal sums"}) {
    std::vector<uint16_t> w(size_t(kTiles) * 16 * kFormK), x(size_t(kTiles) * 8 * kFormK);
    const bool wide = numbers[0] == 'e';
    const float small = numbers[0] == 's' ? std::ldexp(1.0f, -126) : std::ldexp(1.0f, -119);
    const auto spread = [&] { return wide ? std::ldexp(1.0f, static_cast<int>(random() % 20) - 10) : 1.0f; };
    for (auto& value : w) {
      const float code = static_cast<float>(e2m1(static_cast<int>(random() % 16)));
      value = bf16Bits(code * static_cast<float>(e4m3(0x28 + static_cast<int>(random() % 0x28))) * small * spread());
    }
    for (auto& value : x) value = bf16Bits(normal(random) * spread() * (numbers[0] == 's' ? std::ldexp(1.0f, -12) : 1.0f));
    DeviceBuffer<uint16_t> weights(w.size()), lanes(x.size());
    DeviceBuffer<float> sums(size_t(kTiles) * 256);
    weights.upload(w.data(), w.size());
    lanes.upload(x.data(), x.size());
    mmaForms<<<kTiles, 32>>>(weights.data(), lanes.data(), sums.data());
    POOL_CUDA_CHECK(cudaGetLastError());
    std::vector<float> got(sums.count());
    sums.download(got.data(), got.size());
    long forms = 0, onceAStep = 0, eachProduct = 0;
    double worst = 0;
    for (size_t i = 0; i < got.size() / 2; ++i) {
      const size_t tile = i / 128;
      const float swapped = got[tile * 256 + i % 128];
      const uint16_t* row = w.data() + (tile * 16 + i % 128 / 8) * kFormK;
      const uint16_t* column = x.data() + (tile * 8 + i % 8) * kFormK;
      float once = 0, each = 0;
      double exact = 0, magnitudes = 0;
      for (int k = 0; k < kFormK; k += 16) {
        double step = once;
        for (int j = k; j < k + 16; ++j) {
          const double product = double(bf16Value(row[j])) * bf16Value(column[j]);
          step += product;
          each = static_cast<float>(each + product);
          exact += product;
          magnitudes += std::fabs(product);
        }
        once = static_cast<float>(step);
      }
      const auto differ = [](float a, float b) { return std::memcmp(&a, &b, sizeof a) != 0; };
      forms += differ(swapped, got[tile * 256 + 128 + i % 128]);
      onceAStep += differ(swapped, once);
      eachProduct += differ(swapped, each);
      worst = std::max(worst, std::fabs(swapped - exact) / magnitudes);
    }
    const size_t count = got.size() / 2;
    csv << numbers << ',' << count << ',' << forms << ',' << onceAStep << ',' << eachProduct << ',' << worst << '\n';
    std::printf("mma forms, %-30s %zu sums: forms differ %ld, one rounding a step differs %ld, each product %ld, "
                "worst error %.1e of the magnitudes\n",
                numbers, count, forms, onceAStep, eachProduct, worst);
  }
}

}  // namespace test
