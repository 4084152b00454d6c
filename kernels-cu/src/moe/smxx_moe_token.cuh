// The MoE of one token in one kernel, whose blocks all run at the same time, one a multiprocessor.
//
// Every warp asks for its first chunks of weights at once and for another whenever it has multiplied one, gate and up first,
// then down, so that the memory is never without requests. Blocks exchange results as words that are 0 until they are there:
// whoever needs one polls it, and without a miss nothing else is waited for.
//
// The launch is cooperative, of at most a block a multiprocessor: blocks that wait for each other must all run, also beside
// other kernels. Where lanes are missed the first blocks begin with those (missed_lanes.cuh), and the others compute what is in
// the bank (resident_lanes.cuh), as all do without a miss.
//
// Code is kept short, loops as loops: a multiprocessor has 32 KB of it at hand, and what it must fetch takes longer to come than
// to be executed once. And what needs no lanes is computed while they come.
#pragma once

#include "moe/missed_lanes.cuh"
#include "moe/resident_lanes.cuh"

namespace pool {

// What is asked for lane i of the call, by thread i of each warp.
struct AskedLane {
  int id, row, missRow;
  float weight;

  __device__ explicit AskedLane(const MoeParams& p) {
    const int lane = min(static_cast<int>(threadIdx.x) % kWarp, p.topK - 1);
    id = loadEarly(p.ids + lane);
    row = loadEarly(p.rows + lane);
    missRow = p.missRows != nullptr ? loadEarly(p.missRows + lane) : -1;
    weight = loadEarly(p.weights + lane);
  }

  // The lane, once `prepared` is known.
  __device__ TokenLane lane(const MoeParams& p, NotNegative prepared) const {
    const bool inside = static_cast<int>(threadIdx.x) % kWarp < p.topK;
    const int asked = prepared.before(id);
    const int expert = inside && asked >= 0 && asked < p.experts ? asked : -1;
    return {expert, row, row >= 0 && missRow >= 0, weight, alphasOf(p, expert)};
  }
};

// One token's call, by so many blocks.
template <typename Type, typename Rows>
class TokenCall {
 public:
  __device__ TokenCall(const MoeParams& p, const Rows& rows, int blocks, uint8_t* shared)
      : p_(p), rows_(rows), blocks_(blocks), shared_(shared), exchange_(p), resident_(p, blocks, shared) {}

  __device__ NotNegative prepared() const { return resident_.prepared(); }

  __device__ void run(const TokenLanes& lanes) {
    const int block = static_cast<int>(blockIdx.x), missed = lanes.countMissed(), inBank = lanes.countInBank();
    int first = 0;  // to compute lanes in the bank
    bool isResident = true;
    if (missed > 0) {
      __syncthreads();  // all warps have looked up their lanes
      rows_.allLookedUp();
      // The missed lanes' share of the blocks at most, so that the others have no more to do each than without a miss.
      first = min(missed * MissedLanes<Type>::gateUpParts(p_), missed * blocks_ / (missed + inBank));
      // With fewer blocks than lanes that may be none: then the first one takes the missed lanes before the others.
      const int forMissed = max(first, 1);
      if (block < forMissed) MissedLanes<Type>::gateUp(p_, lanes, rows_, forMissed, shared_);
      isResident = inBank > 0 && block >= first;
      if (isResident) resident_.takeBeside(lanes, blocks_ - first, block - first);
    } else {
      resident_.take(lanes);
    }
    if (isResident) resident_.run();
    if (missed > 0) {
      const int turn = block < first ? block - first + blocks_ : block - first;  // the blocks of their gate and up come last
      MissedLanes<Type>::down(p_, lanes, rows_, turn, blocks_, shared_, [&](int lane, int channel, const Words4& packed) {
        StoreLane{p_}(lane, channel, packed);
        const int at = (lane * p_.hidden + channel) / 2;
#pragma unroll
        for (int j = 0; j < 4; ++j) storeRelaxed(exchange_.out + at + j, ~packed.word[j]);
      });
    }
    sumTiles(lanes);
  }

 private:
  // By the last blocks, which have least to do with missed lanes.
  __device__ void sumTiles(const TokenLanes& lanes) const {
    const int warp = threadIdx.x / kWarp, thread = threadIdx.x % kWarp, tiles = p_.hidden / kTileChannels;
    int tile = blocks_ - 1 - static_cast<int>(blockIdx.x) + (kToken.warps() - 1 - warp) * blocks_;
    for (; tile < tiles; tile += kToken.warps() * blocks_) sumOut(lanes, tile * (kTileChannels / 2) + thread);
  }

  // Two channels of the output, from pair `pair` of every lane computed: in ascending slot order, from +0. Nobody else reads these
  // pairs, which are 0 again after it.
  __device__ void sumOut(const TokenLanes& lanes, int pair) const {
    constexpr int kSlotsAtOnce = 10;
    const uint32_t apart = p_.hidden / 2;
    float sum[2] = {};
#pragma unroll 1
    for (int first = 0; first < p_.topK; first += kSlotsAtOnce) {
      const unsigned computed = lanes.computed() >> first;
      const uint32_t* const from = exchange_.out + first * apart + pair;
      uint32_t value[kSlotsAtOnce];
      bool there;
      do {
        there = true;
#pragma unroll
        for (int i = 0; i < kSlotsAtOnce; ++i) value[i] = (computed >> i & 1u) != 0 ? loadRelaxed(from + i * apart) : ~0u;
#pragma unroll
        for (int i = 0; i < kSlotsAtOnce; ++i) there = there && value[i] != 0;
        if (!there) lookAgain();
      } while (!there);
#pragma unroll
      for (int i = 0; i < kSlotsAtOnce; ++i) {  // +0 where no lane is, which changes no sum: none is -0
        sum[0] = __fadd_rn(sum[0], Type::low(~value[i]));
        sum[1] = __fadd_rn(sum[1], Type::high(~value[i]));
      }
    }
    reinterpret_cast<uint32_t*>(p_.out)[pair] = Type::pack(sum[0], sum[1]);
#pragma unroll 1
    for (int lane = 0; lane < p_.topK; ++lane) exchange_.out[lane * apart + pair] = 0;
  }

  const MoeParams& p_;
  const Rows rows_;
  const int blocks_;
  uint8_t* const shared_;
  const Exchange exchange_;
  ResidentLanes<Type> resident_;
};

template <typename Type>
__device__ void tokenMoe(const MoeParams& p, uint8_t* shared) {
  // Lanes are missed here only in a pool whose own kernel (smxx_pool_token.cuh), with a block more, does not fit.
  const AskedLane asked(p);
  TokenCall<Type, KnownRows> call(p, KnownRows{}, gridDim.x, shared);
  call.run(TokenLanes(asked.lane(p, call.prepared())));
}

}  // namespace pool
