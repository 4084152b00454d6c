// A warp's walk along K over 64 output channels of a Marlin NVFP4 matrix, and its product with lanes in shared memory.
//
// One step is one k16: each thread holds 4 words (marlin-nvfp4 2.1) and the 8 scale codes of its channels (2.3). They come
// through a ring in shared memory, half a chunk at a time and kSlots halves ahead, so that loads are under way however the
// compiler orders the arithmetic, and take no registers. Weights are the 16-row operand of the MMA, lanes its 8 columns, for
// every M, so a lane's bits do not depend on what else is in the batch.
#pragma once

#include "moe/activation_types.cuh"
#include "pool/constants.h"
#include "pool/moe.h"

namespace pool {

// Sums of one chunk: [16-channel sub-tile][8-lane tile][fragment].
template <int kLaneTiles>
struct ChunkSums {
  float at[4][kLaneTiles][4];

  __device__ void clear() {
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int t = 0; t < kLaneTiles; ++t)
#pragma unroll
        for (int i = 0; i < 4; ++i) at[j][t][i] = 0.0f;
  }
  __device__ void add(const ChunkSums& other) {
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int t = 0; t < kLaneTiles; ++t)
#pragma unroll
        for (int i = 0; i < 4; ++i) at[j][t][i] = __fadd_rn(at[j][t][i], other.at[j][t][i]);
  }
};

// Where this thread reads the lanes' activations of a chunk for the MMA; rows lie 16 bytes apart modulo 128, so that 8 of
// them are read without conflict. Columns without a lane repeat the last one's activations; nobody reads their sums.
template <int kLaneTiles>
__device__ inline SharedAddress laneRowOf(SharedAddress rows, int rowBytes, int count, int pair) {
  const int thread = threadIdx.x % kWarp;
  const int lane = (2 * pair + thread / 16) % kLaneTiles * kMmaLanes + thread % 8;
  return rows + min(lane, count - 1) * rowBytes + thread / 8 % 2 * 16;
}

// The scales of a thread's eight channels, from their codes.
template <typename Type>
__device__ inline Words4 expandedScales(const Words2& codes) {
  Words4 scales;
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    scales.word[j] = j % 2 == 0 ? Type::expandEvenScales(codes.word[j / 2]) : Type::expandOddScales(codes.word[j / 2]);
  }
  return scales;
}

// sums += weights of one step times lanes; scales[j] are those of sub-tile j's two channels, expanded.
template <typename Type, int kLaneTiles>
__device__ inline void multiplyStep(const Words4& words, const Words4& scales, const uint32_t (&b)[kLaneTiles][2],
                                    ChunkSums<kLaneTiles>& sums) {
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const uint32_t word = words.word[j];
    const uint32_t upper = word >> 8;
    uint32_t a[4];
    a[0] = Type::timesLow(Type::template expandCodes<0>(word), scales.word[j]);
    a[2] = Type::timesLow(Type::template expandCodes<1>(word), scales.word[j]);
    a[1] = Type::timesHigh(Type::template expandCodes<0>(upper), scales.word[j]);
    a[3] = Type::timesHigh(Type::template expandCodes<1>(upper), scales.word[j]);
#pragma unroll
    for (int t = 0; t < kLaneTiles; ++t) Type::mma(sums.at[j][t], a, b[t]);
  }
}

// A run of steps of 64 channels of a matrix.
struct WeightWalk {
  const uint8_t* words;   // of this thread, next step
  const uint8_t* scales;  // what this thread brings of them, next step
  uint32_t channels;      // of the matrix: bytes of scales from one step to the next, and an eighth of those of words
  int left;               // steps; 0: nothing

  __device__ const uint8_t* wordsOf(uint32_t step) const { return words + static_cast<uint64_t>(step) * (channels * 8); }
  __device__ const uint8_t* scalesOf(uint32_t step) const { return scales + static_cast<uint64_t>(step) * channels; }
  // Past half a chunk, and so many steps of others.
  __device__ void pass(uint64_t skipped) {
    words += (kHalfSteps + skipped) * (channels * 8);
    scales += (kHalfSteps + skipped) * channels;
    left -= kHalfSteps;
  }
};

// Which scales of half a chunk a thread brings, and where they lie in the rings of two warps. Four threads bring a step's of a
// tile. Over a link whole lines count: where another warp's tile lies beside, eight threads bring a step's of both tiles.
struct ScaleShare {
  // `distance`: from the lower tile's warp to the upper's, 0 where there is no pair; `upper`: this warp has the upper tile.
  __device__ ScaleShare(int distance, bool upper) : distance(distance), upper(upper) {
    const int thread = threadIdx.x % kWarp;
    vector = distance == 0 ? thread % 4 : thread % 8;
    step = distance == 0 ? thread / 4 : thread / 8 + (upper ? kFirstSteps : 0);
    if (distance != 0 && !upper && step >= kFirstSteps) step = kHalfSteps;
  }

  // Bytes from where a ring's scales begin to those of this warp's channels, step `step`; of the ring of another warp where
  // that has brought them.
  __device__ int placeOf(int step, int ringBytes) const {
    if (distance == 0) return step * kStepScaleBytes;
    const bool inUpper = step >= kFirstSteps;
    return (inUpper == upper ? 0 : upper ? -distance : distance) * ringBytes +
           (inUpper ? step - kFirstSteps : step) * kLineBytes + (upper ? kStepScaleBytes : 0);
  }
  // The same for what this thread brings.
  __device__ int broughtTo() const {
    if (distance == 0) return step * kStepScaleBytes + vector * 16;
    return (upper ? step - kFirstSteps : step) * kLineBytes + vector * 16;
  }

  // The lines that this warp brings of half a chunk: of steps first(), ...
  __device__ int first() const { return upper ? kFirstSteps : 0; }
  __device__ int count() const { return distance == 0 ? kHalfSteps : upper ? kHalfSteps - kFirstSteps : kFirstSteps; }
  __device__ int bytes() const { return distance == 0 ? kStepScaleBytes : kLineBytes; }

  int distance;
  bool upper;
  int vector;  // of 16 channels, from the lower tile's first on
  int step;    // kHalfSteps and more: none
};

// Channels [channel, channel + 64) of a matrix of `channels`, from k16 step `first` on, `count` steps in all.
__device__ inline WeightWalk walkOf(const uint8_t* words, const uint8_t* scales, int channels, int channel, int first,
                                    int count, const ScaleShare& share) {
  const int thread = threadIdx.x % kWarp;
  WeightWalk walk;
  walk.channels = channels;
  walk.left = count;
  walk.words = words + static_cast<int64_t>(first) * channels * 8 + channel * 8 + thread * 16;
  walk.scales = scales + static_cast<int64_t>(first) * channels + channel - (share.upper ? kTileChannels : 0) + share.vector * 16;
  return walk;
}

// Where weights come from. Of those that come over a link warps bring each other's scales, and what has come may be kept.
enum class WeightsFrom {
  kBank,
  kHost,
  kHostInBulk,  // by large copies, where the device has them
};

// kSkipped: steps left out after each chunk, which other warps take.
template <typename ActivationType, int kSlots, int kSkipped, WeightsFrom kFrom>
class WeightRing {
 public:
  using Type = ActivationType;
  static constexpr bool kHost = kFrom != WeightsFrom::kBank;
  static constexpr bool kInBulk = kFrom == WeightsFrom::kHostInBulk && kHasBulkCopies;
  // Behind the expanded scales lies a barrier for each half of a chunk.
  static constexpr int kBarriers = kSlots * kHalfBytes + 2 * kHalfExpandedBytes;
  static constexpr int kBytes = kBarriers + (kFrom == WeightsFrom::kHostInBulk ? kLineBytes : 0);
  static_assert(!kInBulk || kSlots == 2);
  static_assert(kSlots % 2 == 0, "a chunk starts at an even place");
  static_assert(kBytes % kLineBytes == 0 && kHalfBytes % kLineBytes == 0);

  // `ring`: kBytes of shared memory, on kLineBytes; those of other warps lie as far apart.
  __device__ WeightRing(uint8_t* ring, const WeightWalk& walk, const ScaleShare& share, int64_t toKeep)
      : words_(sharedAddress(ring) + threadIdx.x % kWarp * 16),
        codes_(sharedAddress(ring) + kHalfSteps * kStepWordBytes + share.placeOf(threadIdx.x % kWarp / 8, kBytes) +
               threadIdx.x % 8 * 8),
        own_(sharedAddress(ring) + kHalfSteps * kStepWordBytes + share.placeOf(kSharedScaleSteps, kBytes) +
             threadIdx.x % kWarp / 4 * 8),
        scales_(sharedAddress(ring) + kSlots * kHalfBytes + threadIdx.x % kWarp / 4 * 16),
        share_(sharedAddress(ring) + kHalfSteps * kStepWordBytes + share.broughtTo()),
        walk_(walk),
        current_(walk),
        toKeep_(toKeep),
        scaleLines_(share),
        takesPart_(!kInBulk || walk.left > 0) {
    if constexpr (kInBulk) {
      if (threadIdx.x % kWarp == 0) {
        makeBarrier(barrier<false>());
        makeBarrier(barrier<true>());
      }
      fenceBulkCopies();
      __syncwarp();  // the barriers are there for the copies of all
    }
  }

  // Whether this warp multiplies. One without a chunk or a tile does too, what nobody reads: one path, and no warp alone in a
  // branch. Not by large copies, where it would take instructions from those with the last bytes of the link.
  __device__ bool takesPart() const { return takesPart_; }

  // Until the half chunk of a round has come, where groups of copies do not tell.
  template <bool kSecond>
  __device__ void await(int round) const {
    if constexpr (kInBulk) {
      if (takesPart_) awaitPhase(barrier<kSecond>(), round % 2);
    }
  }

  // After the last round, all of whose halves have been awaited.
  __device__ void end() const {
    if constexpr (kInBulk) {
      __syncwarp();
      if (threadIdx.x % kWarp == 0) {
        endBarrier(barrier<false>());
        endBarrier(barrier<true>());
      }
    }
  }

  // Keeps what comes so many bytes further; called before anything is kept.
  __device__ void keepFurther(int64_t bytes) { toKeep_ += bytes; }

  // Waits for the warps that bring each other's weights.
  __device__ static void sync() {
    if constexpr (kHost) __syncthreads();
    else __syncwarp();
  }

  // Begins to bring the next half chunk to the current place; the caller ends the group of copies. Past the end of K the last
  // step comes again: its lanes are zeros.
  template <bool kSecond>
  __device__ void request() {
    if constexpr (kInBulk) announce<kSecond>();
    if (walk_.left > 0) {
      if constexpr (kInBulk) requestInBulk<kSecond>();
      else requestByThreads();
    } else if (Type::kMayExpandToNan && scaleLines_.step < kHalfSteps) {
      copyAsync16OrZeros(share_ + place_, walk_.scales, false);  // whatever lay there, its lanes are zeros
    }
    walk_.pass(kSecond ? kSkipped : 0);
  }

  // Words of step i of the half chunk at the current place.
  __device__ Words4 words(int i) const { return readShared4(words_ + place_ + i * kStepWordBytes); }

  // Keeps those words, and then the scales that this thread has brought to the place.
  __device__ void keepWords(int i, const Words4& words) const {
    if (kHost && toKeep_ != 0 && i < current_.left) keep(current_.wordsOf(i), words);
  }
  template <bool kSecond>
  __device__ void keepScales() {
    if (!kHost || toKeep_ == 0) return;
    if (scaleLines_.step < min(current_.left, kHalfSteps)) keep(current_.scalesOf(scaleLines_.step), readShared4(share_ + place_));
    current_.pass(kSecond ? kSkipped : 0);
  }

  // Expands the scales of the first steps at the current place, each once for the four threads that need it; the caller
  // synchronises the warp.
  template <bool kSecond>
  __device__ void expandScales() const {
    writeShared4(words_ + kSlots * kHalfBytes + (kSecond ? kHalfExpandedBytes : 0), expandedScales<Type>(readShared2(codes_ + place_)));
  }

  // Expanded scales of step i for this thread; the steps that one round of the warp's threads leaves are expanded here.
  template <bool kSecond>
  __device__ Words4 scales(int i) const {
    if (i >= kSharedScaleSteps) return expandedScales<Type>(readShared2(own_ + place_));
    return readShared4(scales_ + (kSecond ? kHalfExpandedBytes : 0) + i * 8 * 16);
  }

  // Requests as much as the ring holds; with(round) may add copies to the group of a round's first half.
  template <typename With>
  __device__ void fill(const With& with) {
#pragma unroll
    for (int s = 0; s < kSlots; s += 2) {
      request<false>();
      with(s / 2);
      commitCopies();
      advance();
      request<true>();
      commitCopies();
      advance();
    }
  }

  __device__ void advance() { place_ = place_ + kHalfBytes == kSlots * kHalfBytes ? 0 : place_ + kHalfBytes; }

 private:
  static constexpr int kSharedScaleSteps = kWarp / 8;
  static_assert(kHalfSteps == kSharedScaleSteps + 1);

  template <bool kSecond>
  __device__ SharedAddress barrier() const {
    return words_ - threadIdx.x % kWarp * 16 + kBarriers + (kSecond ? 8 : 0);
  }

  // 16 bytes of each step's words and perhaps of scales.
  __device__ void requestByThreads() const {
    const SharedAddress words = words_ + place_;
    const uint32_t last = min(walk_.left, kHalfSteps) - 1;
#pragma unroll
    for (uint32_t i = 0; i < kHalfSteps; ++i) {
      if constexpr (kHost) copyFromHost16(words + i * kStepWordBytes, walk_.wordsOf(min(i, last)));
      else copyAsync16(words + i * kStepWordBytes, walk_.wordsOf(min(i, last)));
    }
    const uint8_t* scales = walk_.scalesOf(min(static_cast<uint32_t>(scaleLines_.step), last));
    if constexpr (kHost) copyFromHost16If(share_ + place_, scales, scaleLines_.step < kHalfSteps);
    else copyAsync16If(share_ + place_, scales, scaleLines_.step < kHalfSteps);
  }

  // What the next half chunk brings by large copies, before they begin.
  template <bool kSecond>
  __device__ void announce() const {
    const int bytes = kHalfSteps * kStepWordBytes + scaleLines_.count() * scaleLines_.bytes();
    if (threadIdx.x % kWarp == 0) announceBytes(barrier<kSecond>(), walk_.left > 0 ? bytes : 0);
    __syncwarp();
  }

  // A step's words and a line of scales a thread.
  template <bool kSecond>
  __device__ void requestInBulk() const {
    const int thread = threadIdx.x % kWarp;
    const SharedAddress place = words_ - thread * 16 + place_;
    const SharedAddress barrier = this->barrier<kSecond>();
    const int last = min(walk_.left, kHalfSteps) - 1;
    const int lineBytes = scaleLines_.bytes();
    // The walk names what each thread would bring by itself.
    if (thread < kHalfSteps) {
      copyBulk(place + thread * kStepWordBytes, walk_.wordsOf(min(thread, last)) - thread * 16, kStepWordBytes, barrier);
    }
    const int line = thread - kWarp / 2;
    if (line >= 0 && line < scaleLines_.count()) {
      copyBulk(place + kHalfSteps * kStepWordBytes + line * lineBytes,
               walk_.scalesOf(min(scaleLines_.first() + line, last)) - scaleLines_.vector * 16, lineBytes, barrier);
    }
  }

  __device__ void keep(const uint8_t* from, const Words4& v) const {
    *reinterpret_cast<Words4*>(reinterpret_cast<uintptr_t>(from) + toKeep_) = v;
  }

  SharedAddress words_;     // this thread's of the first place
  SharedAddress codes_;     // those that this thread expands for all
  SharedAddress own_;       // codes of its own channels, last step
  SharedAddress scales_;    // expanded scales of its own channels
  uint32_t place_ = 0;
  SharedAddress share_;     // scales that this thread brings
  WeightWalk walk_;
  WeightWalk current_;      // of the half chunk at the current place
  int64_t toKeep_;          // bytes from what is read to where it is to be kept; 0: nowhere
  ScaleShare scaleLines_;   // which of them
  bool takesPart_;
};

// sums += half a chunk at the ring's place times the lanes whose rows are named by at[pair of lane tiles], in warps that take part.
// Then refill() may bring what comes next to that place, where there is more.
template <bool kSecond, int kLaneTiles, int kPairs, typename Ring, typename Refill>
__device__ inline void multiplyHalf(bool more, Ring& ring, const SharedAddress (&at)[kPairs], ChunkSums<kLaneTiles>& sums,
                                    const Refill& refill) {
  if (ring.takesPart()) {
    ring.template expandScales<kSecond>();
    __syncwarp();  // the scales are there for all
#pragma unroll
    for (int i = 0; i < kHalfSteps; ++i) {
      uint32_t b[kLaneTiles][2];
#pragma unroll
      for (int pair = 0; pair < kPairs; ++pair) {
        const SharedAddress row = at[pair] + ((kSecond ? kHalfSteps : 0) + i) * (kMmaK * 2);
        if constexpr (kLaneTiles == 1) loadLanes(b, row);
        else loadLanes(*reinterpret_cast<uint32_t(*)[2][2]>(&b[2 * pair]), row);
      }
      const Words4 words = ring.words(i);
      ring.keepWords(i, words);
      multiplyStep<typename Ring::Type>(words, ring.template scales<kSecond>(i), b, sums);
    }
    ring.template keepScales<kSecond>();
  }
  if (!more) return;
  Ring::sync();  // all have read their codes
  refill();
}

// Calls use(channel in the tile, lane of the block, sum) for each sum that this thread holds.
template <int kLaneTiles, typename Use>
__device__ inline void forEachSum(const ChunkSums<kLaneTiles>& sums, const Use& use) {
  const int lane = threadIdx.x % kWarp;
#pragma unroll
  for (int j = 0; j < 4; ++j)
#pragma unroll
    for (int t = 0; t < kLaneTiles; ++t)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        use(j * kMmaChannels + i / 2 * 8 + lane / 4, t * kMmaLanes + lane % 4 * 2 + i % 2, sums.at[j][t][i]);
      }
}

}  // namespace pool
