// One token's call with a missed lane, by the blocks of the kernel for one token, all of which run at the same time: they take turns
// at the parts of the GEMMs, as blocks of the decode kernel would have them, and read missed rows on the host by large copies.
#pragma once

#include "moe/smxx_moe_decode.cuh"

namespace pool {

// What thread i of each warp knows of lane i.
struct TokenLane {
  int expert;   // -1: none
  int row;      // in the bank
  bool missed;  // the row is on the host
};

// For one type of activations.
template <typename Type>
struct TokenTurns {
  using Products = ProductsOf<Type, kToken, kToken, kTokenMissedDown, WeightsFrom::kHostInBulk>;

  // What a block shares, behind its products' memory and before the activations.
  struct Shared {
    int32_t laneOf[kMmaLanes];
    int32_t ids[kMaxTokenLanes], rows[kMaxTokenLanes], missRows[kMaxTokenLanes];
    int32_t ordered[kMaxTokenLanes];  // missed lanes, then those in the bank

    // By one warp whose thread i knows lane i.
    __device__ void set(const TokenLane& lane, unsigned missed, unsigned inBank) {
      const int thread = threadIdx.x;
      const unsigned before = (1u << thread) - 1u;
      ids[thread] = lane.expert;
      rows[thread] = max(lane.row, 0);  // of missed lanes, where only the planner knows it
      missRows[thread] = (missed >> thread & 1u) != 0 ? 0 : -1;
      if ((missed >> thread & 1u) != 0) ordered[__popc(missed & before)] = thread;
      if ((inBank >> thread & 1u) != 0) ordered[__popc(missed) + __popc(inBank & before)] = thread;
    }
  };
  static constexpr int kGateUpBytes = Products::MissedGateUp::sharedBytes(1), kDownBytes = Products::MissedDown::sharedBytes(1);
  static constexpr int kProductBytes = kGateUpBytes > kDownBytes ? kGateUpBytes : kDownBytes;
  static_assert(Products::MissedGateUp::kTiles == Products::Product::kTiles, "lanes have as many blocks of gate and up, missed or not");
  static_assert(kProductBytes + sizeof(Shared) <= kToken.warps() * kTokenWarpBytes);
  __device__ static Shared& sharedOf(uint8_t* shared) { return *reinterpret_cast<Shared*>(shared + kProductBytes); }

  // So many lanes are missed, so many in the bank; lane outputs go to `store`, as decodeOutputs has them. Gate and up of missed
  // lanes come first and their down last, so that no lane in the bank is behind a block that waits for the link to the end.
  template <typename Rows, typename Store>
  __device__ static void run(const MoeParams& p, int missed, int inBank, const Rows& rows, int blocks, uint8_t* shared,
                             const Store& store) {
    Shared& known = sharedOf(shared);
    const CallLanes call = {known.ids, known.rows, known.missRows};
    const int gateUps = Products::gateUpParts(p, false), downs = Products::downParts(p, false), lateDowns = Products::downParts(p, true);
    const int firstDown = (missed + inBank) * gateUps, firstLate = firstDown + inBank * downs;
    for (int turn = blockIdx.x; turn < firstLate + missed * lateDowns; turn += blocks) {
      waitCopies<0>();
      fenceBulkCopies();
      __syncthreads();  // what the turn before has used is free, also of copies on their way
      if (turn < firstDown) {
        decodeGateUp<Products>(p, call, rows, known.ordered[turn / gateUps], turn % gateUps, known.laneOf, shared);
        continue;
      }
      const bool late = turn >= firstLate;
      const int part = turn - (late ? firstLate : firstDown), parts = late ? lateDowns : downs;
      decodeOutputs<Products>(p, call, rows, known.ordered[(late ? 0 : missed) + part / parts], part % parts, known.laneOf, shared,
                              store);
    }
    if (threadIdx.x == 0) forgetCounts(p, blocks);  // the thread that has waited for them
  }

 private:
  // The last block that waits for nothing more leaves the counts as they were.
  __device__ static void forgetCounts(const MoeParams& p, int blocks) {
    const DecodeCounts counts = countsOf(p);
    if (countUpAndSee(counts.readers) != blocks - 1) return;
    *counts.readers = *counts.planned = 0;
    for (int i = 0; i < p.topK; ++i) counts.inner[i] = counts.requested[i] = 0;
  }
};

}  // namespace pool
