// What the replay of recorded routing shares with its callers. Host-compilable.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pool/layout.h"

namespace pool {

constexpr int kRouteThreads = 512;

// Blocks that read so many words of output, four at a time: one for what a router reads of a few tokens.
constexpr int routeBlocks(int outputWords) {
  const int words = kRouteThreads * 16;
  const int blocks = (outputWords + words - 1) / words;
  return blocks < 1 ? 1 : blocks < 128 ? blocks : 128;
}

// How far a replay has come, and what it has seen. Device memory, one per replay; all 0 at first. A change of a struct
// here is a change of kLayoutVersion.
struct alignas(16) RouteState {
  int64_t forward;      // forwards whose last layer has been routed
  uint64_t hash;        // of the outputs seen of the forward under way
  int64_t selected;     // distinct valid experts of the layer calls whose output has been seen; of calls of at most kMaxLanes
  int64_t promoted;     // copies of the plans seen
  int64_t staged;
  uint64_t sum;         // what the blocks of a launch have read; 0 between launches
  int32_t pending;      // 1: a layer call has been routed whose output is still to be seen
  int32_t tapeForward;  // forward % tapeForwards
  int32_t ended;        // blocks of a launch that have; 0 between launches
  int32_t reserved;     // 0
};
static_assert(sizeof(RouteState) == 64);

// Argument of the kernel that routes one layer call from a recording, as a router would: after reading the output before. The
// kernel that routes a forward at once takes the same, with the arrays of all its calls, and [layers] words of scratch behind the
// hashes (src/route/smxx_route_forward.cuh).
struct alignas(8) RouteParams {
  const int32_t* tapeIds;      // [tapeForwards, layers, lanes] recorded experts
  const float* tapeWeights;    // [tapeForwards, layers, lanes]
  RouteState* state;           // [1]
  uint64_t* hashes;            // [hashSlots] of whole forwards: forward f's at f % hashSlots
  const uint32_t* output;      // [outputWords] bf16 pairs, output of the layer call before, or the part that is read; on 16 bytes
  const StepOutput* plan;      // [1] plan of the layer call before, or null
  const uint64_t* digest;      // [1] of what else ran since, which must be read first too, or null
  int32_t* ids;                // [lanes] in: experts of the call before, if one is pending; out: this call's
  float* weights;              // [lanes] likewise
  int32_t layer;               // 0 .. layers - 1; layers: no routing, but the last forward's hash
  int32_t layers;
  int32_t lanes;
  int32_t experts;
  int32_t tapeForwards;        // forward f plays f % tapeForwards
  int32_t hashSlots;
  int32_t outputWords;         // a multiple of 4
  int32_t sanitise;            // 1: invalid lanes become -1 with weight 0 here; 0: the planner does that
};
static_assert(sizeof(RouteParams) == 104);

}  // namespace pool
