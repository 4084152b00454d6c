// A recording with outputs, plans and digests beside, and what the replay of routing must make of them, launch by launch.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "pool/route.h"

namespace test {

struct RouteShape {
  int layers;
  int experts;
  int lanes;
  int outputWords;
  bool sanitise;
  bool planned;
};

// One replay; `Memory<T>` holds n values of T, with data() for the kernel, set(vector) and get().
template <template <typename> class Memory>
class RouteCase {
 public:
  RouteCase(const RouteShape& shape, uint64_t seed)
      : s_(shape), random_(seed), tapeIds_(kTape * s_.layers * s_.lanes), tapeWeights_(tapeIds_.size()),
        deviceIds_(tapeIds_.size()), deviceWeights_(tapeIds_.size()), state_(1), hashes_(kSlots), output_(s_.outputWords),
        plan_(1), digest_(1), ids_(s_.lanes), weights_(s_.lanes) {
    const float odd[] = {NAN, INFINITY, -1.0f, -0.0f, 0.0f};
    const int32_t few = 1 + static_cast<int32_t>(random_() % s_.experts);
    for (size_t i = 0; i < tapeIds_.size(); ++i) {
      tapeIds_[i] = random_() % 20 == 0 ? (random_() % 2 ? -1 : s_.experts) : static_cast<int32_t>(random_() % few);
      tapeWeights_[i] = random_() % 20 == 0 ? odd[random_() % 5] : 0.25f + static_cast<float>(random_() % 8);
    }
    deviceIds_.set(tapeIds_);
    deviceWeights_.set(tapeWeights_);
    state_.set({pool::RouteState{}});
  }

  // Forwards of random outputs, with the end of one taken in now and then before the next begins; launch(params, blocks) runs
  // the kernel.
  template <typename Launch>
  void run(int forwards, const Launch& launch) {
    for (int forward = 0; forward < forwards; ++forward) {
      for (int layer = 0; layer < s_.layers; ++layer) step(layer, launch);
      if (forward % 3 != 1) step(s_.layers, launch);
    }
  }

 private:
  static constexpr int kTape = 3;
  static constexpr int kSlots = 2;

  static uint64_t mixed(uint64_t x) {
    uint64_t z = x + 0x9e3779b97f4a7c15u;
    z ^= z >> 30;
    z *= 0xbf58476d1ce4e5b9u;
    z ^= z >> 27;
    z *= 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  bool valid(int32_t id, float weight) const { return id >= 0 && id < s_.experts && std::isfinite(weight) && !(weight < 0); }

  template <typename Launch>
  void step(int layer, const Launch& launch) {
    std::vector<uint32_t> words(s_.outputWords);
    for (uint32_t& word : words) word = static_cast<uint32_t>(random_());
    output_.set(words);
    pool::StepOutput plan{};
    plan.promoted = static_cast<int32_t>(random_() % 5);
    plan.staged = static_cast<int32_t>(random_() % 5);
    plan_.set({plan});
    digest_.set({random_()});
    pool::RouteParams p{};
    p.tapeIds = deviceIds_.data();
    p.tapeWeights = deviceWeights_.data();
    p.state = state_.data();
    p.hashes = hashes_.data();
    p.output = output_.data();
    p.plan = s_.planned ? plan_.data() : nullptr;
    p.digest = s_.planned ? digest_.data() : nullptr;
    p.ids = ids_.data();
    p.weights = weights_.data();
    p.layer = layer;
    p.layers = s_.layers;
    p.lanes = s_.lanes;
    p.experts = s_.experts;
    p.tapeForwards = kTape;
    p.hashSlots = kSlots;
    p.outputWords = s_.outputWords;
    p.sanitise = s_.sanitise ? 1 : 0;
    launch(p, pool::routeBlocks(s_.outputWords));
    takeIn(layer, words, plan);
    if (layer < s_.layers) requireRouted(layer);
    requireState(layer);
  }

  // The definition, in plain loops.
  void takeIn(int layer, const std::vector<uint32_t>& words, const pool::StepOutput& plan) {
    if (!pending_) return;
    uint64_t sum = 0;
    for (size_t i = 0; i < words.size(); ++i) sum ^= mixed(uint64_t{i} << 32 | words[i]);
    hash_ = mixed(hash_ ^ sum);
    if (layer == 0 || layer == s_.layers) {
      kept_[(forward_ - 1) % kSlots] = hash_;
      hash_ = 0;
    }
    if (s_.planned) {
      promoted_ += plan.promoted;
      staged_ += plan.staged;
    }
    if (s_.lanes <= pool::kMaxLanes) selected_ += static_cast<int64_t>(called_.size());
    pending_ = false;
  }

  void requireRouted(int layer) {
    const std::vector<int32_t> ids = ids_.get();
    const std::vector<float> weights = weights_.get();
    called_.clear();
    for (int lane = 0; lane < s_.lanes; ++lane) {
      const size_t at = (size_t(forward_ % kTape) * s_.layers + layer) * s_.lanes + lane;
      const bool isValid = valid(tapeIds_[at], tapeWeights_[at]);
      const bool keep = !s_.sanitise || isValid;
      const float weight = keep ? tapeWeights_[at] : 0.0f;
      const bool equal = weights[lane] == weight || (std::isnan(weight) && std::isnan(weights[lane]));
      require(ids[lane] == (keep ? tapeIds_[at] : -1) && equal, "lane " + std::to_string(lane) + " of layer " + std::to_string(layer));
      if (isValid) called_.insert(tapeIds_[at]);
    }
    pending_ = true;
    if (layer == s_.layers - 1) ++forward_;
  }

  void requireState(int layer) {
    const pool::RouteState state = state_.get()[0];
    const std::vector<uint64_t> hashes = hashes_.get();
    const std::string where = " after layer " + std::to_string(layer) + " of forward " + std::to_string(forward_);
    require(state.forward == forward_ && state.tapeForward == forward_ % kTape, "forward" + where);
    require(state.hash == hash_, "hash" + where);
    require(state.selected == selected_ && state.promoted == promoted_ && state.staged == staged_, "counts" + where);
    require(state.pending == (pending_ ? 1 : 0) && state.sum == 0 && state.ended == 0, "what is left" + where);
    for (int slot = 0; slot < kSlots; ++slot) {
      if (forward_ > slot + 1) require(hashes[slot] == kept_[slot], "hashes kept" + where);
    }
  }

  void require(bool holds, const std::string& what) const {
    if (holds) return;
    std::printf("FAILED replay of routing, %d lanes, %d words of output: %s\n", s_.lanes, s_.outputWords, what.c_str());
    std::exit(1);
  }

  const RouteShape s_;
  std::mt19937_64 random_;
  std::vector<int32_t> tapeIds_;
  std::vector<float> tapeWeights_;
  Memory<int32_t> deviceIds_;
  Memory<float> deviceWeights_;
  Memory<pool::RouteState> state_;
  Memory<uint64_t> hashes_;
  Memory<uint32_t> output_;
  Memory<pool::StepOutput> plan_;
  Memory<uint64_t> digest_;
  Memory<int32_t> ids_;
  Memory<float> weights_;
  std::set<int32_t> called_;  // distinct valid experts of the call that is pending
  bool pending_ = false;
  int64_t forward_ = 0, selected_ = 0, promoted_ = 0, staged_ = 0;
  uint64_t hash_ = 0;
  uint64_t kept_[kSlots] = {};
};

// Few and many lanes, one block and several.
inline std::vector<RouteShape> routeShapes() {
  return {{3, 40, 10, 1280, false, true}, {1, 7, 1, 4, true, false},      {2, 4096, 64, 8192, true, true},
          {3, 512, 33, 96, false, false}, {2, 512, 65, 8196, true, true}, {2, 300, 5120, 40000, true, false}};
}

}  // namespace test
