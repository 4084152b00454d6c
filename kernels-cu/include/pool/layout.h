// Structs that cross the language border. Host-compilable; probe/layout_probe.cpp prints every offset, and a Java test
// compares them with org.expertpool.pool.cuda.layout. A change here is a change of kLayoutVersion.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pool/constants.h"

namespace pool {

constexpr int32_t kLayoutVersion = 6;

static_assert(sizeof(void*) == 8, "pointers travel as 64-bit device addresses");

// What a step changes besides the tables. Device memory, one per pool.
struct alignas(16) PlanState {
  int64_t clock;        // steps planned with the gate open
  int32_t forwards;     // forwards seen with the gate open; wraps as i32
  int32_t error;        // 0 or 1; sticky until the host clears it
  int32_t errorLayer;   // layer of the first invalid lane since error was 0
  int32_t errorLane;    // its lane
  int32_t reserved[2];  // 0
};
static_assert(sizeof(PlanState) == 32);
static_assert(offsetof(PlanState, error) == 12);

// Settings the host may change between steps; validated there, each in [0, 2^31-1].
struct alignas(16) PlanControls {
  int32_t gate;              // 0 frozen, 1 open
  int32_t promoteLimit;      // promotions per step; 0 = no limit
  int32_t promoteInterval;   // at least 1
  int32_t promoteMinMisses;  // at least 1
  int32_t protectRecent;     // forwards
  int32_t reserved[3];       // 0
};
static_assert(sizeof(PlanControls) == 32);

// One row to copy: this layer's expert into a bank row.
struct alignas(8) RowCopy {
  int32_t expert;  // [0, experts)
  int32_t row;     // [0, rows)
};
static_assert(sizeof(RowCopy) == 8);

// Fixed-shape result of one step. Device memory, one per layer call that must be readable later.
struct alignas(16) StepOutput {
  int32_t promoted;             // copies[0 .. promoted-1]
  int32_t staged;               // copies[promoted .. promoted+staged-1]
  int32_t reserved[2];          // not written
  RowCopy copies[kMaxLanes];    // entries past promoted+staged are stale
  int32_t routes[kMaxLanes];    // bank row of each lane, or -1; -1 past the step's lanes
  int32_t safeIds[kMaxLanes];   // expert of each valid lane, else -1; -1 past the step's lanes
  int32_t missRows[kMaxLanes];  // routes of lanes whose row needs a copy, else -1
};
static_assert(sizeof(StepOutput) == 16 + kMaxLanes * 20);
static_assert(offsetof(StepOutput, routes) == 16 + kMaxLanes * 8);

// The placement tables (pool-semantics 3). No pointer may be null.
struct alignas(8) PlanTables {
  int32_t* hotRow;               // [layers, experts] row of the key, or -1
  int32_t* coldRow;              // [layers, experts] expert while not resident, else -1
  int32_t* rowKey;               // [rows] owner, or -1
  int64_t* rowUse;               // [rows] clock of the last selection; 16-byte aligned: the scan reads pairs
  int32_t* missCount;            // [layers, experts]
  PlanState* state;              // [1]
  const PlanControls* controls;  // [1]
  int32_t layers;
  int32_t experts;   // at most kMaxExperts
  int32_t poolRows;  // layers * n; the staging rows follow
  int32_t rows;      // poolRows + S, S at least 1
};
static_assert(sizeof(PlanTables) == 72);

// Argument of the planner kernel: one layer call.
struct alignas(8) PlanParams {
  PlanTables tables;
  const int32_t* ids;    // [lanes] raw expert ids
  const float* weights;  // [lanes] router weights; those of padding lanes are ignored
  StepOutput* output;    // [1]
  int32_t* stepMap;      // [experts] row of each expert of this layer for this step, or -1
  int32_t layer;
  int32_t lanes;  // 0 .. kMaxLanes, at most S
};
static_assert(sizeof(PlanParams) == 112);

// One part of an expert row: where it lies in a source row and in the bank. All sizes multiples of 16.
struct alignas(8) RowPart {
  uint8_t* bank;               // part of row 0
  uint64_t bankStrideBytes;    // from one row's part to the next
  uint64_t sourceOffsetBytes;  // inside a source row
  uint64_t bytes;
};
static_assert(sizeof(RowPart) == 32);

// Argument of the row copy kernel.
struct alignas(8) RowCopyParams {
  const StepOutput* plan;              // [1] the copy list and its counts
  const uint8_t* const* sourceLayers;  // [layers] device view of each layer's source rows, 16-byte aligned
  uint64_t sourceRowBytes;             // from one expert's row to the next
  RowPart parts[kMaxRowParts];         // the first partCount count
  int32_t layer;
  int32_t partCount;  // 1 .. kMaxRowParts
};
static_assert(sizeof(RowCopyParams) == 32 + 32 * kMaxRowParts);

}  // namespace pool
