// The router in plain loops: once with the kernel's order of fp32 sums, for equality, and once in float64, for truth.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "moe_case.h"
#include "pool/model.h"

namespace test {

// Activations and matrix of a call, both bf16.
struct RouterCase {
  int tokens, hidden, experts, topK;
  std::vector<uint16_t> activations, matrix;

  // `ties` gives a few experts the same matrix, so that probabilities tie.
  RouterCase(int tokens, int hidden, int experts, int topK, uint64_t seed, bool ties = false)
      : tokens(tokens), hidden(hidden), experts(experts), topK(topK), activations(size_t(tokens) * hidden),
        matrix(size_t(experts) * hidden) {
    std::mt19937_64 random(seed);
    const auto draw = [&](float scale) {
      return bf16Bits(scale * (static_cast<float>(random() % 20001) / 10000.0f - 1.0f));
    };
    for (uint16_t& value : activations) value = draw(1.0f);
    const float scale = 4.0f / std::sqrt(static_cast<float>(hidden));
    for (uint16_t& value : matrix) value = draw(scale);
    if (!ties) return;
    for (int e = 1; e < experts; ++e) {
      if (random() % 2) std::copy_n(matrix.begin() + size_t(random() % e) * hidden, hidden, matrix.begin() + size_t(e) * hidden);
    }
  }

  float x(int token, int k) const { return bf16Value(activations[size_t(token) * hidden + k]); }
  float w(int expert, int k) const { return bf16Value(matrix[size_t(expert) * hidden + k]); }
};

struct Routing {
  std::vector<float> logits, weights;
  std::vector<int32_t> ids;
};

// The topK largest of a token's values, larger first, ties to the lower id.
template <typename T>
std::vector<int> largest(const std::vector<T>& values, int topK) {
  std::vector<int> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return values[a] > values[b]; });
  order.resize(topK);
  return order;
}

// In fp32: vectors of 8 dealt to 32 sums in turn, the sums added 16, 8, 4, 2 and 1 apart; the softmax's sum likewise over
// 256 sums, neighbours first. `exponentials` replaces values by the kernels' exp of them.
template <typename Exponentials>
Routing routerTwin(const RouterCase& c, const Exponentials& exponentials) {
  Routing r;
  for (int t = 0; t < c.tokens; ++t) {
    std::vector<float> logits;
    for (int e = 0; e < c.experts; ++e) {
      std::vector<float> sums(32, 0.0f);
      for (int k = 0; k < c.hidden; ++k) sums[k / 8 % 32] = std::fma(c.w(e, k), c.x(t, k), sums[k / 8 % 32]);
      for (int apart = 16; apart > 0; apart /= 2) {
        for (int i = 0; i < apart; ++i) sums[i] += sums[i + apart];
      }
      logits.push_back(sums[0]);
    }
    const float most = *std::max_element(logits.begin(), logits.end());
    std::vector<float> probability;
    for (float logit : logits) probability.push_back(logit - most);
    exponentials(probability);
    std::vector<float> sums(pool::kChooseThreads, 0.0f);
    for (int e = 0; e < c.experts; ++e) sums[e % pool::kChooseThreads] += probability[e];
    for (int count = pool::kChooseThreads; count > 1; count /= 2) {
      for (int i = 0; i < count / 2; ++i) sums[i] = sums[2 * i] + sums[2 * i + 1];
    }
    for (float& p : probability) p /= sums[0];
    float total = 0.0f;
    const std::vector<int> chosen = largest(probability, c.topK);
    for (int e : chosen) total += probability[e];
    for (int e : chosen) {
      r.ids.push_back(e);
      r.weights.push_back(probability[e] / total);
    }
    r.logits.insert(r.logits.end(), logits.begin(), logits.end());
  }
  return r;
}

// How far a routing is from the float64 one: the worst weight, relatively, and the worst logit, absolutely. A choice may
// differ only between experts whose float64 logits are closer than `margin`.
struct RouterError {
  double weight = 0, logit = 0;
  bool wrongChoice = false;
};

inline RouterError routerError(const RouterCase& c, const Routing& r, double margin) {
  RouterError error;
  for (int t = 0; t < c.tokens; ++t) {
    std::vector<double> logits;
    for (int e = 0; e < c.experts; ++e) {
      double sum = 0;
      for (int k = 0; k < c.hidden; ++k) sum += double(c.w(e, k)) * c.x(t, k);
      logits.push_back(sum);
      error.logit = std::max(error.logit, std::fabs(sum - r.logits[size_t(t) * c.experts + e]));
    }
    const std::vector<int> chosen = largest(logits, c.topK);
    double total = 0;
    for (int k = 0; k < c.topK; ++k) total += std::exp(logits[r.ids[t * c.topK + k]] - logits[chosen[0]]);
    for (int k = 0; k < c.topK; ++k) {
      const int id = r.ids[t * c.topK + k];
      error.wrongChoice |= std::fabs(logits[id] - logits[chosen[k]]) > margin;
      const double weight = std::exp(logits[id] - logits[chosen[0]]) / total;
      error.weight = std::max(error.weight, std::fabs(r.weights[t * c.topK + k] / weight - 1));
    }
  }
  return error;
}

}  // namespace test
