// The lanes of one token's call that are in the bank: blocks of the kernel for one token share them out evenly, all at the same time.
#pragma once

#include "moe/smxx_moe_decode.cuh"
#include "moe/token_lanes.cuh"

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
#pragma unroll 2
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
#pragma unroll 4
    for (int c = 1; c < chunks; ++c)
#pragma unroll
      for (int t = 0; t < kTiles; ++t)
#pragma unroll
        for (int i = 0; i < 2; ++i) at[t][i] = __fadd_rn(at[t][i], chunkSums[c * apart + t * kTileChannels + i]);
  }
};

// Division by the same number all along, of values below 2^20: 4 instructions, where the compiler's takes 25.
struct Divisor {
  int by;
  float inverse;

  __device__ explicit Divisor(int by) : by(by), inverse(reciprocal(static_cast<float>(by))) {}
  // Half a `by`-th and more from whole numbers, so that the errors of the reciprocal and of the product don't matter.
  __device__ int quotient(int value) const { return static_cast<int>(__fmul_rn(static_cast<float>(value) + 0.5f, inverse)); }
  __device__ int rest(int value) const { return value - quotient(value) * by; }
};

// A block's run of so many items, which all blocks share evenly, in order.
struct BlockRun {
  int first, count;

  __device__ BlockRun(int items, const Divisor& blocks, int block) {
    const int each = blocks.quotient(items), more = items - each * blocks.by;
    first = each * block + blocks.quotient(more * block);
    count = each * (block + 1) + blocks.quotient(more * (block + 1)) - first;
  }
};

// What crosses blocks, as the complements of pairs, which are not 0: no result is 0xffff. All 0 before and after a call.
struct Exchange {
  uint32_t* inner;  // h: [lanes in the bank][width / 2]
  uint32_t* out;    // lane outputs: [topK][hidden / 2]

  __device__ explicit Exchange(const MoeParams& p)
      : inner(reinterpret_cast<uint32_t*>(p.counts + decodeCounts(p.hidden))), out(inner + p.topK * (p.width / 2)) {}
};

// The lanes in the bank, shared out evenly over some of the call's blocks. Lanes have numbers: without a miss the call's own, else
// those of the lanes in the bank alone.
template <typename Type>
class ResidentLanes {
 public:
  // As without a miss. `blocks`: of the launch that compute.
  __device__ ResidentLanes(const MoeParams& p, int blocks, uint8_t* shared)
      : p_(p),
        exchange_(p),
        thread_(threadIdx.x % kWarp),
        warp_(threadIdx.x / kWarp),
        gateUpTiles_(p.width / kTileChannels),
        downTiles_(p.hidden / kTileChannels),
        downChunks_((p.width + kChunkK - 1) / kChunkK),
        jobsOfUnit_(2 * ((p.hidden + kChunkK - 1) / kChunkK)) {
    places_ = sharedAddress(shared) + warp_ * kTokenWarpBytes;
    activations_ = sharedAddress(shared) + kToken.warps() * kTokenWarpBytes;
    sums_ = reinterpret_cast<float*>(shared + kToken.warps() * kTokenWarpBytes + activationBytes());
    share(p.topK, blocks, blockIdx.x);
  }

  // All that needs no lanes.
  __device__ NotNegative prepared() const {
    return {firstUnit_ | units_ | firstTile_ | tiles_ | gateUpTurns_ | downTurns_ | planned_.lane | planned_.steps |
            static_cast<int>((planned_.words | planned_.scales) >> 32)};
  }

  // The lanes, where none is missed.
  __device__ void take(const TokenLanes& lanes) { take(lanes, thread_, lanes.inBank); }

  // Those in the bank where others are missed, by so many blocks, of which this is the `block`-th.
  __device__ void takeBeside(const TokenLanes& lanes, int blocks, int block) {
    share(lanes.countInBank(), blocks, block);
    const int lane = placeOfBit(lanes.inBank, thread_);
    take(lanes, max(lane, 0), __ballot_sync(kFullWarp, lane >= 0));
  }

  __device__ void run() {
    bringActivations();
#pragma unroll 1
    for (int turn = 0; turn < kTokenPlaces; ++turn) request(turn);
    const int unit = firstUnit_ + warp_, tile = firstTile_ + warp_;  // that this warp adds up
    const int unitLane = gateUpTiles_.quotient(unit), tileLane = downTiles_.quotient(tile);

    waitCopies<kTokenPlaces>();
    __syncthreads();  // the activations are there
#pragma unroll 1
    for (int matrix = 0; matrix < 2; ++matrix) {
      multiply(matrix);
      __syncthreads();
      if (matrix == kDown) break;
      if (warp_ < units_ && computes(unitLane)) publishInner(unitLane, unit - unitLane * gateUpTiles_.by);
      awaitInner();
      __syncthreads();
      if (warp_ == kToken.warps() - 1) forgetInner();
    }
    if (warp_ < tiles_ && computes(tileLane)) publishOut(tileLane, tile - tileLane * downTiles_.by);
  }

 private:
  static constexpr int kDown = 1;  // the second matrix

  // A chunk, and in which lane's row.
  struct LaneChunk {
    int lane;
    int64_t words, scales;  // bytes from where the matrix's begin
    int steps;              // 0: none
  };

  // Jobs of the block that this warp takes: every 16th.
  __device__ int turns(int jobs) const { return (jobs - warp_ + kToken.warps() - 1) / kToken.warps(); }
  __device__ int activationBytes() const { return jobsOfUnit_.by / 2 * (kChunkK * 2); }
  // What a warp's threads know of a lane.
  template <typename T>
  __device__ static T of(T value, int lane) { return __shfl_sync(kFullWarp, value, lane); }
  __device__ bool computes(int lane) const { return (computed_ >> lane & 1u) != 0; }
  __device__ SharedAddress placeOf(int turn) const { return places_ + turn % kTokenPlaces * kChunkBytes; }

  // What this block and this warp have to do, with so many lanes and blocks. TokenGrid.fits: each thread of a warp can know one of
  // its turns, and there are threads for the two past the last one, which bring nothing.
  __device__ void share(int lanes, int blocks, int block) {
    lanes_ = lanes;
    blocks_ = blocks;
    const Divisor byBlocks(blocks);
    const BlockRun units(lanes * gateUpTiles_.by, byBlocks, block), tiles(lanes * downTiles_.by, byBlocks, block);
    firstUnit_ = units.first;
    units_ = units.count;
    firstTile_ = tiles.first;
    tiles_ = tiles.count;
    gateUpTurns_ = turns(units_ * jobsOfUnit_.by);
    downTurns_ = turns(tiles_ * downChunks_.by);
    // Never past TokenGrid.sharedBytes: blocks have no more to do each beside missed lanes than without.
    inner_ = sharedAddress(sums_) + max(units_ * jobsOfUnit_.by, tiles_ * downChunks_.by) * (kTileChannels * 4);
    plan();
  }

  // Which lane of the call lane `thread` is.
  __device__ void take(const TokenLanes& lanes, int lane, unsigned computed) {
    lane_ = lane;
    row_ = of(lanes.own.row, lane);
    gate_ = of(lanes.own.alphas.gate, lane);
    up_ = of(lanes.own.alphas.up, lane);
    factor_ = __fmul_rn(of(lanes.own.alphas.down, lane), of(lanes.own.weight, lane));
    computed_ = computed;
    locate();
  }

  __device__ void bringActivations() const {
    const int bytes = activationBytes();
#pragma unroll 1
    for (int at = threadIdx.x * 16; at < bytes; at += kToken.threads() * 16) {
      copyAsync16OrZeros(activations_ + at, p_.activations + at / 2, at / 2 < p_.hidden);
    }
    commitCopies();
  }

  // What the warp multiplies in turn `thread`.
  __device__ void plan() {
    const bool isDown = thread_ >= gateUpTurns_;
    const int job = warp_ + (isDown ? thread_ - gateUpTurns_ : thread_) * kToken.warps();
    const Divisor& jobs = isDown ? downChunks_ : jobsOfUnit_;
    const Divisor& tiles = isDown ? downTiles_ : gateUpTiles_;
    const int item = (isDown ? firstTile_ : firstUnit_) + jobs.quotient(job), rest = jobs.rest(job);
    const int lane = tiles.quotient(item), tile = item - lane * tiles.by;
    const int channel = tile * kTileChannels + (isDown ? 0 : rest % 2 * p_.width);
    const int step = (isDown ? rest : rest / 2) * kChunkSteps, steps = (isDown ? p_.width : p_.hidden) / kMmaK;
    const int64_t at = static_cast<int64_t>(step) * channelsOf(isDown);
    const bool any = thread_ < gateUpTurns_ + downTurns_;
    planned_ = {any ? lane : 0, at * 8 + channel * 8, at + channel, any ? min(kChunkSteps, steps - step) : 0};
  }

  // Where that lies, once the rows are known.
  __device__ void locate() {
    const bool isDown = thread_ >= gateUpTurns_;
    const int64_t row = of(row_, planned_.lane);
    const RowBase& words = isDown ? p_.w2 : p_.w13;
    const RowBase& scales = isDown ? p_.s2 : p_.s13;
    words_ = reinterpret_cast<uintptr_t>(words.base) + row * words.strideBytes + planned_.words;
    scales_ = reinterpret_cast<uintptr_t>(scales.base) + row * scales.strideBytes + planned_.scales;
    steps_ = computes(planned_.lane) ? planned_.steps : 0;
  }

  __device__ int channelsOf(bool isDown) const { return isDown ? p_.hidden : 2 * p_.width; }

  // Ends a group of copies, also for a turn that brings nothing.
  __device__ void request(int turn) const {
    requestChunk({reinterpret_cast<const uint8_t*>(of(words_, turn)), reinterpret_cast<const uint8_t*>(of(scales_, turn)),
                  static_cast<uint32_t>(channelsOf(turn >= gateUpTurns_)), of(steps_, turn)},
                 placeOf(turn));
    commitCopies();
  }

  // Multiplies this warp's chunks of a matrix, and asks for those that come after.
  __device__ void multiply(int matrix) const {
    const int firstTurn = matrix == kDown ? gateUpTurns_ : 0, turns = matrix == kDown ? downTurns_ : gateUpTurns_;
#pragma unroll 1
    for (int i = 0; i < turns; ++i) {
      waitCopies<kTokenPlaces - 1>();
      __syncwarp();  // the chunk is there for all
      const int job = warp_ + i * kToken.warps(), turn = firstTurn + i;
      multiplyChunk<Type>(placeOf(turn), places_ + kTokenPlaces * kChunkBytes, rowOf(matrix, job), sums_ + job * kTileChannels);
      request(turn + kTokenPlaces);
    }
  }

  // Where the activations of a job's chunk begin.
  __device__ SharedAddress rowOf(int matrix, int job) const {
    if (matrix != kDown) return activations_ + jobsOfUnit_.rest(job) / 2 * (kChunkK * 2);
    const int tile = downChunks_.quotient(job);
    const int lane = downTiles_.quotient(firstTile_ + tile) - downTiles_.quotient(firstTile_);
    return inner_ + (lane * downChunks_.by + job - tile * downChunks_.by) * (kChunkK * 2);
  }

  __device__ void publishInner(int lane, int tile) const {
    const float* sums = sums_ + warp_ * jobsOfUnit_.by * kTileChannels + 2 * thread_;  // gate and up in turn
    const ChannelPairs<2> gateUp(sums, jobsOfUnit_.by / 2, 2 * kTileChannels);
    const uint32_t h = swiGlu<Type>(gateUp.at[0], gateUp.at[1], of(gate_, lane), of(up_, lane));
    const int at = tile * (kTileChannels / 2) + thread_;
    storeRelaxed(exchange_.inner + lane * (p_.width / 2) + at, ~h);
    reinterpret_cast<uint32_t*>(p_.inner)[of(lane_, lane) * (p_.width / 2) + at] = h;
  }

  // h of the lanes of this block's tiles comes to shared memory.
  __device__ void awaitInner() const {
    if (tiles_ == 0) return;
    const int first = downTiles_.quotient(firstTile_);
    const int lanes = downTiles_.quotient(firstTile_ + tiles_ - 1) - first + 1;
    const Divisor vectors(downChunks_.by * kChunkVectors);
#pragma unroll 1
    for (int i = threadIdx.x; i < lanes * vectors.by; i += kToken.threads()) {
      const int lane = first + vectors.quotient(i), vector = vectors.rest(i);
      Words4 h = {};
      if (vector < p_.width / 8 && computes(lane)) h = await4(exchange_.inner + lane * (p_.width / 2) + vector * 4);
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
      lookAgain();
    }
  }

  // The last block to have read h leaves it as it was.
  __device__ void forgetInner() const {
    int32_t* readers = countsOf(p_).readers;
    int before = 0;
    if (thread_ == 0) before = countUpAndSee(readers);
    if (of(before, 0) != blocks_ - 1) return;
    __syncwarp();  // what the first thread has seen is seen by all
    if (thread_ == 0) *readers = 0;
#pragma unroll 1
    for (int i = thread_; i < lanes_ * (p_.width / 8); i += kWarp) reinterpret_cast<Words4*>(exchange_.inner)[i] = {};
  }

  __device__ void publishOut(int lane, int tile) const {
    const float factor = of(factor_, lane);
    const ChannelPairs<1> sum(sums_ + warp_ * downChunks_.by * kTileChannels + 2 * thread_, downChunks_.by, kTileChannels);
    const uint32_t out = Type::pack(__fmul_rn(sum.at[0][0], factor), __fmul_rn(sum.at[0][1], factor));
    const int at = of(lane_, lane) * (p_.hidden / 2) + tile * (kTileChannels / 2) + thread_;
    storeRelaxed(exchange_.out + at, ~out);
    reinterpret_cast<uint32_t*>(p_.laneOut)[at] = out;  // as the other kernels leave it; nobody here reads it
  }

  const MoeParams& p_;
  const Exchange exchange_;
  const int thread_, warp_;
  const Divisor gateUpTiles_, downTiles_;  // of a lane
  const Divisor downChunks_;               // of a tile
  const Divisor jobsOfUnit_;               // chunks of gate and up in turn
  SharedAddress places_;                   // of this warp
  SharedAddress activations_;              // of the token
  float* sums_;                            // [jobs][64], of the matrix that has more
  SharedAddress inner_;                    // h of the lanes of this block's tiles
  int lanes_, blocks_;                     // that take part
  int firstUnit_, units_;                  // of gate and up
  int firstTile_, tiles_;                  // of down
  int gateUpTurns_, downTurns_;            // chunks that this warp multiplies
  LaneChunk planned_;                      // what the warp multiplies in turn `thread`,
  uintptr_t words_, scales_;               // where that lies,
  int steps_;                              // and how much it is
  int lane_, row_;                         // of lane `thread`: which of the call's it is, its row,
  float gate_, up_, factor_;               // its alphas, that of down times the router's weight
  unsigned computed_;                      // lanes
};

}  // namespace pool
