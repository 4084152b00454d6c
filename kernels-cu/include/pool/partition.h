// What the partition kernel shares with its callers: a call wider than the planner, cut by where its experts lie
// (pool-semantics 6). Host-compilable; a change here is a change of kLayoutVersion.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pool/constants.h"
#include "pool/layout.h"

namespace pool {

// Threads of the partition's single block.
constexpr int kPartitionThreads = 1024;

// Which experts of a call the bank lacks. Written once a call; may be device-mapped host memory, so that the host need
// only wait for the kernel.
struct alignas(16) PartitionOutput {
  int32_t missing;                 // touched experts that are not resident
  int32_t touched;                 // distinct experts of valid lanes
  int32_t invalidLane;             // first invalid lane, or -1
  int32_t reserved;                // not written
  int32_t experts[kMaxExperts];    // the missing ones, ascending; entries past `missing` are stale
  int32_t laneCounts[kMaxExperts]; // [experts] valid lanes of each expert; entries past the layer's experts are stale
};
static_assert(sizeof(PartitionOutput) == 16 + 8 * kMaxExperts);

// Argument of the partition kernel: one layer call. Reads hotRow and writes the error fields of the state alone.
struct alignas(8) PartitionParams {
  PlanTables tables;
  const int32_t* ids;       // [lanes] raw expert ids
  const float* weights;     // [lanes] router weights; those of padding lanes are ignored
  int32_t* safeIds;         // [lanes] expert of each valid lane, else -1
  int32_t* ringRows;        // [experts] ring row of each missing expert, its place in the list modulo ringSize; else -1
  PartitionOutput* output;  // [1]
  int32_t layer;
  int32_t lanes;     // at least 0, any number
  int32_t ringSize;  // rows of the ring, at least 1
  int32_t reserved;
};
static_assert(sizeof(PartitionParams) == 128);

}  // namespace pool
