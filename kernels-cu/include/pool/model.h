// What the kernels beside the experts share with their callers: stand-ins for the rest of a model, and the router.
// Host-compilable.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pool/constants.h"

namespace pool {

// Stand-in for memory-bound work: threads a block, 16-byte vectors a thread has in flight, and blocks a multiprocessor to launch.
constexpr int kStandInThreads = 512;
constexpr int kStandInVectors = 8;
constexpr int kStandInBlocksPerProcessor = 2;

// Router: a warp an expert for so many tokens at once, warps a block; threads of a block that chooses for one token.
constexpr int kRouterTokens = 4;
constexpr int kRouterWarps = 4;
constexpr int kChooseThreads = 256;

// Result and scratch of a stand-in. Device memory, zero before its first call; not shared by calls that overlap.
struct alignas(8) StandInState {
  uint64_t digest;   // of all that the last call read
  uint64_t sum;      // 0 between calls
  int32_t arrived;   // 0 between calls
  uint32_t reserved;
};
static_assert(sizeof(StandInState) == 24);

// One call: reads bytes + min(*units, maxUnits) * bytesPerUnit bytes. Both sizes are multiples of 16.
struct alignas(8) StandInParams {
  const uint8_t* memory;  // on 16 bytes
  uint64_t bytes;
  uint64_t bytesPerUnit;
  const int64_t* units;   // [1] such as the context in tokens, or null for none; negative is 0
  int64_t maxUnits;
  const uint16_t* after;  // [afterCount] output of the layer before: the digest depends on each of its values
  StandInState* state;    // [1]
  int32_t afterCount;
  int32_t reserved;
};
static_assert(sizeof(StandInParams) == 64);

// One call of a layer's router: the topK most probable experts of each token, most probable first, ties to the lower id,
// weights as in a softmax over these alone.
struct alignas(8) RouterParams {
  const uint16_t* activations;  // bf16 [tokens, hidden], on 16 bytes
  const uint16_t* matrix;       // bf16 [experts, hidden], on 16 bytes
  float* logits;                // [tokens, experts] between the two launches
  int32_t* ids;                 // [tokens, topK]
  float* weights;               // [tokens, topK]
  int32_t tokens;
  int32_t hidden;
  int32_t experts;
  int32_t topK;
};
static_assert(sizeof(RouterParams) == 56);

// Why the router can't take a call of this shape, or null where it can; the kernel checks nothing itself.
constexpr const char* refusedRouter(int64_t tokens, int64_t hidden, int64_t experts, int64_t topK) {
  if (hidden < 8 || hidden % 8 != 0 || hidden > 65536) return "hidden must be a multiple of 8, 8 .. 65536";
  if (experts < 1 || experts > kMaxExperts) return "experts must be 1 .. 4096";
  if (topK < 1 || topK > experts || topK > kMaxLanes) return "topK must be 1 .. min(experts, 64)";
  if (tokens < 1 || tokens > 8192) return "tokens must be 1 .. 8192";
  return nullptr;
}

}  // namespace pool
