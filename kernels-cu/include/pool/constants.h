// Numbers that kernels, tests and the Java side agree on. Host-compilable.
#pragma once

#include <cstdint>

namespace pool {

// Threads of a warp; every ballot below is over one full warp.
constexpr int kWarp = 32;
constexpr unsigned kFullWarp = 0xffffffffu;

// Widest step: lanes of one planner call (pool-semantics 1), so that two lanes a thread fill one warp.
constexpr int kMaxLanes = 64;

// Experts of one layer that the planner's shared map holds (4,096 x 4 bytes = 16 KiB).
constexpr int kMaxExperts = 4096;

// "No row", "no key", "no expert": the one absent value of all i32 tables.
constexpr int32_t kAbsent = -1;

// Threads of the planner's single block, and pairs of rows whose clocks each reads at once: 14,336 rows in all.
constexpr int kPlanThreads = 512;
constexpr int kPlanPairs = 14;

// Victim candidates ranked at once; more than this only when old rows crowd into few columns of threads.
constexpr int kMaxCandidates = 256;

// w13 weights, w13 scales, w2 weights, w2 scales.
constexpr int kMaxRowParts = 4;

// Row copy: a block moves one chunk at a time, so 4 independent 16-byte loads a thread are in flight.
constexpr int kCopyThreads = 256;
constexpr int kCopyVectorsPerThread = 4;
constexpr int kVectorBytes = 16;
constexpr int kCopyChunkBytes = kCopyThreads * kCopyVectorsPerThread * kVectorBytes;

}  // namespace pool
