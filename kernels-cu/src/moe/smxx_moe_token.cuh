// The MoE of one token in one kernel, whose blocks all run at the same time, one a multiprocessor.
//
// Every warp asks for its first chunks of weights at once and for another whenever it has multiplied one, gate and up first,
// then down, so that the memory is never without requests. Blocks exchange results as words that are 0 until they are there:
// whoever needs one polls it, and nothing else is waited for.
//
// The launch is cooperative, of at most a block a multiprocessor: blocks that wait for each other must all run, also beside
// other kernels. With a missed lane the blocks take turns (token_turns.cuh).
#pragma once

#include "moe/token_turns.cuh"

namespace pool {

// A chunk of 64 channels of one matrix.
struct TokenChunk {
  const uint8_t* words;
  const uint8_t* scales;
  uint32_t channels;  // of the matrix: bytes of scales from one step to the next, and an eighth of those of words
  int steps;          // 0: nothing
};

// Begins to bring a chunk to a warp's place. Past the end of K the last step comes again: its lanes are zeros.
__device__ inline void requestChunk(const TokenChunk& chunk, SharedAddress place) {
  if (chunk.steps == 0) return;
  const uint32_t thread = threadIdx.x % kWarp, last = chunk.steps - 1;
  const SharedAddress words = place + thread * 16, codes = words + kChunkWordBytes;
  const auto bring = [&](SharedAddress to, const uint8_t* from, uint32_t step, uint32_t stepBytes) {
    copyAsync16(to, from + static_cast<uint64_t>(min(step, last)) * stepBytes);
  };
#pragma unroll
  for (uint32_t i = 0; i < kChunkSteps; ++i) bring(words + i * kStepWordBytes, chunk.words + thread * 16, i, chunk.channels * 8);
  constexpr uint32_t kAtOnce = kWarp / 4;  // four threads bring the scale codes of a step
  static_assert(kAtOnce < kChunkSteps && kChunkSteps <= 2 * kAtOnce);
  const uint8_t* scales = chunk.scales + thread % 4 * 16;
  bring(codes, scales, thread / 4, chunk.channels);
  if (kAtOnce + thread / 4 < kChunkSteps) bring(codes + kWarp * 16, scales, kAtOnce + thread / 4, chunk.channels);
}

// sums[channel of the tile] = the chunk in the place times the lane whose activations begin at `row`.
template <typename Type>
__device__ inline void multiplyChunk(SharedAddress place, SharedAddress expanded, SharedAddress row, float* sums) {
  const int thread = threadIdx.x % kWarp;
  constexpr int kExpansions = kChunkSteps * 8;  // each for four threads
#pragma unroll
  for (int i = thread; i < kExpansions; i += kWarp) {
    writeShared4(expanded + i * 16, expandedScales<Type>(readShared2(place + kChunkWordBytes + i * 8)));
  }
  __syncwarp();
  ChunkSums<1> total;
  total.clear();
  uint32_t b[2][2];  // of two steps: the columns of all lanes are this one
  static_assert(kChunkSteps % 2 == 0);
#pragma unroll
  for (int i = 0; i < kChunkSteps; ++i) {
    if (i % 2 == 0) loadLanes(b, row + i * (kMmaK * 2) + thread / 8 * 16);
    const uint32_t lane[1][2] = {{b[i % 2][0], b[i % 2][1]}};
    multiplyStep<Type>(readShared4(place + i * kStepWordBytes + thread * 16), readShared4(expanded + (i * 8 + thread / 4) * 16),
                       lane, total);
  }
  forEachSum(total, [&](int channel, int lane, float sum) {
    if (lane == 0) sums[channel] = sum;
  });
  __syncwarp();  // the place has been read
}

// Sums of chunks of kTiles tiles at two channels, in ascending order; a tile's chunks lie `apart` floats from each other, the
// tiles' first ones side by side.
template <int kTiles>
struct ChannelPairs {
  float at[kTiles][2];

  __device__ ChannelPairs(const float* chunkSums, int chunks, int apart) {
#pragma unroll
    for (int t = 0; t < kTiles; ++t)
#pragma unroll
      for (int i = 0; i < 2; ++i) at[t][i] = chunkSums[t * kTileChannels + i];
#pragma unroll 8
    for (int c = 1; c < chunks; ++c)
#pragma unroll
      for (int t = 0; t < kTiles; ++t)
#pragma unroll
        for (int i = 0; i < 2; ++i) at[t][i] = __fadd_rn(at[t][i], chunkSums[c * apart + t * kTileChannels + i]);
  }
};

__device__ inline TokenLane laneOfCall(const MoeParams& p) {
  const int lane = threadIdx.x % kWarp;
  const bool inside = lane < p.topK;
  const int expert = inside ? p.ids[lane] : -1, row = inside ? p.rows[lane] : -1;
  return {expert >= 0 && expert < p.experts ? expert : -1, row, row >= 0 && p.missRows != nullptr && p.missRows[lane] >= 0};
}

// One block. Results cross blocks as the complements of pairs, which are not 0: no result is 0xffff.
template <typename Type>
class TokenMoe {
 public:
  // `blocks`: of the launch that take part, the first ones.
  __device__ TokenMoe(const MoeParams& p, uint8_t* shared, int blocks)
      : p_(p),
        grid_{p.topK, p.hidden, p.width, blocks},
        thread_(threadIdx.x % kWarp),
        warp_(threadIdx.x / kWarp),
        block_(blockIdx.x),
        places_(sharedAddress(shared) + warp_ * kTokenWarpBytes),
        activations_(sharedAddress(shared) + kToken.warps() * kTokenWarpBytes),
        inner_(activations_ + grid_.activationBytes()),
        sums_(reinterpret_cast<float*>(shared + (grid_.sharedBytes() - grid_.sumBytes()))),
        sharedInner_(reinterpret_cast<uint32_t*>(p.counts + decodeCounts(p.hidden))),
        sharedOut_(sharedInner_ + p.topK * (p.width / 2)) {}

  // Learns the lanes; whether one is missed.
  __device__ bool start(const TokenLane& lane) {
    expert_ = lane.expert;
    row_ = lane.row;
    valid_ = __ballot_sync(kFullWarp, expert_ >= 0);
    computed_ = __ballot_sync(kFullWarp, expert_ >= 0 && (row_ >= 0 || lane.missed));
    missed_ = __ballot_sync(kFullWarp, expert_ >= 0 && lane.missed);
    return missed_ != 0;
  }

  // Where a lane is missed.
  template <typename Rows>
  __device__ void runTurns(const TokenLane& lane, const Rows& rows, uint8_t* shared) const {
    if (warp_ == 0) TokenTurns<Type>::sharedOf(shared).set(lane, missed_, computed_ & ~missed_);
    __syncthreads();  // all warps have looked up their lanes, and those of the first one are there
    rows.allLookedUp();
    const auto store = [&](int of, int channel, const Words4& packed) {
      StoreLane{p_}(of, channel, packed);
      const int at = (of * p_.hidden + channel) / 2;
#pragma unroll
      for (int j = 0; j < 4; ++j) storeRelaxed(sharedOut_ + at + j, ~packed.word[j]);
    };
    TokenTurns<Type>::run(p_, __popc(missed_), __popc(computed_ & ~missed_), rows, grid_.blocks, shared, store);
    sumTiles();
  }

  __device__ void run() {
    bringActivations();
    firstUnit_ = grid_.firstUnit(block_);
    const int units = grid_.firstUnit(block_ + 1) - firstUnit_;
    firstTile_ = grid_.firstTile(block_);
    tiles_ = grid_.firstTile(block_ + 1) - firstTile_;
    gateUpTurns_ = turns(2 * units * grid_.gateUpChunks());
    downTurns_ = turns(tiles_ * grid_.downChunks());
    const int unit = firstUnit_ + warp_;  // that this warp adds up, and its tile
    const int unitLane = unit / grid_.gateUpTiles(), unitTile = unit % grid_.gateUpTiles();
    const int tileLane = (firstTile_ + warp_) / grid_.downTiles(), tile = (firstTile_ + warp_) % grid_.downTiles();
    const bool addsUnit = warp_ < units && computes(unitLane), addsTile = warp_ < tiles_ && computes(tileLane);
    // Asked for before the weights, behind which they would come, and not touched before they are needed.
    const ExpertAlphas* unitAlphas = p_.alphas + (addsUnit ? expertOf(unitLane) : 0);
    const ExpertAlphas* tileAlphas = p_.alphas + (addsTile ? expertOf(tileLane) : 0);
    const float gate = loadEarly(&unitAlphas->gate), up = loadEarly(&unitAlphas->up), down = loadEarly(&tileAlphas->down);
    const float weight = loadEarly(p_.weights + (addsTile ? tileLane : 0));
    for (int turn = 0; turn < kTokenPlaces; ++turn) request(turn);

    waitCopies<kTokenPlaces>();
    __syncthreads();  // the activations are there
    multiply(0, gateUpTurns_, [&](int job) { return activations_ + job / 2 % grid_.gateUpChunks() * (kChunkK * 2); });
    __syncthreads();
    if (addsUnit) publishInner(unitLane, unitTile, gate, up);
    awaitInner();
    __syncthreads();
    if (warp_ == kToken.warps() - 1) forgetInner();
    multiply(gateUpTurns_, downTurns_, [&](int job) {
      const int tile = firstTile_ + job / grid_.downChunks();
      return inner_ + (tile / grid_.downTiles() - firstTile_ / grid_.downTiles()) * grid_.innerBytes() +
             job % grid_.downChunks() * (kChunkK * 2);
    });
    __syncthreads();
    if (addsTile) publishOut(tileLane, tile, __fmul_rn(down, weight));
    sumTiles();
  }

 private:
  // Jobs of the block that this warp takes: every 16th.
  __device__ int turns(int jobs) const { return (jobs - warp_ + kToken.warps() - 1) / kToken.warps(); }
  __device__ bool computes(int lane) const { return (computed_ >> lane & 1u) != 0; }
  __device__ int expertOf(int lane) const { return __shfl_sync(kFullWarp, expert_, lane); }
  __device__ SharedAddress placeOf(int turn) const { return places_ + turn % kTokenPlaces * kChunkBytes; }

  __device__ void bringActivations() const {
    for (int at = threadIdx.x * 16; at < grid_.activationBytes(); at += kToken.threads() * 16) {
      copyAsync16OrZeros(activations_ + at, p_.activations + at / 2, at / 2 < p_.hidden);
    }
    commitCopies();
  }

  // Ends a group of copies for each turn, also for one that brings nothing.
  __device__ void request(int turn) const {
    if (turn < gateUpTurns_) {
      const int job = warp_ + turn * kToken.warps(), jobsOfUnit = 2 * grid_.gateUpChunks();
      const int unit = firstUnit_ + job / jobsOfUnit;
      const int channel = unit % grid_.gateUpTiles() * kTileChannels + job % 2 * p_.width;
      request(p_.w13, p_.s13, unit / grid_.gateUpTiles(), 2 * p_.width, channel, job % jobsOfUnit / 2, p_.hidden, turn);
    } else if (turn - gateUpTurns_ < downTurns_) {
      const int job = warp_ + (turn - gateUpTurns_) * kToken.warps();
      const int tile = firstTile_ + job / grid_.downChunks();
      const int channel = tile % grid_.downTiles() * kTileChannels;
      request(p_.w2, p_.s2, tile / grid_.downTiles(), p_.hidden, channel, job % grid_.downChunks(), p_.width, turn);
    }
    commitCopies();
  }
  __device__ void request(const RowBase& words, const RowBase& scales, int lane, int channels, int channel, int chunk, int depth,
                          int turn) const {
    if (!computes(lane)) return;
    const int64_t row = __shfl_sync(kFullWarp, row_, lane);
    const int64_t step = chunk * kChunkSteps;
    requestChunk({words.base + row * words.strideBytes + step * (channels * 8) + channel * 8,
                  scales.base + row * scales.strideBytes + step * channels + channel, static_cast<uint32_t>(channels),
                  min(kChunkSteps, depth / kMmaK - chunk * kChunkSteps)},
                 placeOf(turn));
  }

  // Multiplies so many chunks from a turn on, and asks for those that come after.
  template <typename RowOf>
  __device__ void multiply(int firstTurn, int turns, const RowOf& rowOf) const {
    for (int i = 0; i < turns; ++i) {
      waitCopies<kTokenPlaces - 1>();
      __syncwarp();  // the chunk is there for all
      const int job = warp_ + i * kToken.warps();
      multiplyChunk<Type>(placeOf(firstTurn + i), places_ + kTokenPlaces * kChunkBytes, rowOf(job), sums_ + job * kTileChannels);
      request(firstTurn + i + kTokenPlaces);
    }
  }

  __device__ void publishInner(int lane, int tile, float alphaGate, float alphaUp) const {
    const int jobs = 2 * grid_.gateUpChunks();  // gate and up in turn
    const float* sums = sums_ + warp_ * jobs * kTileChannels + 2 * thread_;
    const ChannelPairs<2> gateUp(sums, grid_.gateUpChunks(), 2 * kTileChannels);
    const uint32_t h = swiGlu<Type>(gateUp.at[0], gateUp.at[1], alphaGate, alphaUp);
    const int at = lane * (p_.width / 2) + tile * (kTileChannels / 2) + thread_;
    storeRelaxed(sharedInner_ + at, ~h);
    reinterpret_cast<uint32_t*>(p_.inner)[at] = h;
  }

  // h of the lanes of this block's tiles comes to shared memory.
  __device__ void awaitInner() const {
    if (tiles_ == 0) return;
    const int firstLane = firstTile_ / grid_.downTiles();
    const int lanes = (firstTile_ + tiles_ - 1) / grid_.downTiles() - firstLane + 1;
    const int vectors = grid_.innerBytes() / 16;
    for (int i = threadIdx.x; i < lanes * vectors; i += kToken.threads()) {
      const int lane = firstLane + i / vectors, vector = i % vectors;
      Words4 h = {};
      if (vector < p_.width / 8 && computes(lane)) h = await4(sharedInner_ + lane * (p_.width / 2) + vector * 4);
      writeShared4(inner_ + i * 16, h);
    }
  }
  __device__ static Words4 await4(const uint32_t* from) {
    for (;;) {
      Words4 v = loadRelaxed4(from);
      if (v.word[0] != 0 && v.word[1] != 0 && v.word[2] != 0 && v.word[3] != 0) {
#pragma unroll
        for (uint32_t& word : v.word) word = ~word;
        return v;
      }
      pauseBriefly();
    }
  }

  // The last block to have read h leaves it as it was.
  __device__ void forgetInner() const {
    int32_t* readers = countsOf(p_).readers;
    int before = 0;
    if (thread_ == 0) before = countUpAndSee(readers);
    if (__shfl_sync(kFullWarp, before, 0) != grid_.blocks - 1) return;
    __syncwarp();  // what the first thread has seen is seen by all
    if (thread_ == 0) *readers = 0;
    for (int i = thread_; i < p_.topK * (p_.width / 2); i += kWarp) sharedInner_[i] = 0;
  }

  __device__ void publishOut(int lane, int tile, float factor) const {
    const ChannelPairs<1> sum(sums_ + warp_ * grid_.downChunks() * kTileChannels + 2 * thread_, grid_.downChunks(), kTileChannels);
    const uint32_t out = Type::pack(__fmul_rn(sum.at[0][0], factor), __fmul_rn(sum.at[0][1], factor));
    const int at = lane * (p_.hidden / 2) + tile * (kTileChannels / 2) + thread_;
    storeRelaxed(sharedOut_ + at, ~out);
    reinterpret_cast<uint32_t*>(p_.laneOut)[at] = out;
  }

  __device__ void sumTiles() const {
    for (int t = block_ + (kToken.warps() - 1 - warp_) * grid_.blocks; t < grid_.downTiles(); t += kToken.warps() * grid_.blocks) {
      sumOut(t * (kTileChannels / 2) + thread_);
    }
  }

  // Two channels of the output, from pair `pair` of every lane: in ascending slot order, from +0. Nobody else reads these
  // lanes' pairs, which are left as they were.
  __device__ void sumOut(int pair) const {
    constexpr int kSlotsAtOnce = 10;
    float sum[2] = {};
    for (int first = 0; first < p_.topK; first += kSlotsAtOnce) {
      uint32_t value[kSlotsAtOnce];
      bool there;
      do {
        there = true;
#pragma unroll
        for (int i = 0; i < kSlotsAtOnce; ++i) {
          const bool polled = first + i < p_.topK && computes(first + i);
          value[i] = polled ? loadRelaxed(sharedOut_ + (first + i) * (p_.hidden / 2) + pair) : 1;
        }
#pragma unroll
        for (int i = 0; i < kSlotsAtOnce; ++i) there = there && value[i] != 0;
        if (!there) pauseBriefly();
      } while (!there);
#pragma unroll
      for (int i = 0; i < kSlotsAtOnce; ++i) {
        const int lane = first + i, at = lane * (p_.hidden / 2) + pair;
        if (lane >= p_.topK || (valid_ >> lane & 1u) == 0) continue;
        const uint32_t out = computes(lane) ? ~value[i] : reinterpret_cast<const uint32_t*>(p_.laneOut)[at];
        if (computes(lane)) sharedOut_[at] = 0;
        sum[0] = __fadd_rn(sum[0], Type::low(out));
        sum[1] = __fadd_rn(sum[1], Type::high(out));
      }
    }
    reinterpret_cast<uint32_t*>(p_.out)[pair] = Type::pack(sum[0], sum[1]);
  }

  const MoeParams& p_;
  const TokenGrid grid_;
  const int thread_, warp_, block_;
  const SharedAddress places_;       // of this warp
  const SharedAddress activations_;  // of the token
  const SharedAddress inner_;        // h of the lanes of this block's tiles
  float* const sums_;                // [jobs][64]
  uint32_t* const sharedInner_;      // [topK][width / 2]
  uint32_t* const sharedOut_;        // [topK][hidden / 2]
  int expert_, row_;                 // of lane `thread`
  unsigned valid_, computed_;        // lanes with an expert, and those of them with a row
  unsigned missed_;                  // whose row is on the host
  int firstUnit_;                    // of gate and up
  int firstTile_, tiles_;            // of down
  int gateUpTurns_, downTurns_;      // chunks that this warp multiplies
};

template <typename Type>
__device__ void tokenMoe(const MoeParams& p, uint8_t* shared) {
  const int blocks = gridDim.x;
  TokenMoe<Type> token(p, shared, blocks);
  // Of a pool only where its own kernel (smxx_pool_token.cuh), with a block more, does not fit.
  const TokenLane lane = laneOfCall(p);
  if (token.start(lane)) token.runTurns(lane, KnownRows{}, shared);
  else token.run();
}

}  // namespace pool
