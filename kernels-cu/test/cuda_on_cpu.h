// Runs a kernel's source on the CPU, a fiber for each thread, so that its logic is tested where there is no GPU.
//
// Threads run until they meet a barrier or a warp operation; those released together resume in a seeded random order, so
// a missing barrier shows as a wrong result under some seed. Asynchronous copies are made when they are asked for or when
// they are waited for, by chance, so a missing wait shows too, and a place that is filled too early. One block runs at a
// time, or, where blocks wait for each other, all do in turns, which may end where a block has counted. What it can't show:
// memory ordering of real hardware, and speed.
#pragma once

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <vector>

#define __global__
#define __device__
#define __grid_constant__
#define __launch_bounds__(...)
#define __shared__ static  // one block at a time, not for blocks in turns; contents of the last block remain, as on a device

namespace cpu {

struct Index {
  int x;
};

constexpr int kWarpThreads = 32;
constexpr size_t kStackBytes = 64 * 1024;

// A point of execution with a stack of its own. Switching by ucontext.h costs two system calls, most of the time of a run;
// where the instructions are known, only the registers that a call preserves are changed.
class Fiber {
 public:
  // Makes this one begin with `enter`, which never returns.
  void start(void (*enter)()) {
    if (!stack_) stack_.reset(new char[kStackBytes]);
#if defined(__x86_64__)
    const auto top = reinterpret_cast<uintptr_t>(stack_.get() + kStackBytes) / 16 * 16;
    auto words = reinterpret_cast<uintptr_t*>(top);
    *--words = 0;  // where a return address would be: a function expects the stack aligned above it
    *--words = reinterpret_cast<uintptr_t>(enter);
    words -= kSaved;
    std::fill(words, words + kSaved, 0);
    at_ = words;
#else
    getcontext(&context_);
    context_.uc_stack.ss_sp = stack_.get();
    context_.uc_stack.ss_size = kStackBytes;
    context_.uc_link = nullptr;
    makecontext(&context_, enter, 0);
#endif
  }

  // Leaves the running fiber, this one, for another.
  void switchTo(Fiber& next) {
#if defined(__x86_64__)
    switchStacks(&at_, next.at_);
#else
    swapcontext(&context_, &next.context_);
#endif
  }

 private:
  std::unique_ptr<char[]> stack_;  // none for the thread that schedules the others
#if defined(__x86_64__)
  static constexpr int kSaved = 6;  // rbx, rbp, r12 to r15
  void* at_ = nullptr;              // of the stack, below the saved registers

  __attribute__((naked, noinline)) static void switchStacks(void** /*from*/, void* /*to*/) {
    __asm__(
        "pushq %rbx\n\tpushq %rbp\n\tpushq %r12\n\tpushq %r13\n\tpushq %r14\n\tpushq %r15\n\t"
        "movq %rsp, (%rdi)\n\tmovq %rsi, %rsp\n\t"
        "popq %r15\n\tpopq %r14\n\tpopq %r13\n\tpopq %r12\n\tpopq %rbp\n\tpopq %rbx\n\tret");
  }
#else
  ucontext_t context_;
#endif
};

// The copies that one thread has begun and not waited for, in groups.
class AsyncCopies {
 public:
  // 16 bytes; zeros where `from` is null.
  void begin(void* to, const void* from, bool atOnce) {
    if (atOnce) Copy{to, from}.make();
    else open_.push_back({to, from});
  }
  void endGroup() {
    groups_.push_back(std::move(open_));
    open_.clear();
  }
  // Until no more than the last `pending` groups are left.
  void wait(size_t pending) {
    for (; groups_.size() > pending; groups_.pop_front()) {
      for (const Copy& copy : groups_.front()) copy.make();
    }
  }

 private:
  struct Copy {
    void* to;
    const void* from;

    void make() const {
      if (from) std::memcpy(to, from, 16);
      else std::memset(to, 0, 16);
    }
  };

  std::vector<Copy> open_;
  std::deque<std::vector<Copy>> groups_;
};

// Large copies under way in a block, and the barriers of 8 bytes in its shared memory whose phases they end. Their places hold a
// mark while they are there: whoever writes over one shows.
class BulkCopies {
 public:
  // Of a place that holds no barrier.
  void makeBarrier(void* barrier) {
    if (reinterpret_cast<uintptr_t>(barrier) % kMark.size() != 0) stop("a barrier does not lie on 8 bytes");
    if (!barriers_.emplace(barrier, Barrier()).second) stop("a barrier is made twice");
    std::memcpy(barrier, kMark.data(), kMark.size());
  }
  void endBarrier(void* barrier) {
    if (at(barrier).underWay != 0 || at(barrier).missing != 0) stop("a barrier ends while copies are under way");
    barriers_.erase(barrier);
  }
  void announce(void* barrier, int bytes) {
    Barrier& b = at(barrier);
    if (b.missing != 0) stop("bytes are announced twice in a phase");
    b.missing = bytes;
    if (bytes == 0) ++b.phase;
  }
  bool ended(void* barrier, unsigned parity) { return at(barrier).phase % 2 != parity; }

  void begin(void* to, const void* from, int bytes, void* barrier, bool atOnce) {
    if (bytes % 16 != 0 || reinterpret_cast<uintptr_t>(to) % 16 != 0 || reinterpret_cast<uintptr_t>(from) % 16 != 0) {
      stop("a large copy is not of vectors of 16 bytes");
    }
    ++at(barrier).underWay;
    underWay_.push_back({to, from, bytes, barrier});
    if (atOnce) finish(underWay_.size() - 1);
  }
  // One of the barrier's copies comes; false where none is under way.
  bool finishOne(void* barrier) {
    for (size_t i = 0; i < underWay_.size(); ++i) {
      if (underWay_[i].barrier != barrier) continue;
      finish(i);
      return true;
    }
    return false;
  }
  void requireNone() const {
    if (!underWay_.empty() || !barriers_.empty()) stop("a block ends with copies under way or a barrier");
  }

 private:
  struct Barrier {
    unsigned phase = 0;
    int missing = 0;  // bytes
    int underWay = 0;
  };
  struct Copy {
    void* to;
    const void* from;
    int bytes;
    void* barrier;
  };

  Barrier& at(void* barrier) {
    const auto found = barriers_.find(barrier);
    if (found == barriers_.end()) stop("there is no such barrier");
    if (std::memcmp(barrier, kMark.data(), kMark.size()) != 0) stop("a barrier has been written over");
    return found->second;
  }
  void finish(size_t i) {
    const Copy copy = underWay_[i];
    underWay_.erase(underWay_.begin() + i);
    std::memcpy(copy.to, copy.from, copy.bytes);
    Barrier& b = at(copy.barrier);
    --b.underWay;
    if (b.missing < copy.bytes) stop("a copy brings bytes that were not announced");
    b.missing -= copy.bytes;
    if (b.missing == 0) ++b.phase;
  }
  [[noreturn]] static void stop(const char* what) {
    std::fprintf(stderr, "%s\n", what);
    std::exit(1);
  }

  static constexpr std::array<uint8_t, 8> kMark = {0xba, 0x55, 0xa1, 0xe5, 0xba, 0x55, 0xa1, 0xe5};

  std::map<void*, Barrier> barriers_;
  std::vector<Copy> underWay_;
};

class Block {
 public:
  Block(int threads, int blocks, uint64_t seed)
      : threads_(threads), blocks_(blocks), random_(seed), warps_((threads + kWarpThreads - 1) / kWarpThreads) {
    fibers_.resize(threads);
    all_.size = threads;
    for (auto& warp : warps_) warp.barrier.size = kWarpThreads;
  }

  // Runs every block of the grid to its end.
  void run(const std::function<void()>& kernel) {
    for (block_ = 0; block_ < blocks_; ++block_) {
      start(kernel);
      while (!ended()) {
        if (!turn()) stopAtDeadlock();
      }
    }
  }

  // Runs all blocks of a grid in turns that end when every thread of the block waits or pauses.
  static void runInTurns(int threads, int blocks, uint64_t seed, const std::function<void()>& kernel) {
    std::vector<std::unique_ptr<Block>> all;
    for (int i = 0; i < blocks; ++i) {
      all.emplace_back(new Block(threads, blocks, seed + i));
      all.back()->block_ = i;
      all.back()->start(kernel);
    }
    std::mt19937_64 random(seed);
    for (std::vector<Block*> left(blocks);;) {
      left.clear();
      for (const auto& block : all) {
        if (!block->ended()) left.push_back(block.get());
      }
      if (left.empty()) return;
      std::shuffle(left.begin(), left.end(), random);
      bool moved = false;
      for (Block* block : left) moved |= block->turn();
      if (!moved) left.front()->stopAtDeadlock();
    }
  }

  void barrier() { wait(all_); }

  bool barrierOr(bool value) {
    barrier();
    if (current_ == 0) anyTrue_ = false;
    barrier();
    anyTrue_ |= value;
    barrier();
    return anyTrue_;
  }

  void warpBarrier() { wait(warp().barrier); }

  // Lets all other threads run first.
  void pause() {
    paused_.push_back(current_);
    fibers_[current_].switchTo(scheduler_);
  }

  // By chance, lets other blocks run before the other threads of this one do.
  void mayGiveTurn() {
    if (random_() % 4 != 0) return;
    givesTurn_ = true;
    pause();
  }

  // Every thread of the warp gives a value and sees all 32.
  template <typename Result>
  Result exchange(uint64_t mine, const std::function<Result(const uint64_t*)>& read) {
    warp().slot[lane()] = mine;
    warpBarrier();
    const Result result = read(warp().slot);
    warpBarrier();  // nobody overwrites a slot before all have read
    return result;
  }

  AsyncCopies& copies() { return copies_[current_]; }
  void beginCopy(void* to, const void* from) { copies().begin(to, from, random_() % 2 == 0); }

  BulkCopies& bulkCopies() { return bulk_; }
  void beginBulk(void* to, const void* from, int bytes, void* barrier) { bulk_.begin(to, from, bytes, barrier, random_() % 2 == 0); }
  void awaitPhase(void* barrier, unsigned parity) {
    while (!bulk_.ended(barrier, parity)) {
      if (random_() % 2 == 0 || !bulk_.finishOne(barrier)) pause();
    }
  }

  Index thread() const { return {current_}; }
  Index block() const { return {block_}; }
  Index grid() const { return {blocks_}; }
  int lane() const { return current_ % kWarpThreads; }

  static inline Block* active = nullptr;

 private:
  struct Barrier {
    int size = 0;
    std::vector<int> waiting;
  };
  struct Warp {
    Barrier barrier;
    uint64_t slot[kWarpThreads];
  };

  Warp& warp() { return warps_[current_ / kWarpThreads]; }

  void wait(Barrier& barrier) {
    if (static_cast<int>(barrier.waiting.size()) + 1 < barrier.size) {
      barrier.waiting.push_back(current_);
      fibers_[current_].switchTo(scheduler_);
      return;
    }
    std::shuffle(barrier.waiting.begin(), barrier.waiting.end(), random_);
    runnable_.insert(runnable_.end(), barrier.waiting.begin(), barrier.waiting.end());
    barrier.waiting.clear();
  }

  static void enter() {
    (*active->kernel_)();
    if (--active->live_ == 0) active->bulk_.requireNone();
    active->fibers_[active->current_].switchTo(active->scheduler_);
  }

  void start(const std::function<void()>& kernel) {
    kernel_ = &kernel;
    live_ = threads_;
    copies_.assign(threads_, AsyncCopies());
    runnable_.clear();
    for (int i = 0; i < threads_; ++i) {
      fibers_[i].start(&Block::enter);
      runnable_.push_back(i);
    }
    std::shuffle(runnable_.begin(), runnable_.end(), random_);
  }

  bool ended() const { return live_ == 0; }

  // Runs the block until every thread waits or pauses; whether any did more than pause again.
  bool turn() {
    active = this;
    bool moved = false;
    givesTurn_ = false;
    while (!runnable_.empty() && !givesTurn_) {
      current_ = runnable_.back();
      runnable_.pop_back();
      const size_t paused = paused_.size();
      scheduler_.switchTo(fibers_[current_]);
      moved |= paused_.size() == paused || givesTurn_;
    }
    runnable_.insert(runnable_.end(), paused_.begin(), paused_.end());
    paused_.clear();
    active = nullptr;
    return moved;
  }

  [[noreturn]] void stopAtDeadlock() const {
    std::fprintf(stderr, "deadlock: %d threads of block %d wait for what never comes\n", live_, block_);
    std::exit(1);
  }

  int threads_;
  int blocks_;
  std::mt19937_64 random_;
  std::vector<Fiber> fibers_;
  std::vector<AsyncCopies> copies_;
  BulkCopies bulk_;
  std::vector<Warp> warps_;
  Barrier all_;
  std::vector<int> runnable_;
  std::vector<int> paused_;
  Fiber scheduler_;
  const std::function<void()>* kernel_ = nullptr;
  int current_ = 0;
  int block_ = 0;
  int live_ = 0;
  bool anyTrue_ = false;
  bool givesTurn_ = false;
};

inline Block& self() { return *Block::active; }

inline int32_t low32(uint64_t value) { return static_cast<int32_t>(static_cast<uint32_t>(value)); }

}  // namespace cpu

#define threadIdx (cpu::self().thread())
#define blockIdx (cpu::self().block())
#define gridDim (cpu::self().grid())

using std::max;
using std::min;

struct longlong2 {
  long long x;
  long long y;
};

template <typename T>
inline T __ldcg(const T* address) {
  return *address;
}

inline void __syncthreads() { cpu::self().barrier(); }
inline int __syncthreads_or(int value) { return cpu::self().barrierOr(value != 0); }
inline void __threadfence() {}
inline void __syncwarp() { cpu::self().warpBarrier(); }

inline unsigned __ballot_sync(unsigned, bool flag) {
  return cpu::self().exchange<unsigned>(flag, [](const uint64_t* slot) {
    unsigned mask = 0;
    for (int i = 0; i < cpu::kWarpThreads; ++i) mask |= slot[i] ? 1u << i : 0u;
    return mask;
  });
}

inline unsigned __match_any_sync(unsigned, int32_t value) {
  return cpu::self().exchange<unsigned>(static_cast<uint32_t>(value), [&](const uint64_t* slot) {
    unsigned mask = 0;
    for (int i = 0; i < cpu::kWarpThreads; ++i) mask |= slot[i] == static_cast<uint32_t>(value) ? 1u << i : 0u;
    return mask;
  });
}

inline int32_t __shfl_sync(unsigned, int32_t value, int from) {
  return cpu::self().exchange<int32_t>(static_cast<uint32_t>(value),
                                       [&](const uint64_t* slot) { return cpu::low32(slot[from]); });
}
inline uint64_t __shfl_sync(unsigned, uint64_t value, int from) {
  return cpu::self().exchange<uint64_t>(value, [&](const uint64_t* slot) { return slot[from]; });
}
inline float __shfl_sync(unsigned mask, float value, int from) {
  int32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  bits = __shfl_sync(mask, bits, from);
  std::memcpy(&value, &bits, sizeof(bits));
  return value;
}

template <typename T>
inline T __shfl_xor_sync(unsigned, T value, int apart) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  const int other = cpu::self().lane() ^ apart;
  const uint64_t theirs = cpu::self().exchange<uint64_t>(bits, [&](const uint64_t* slot) { return slot[other]; });
  std::memcpy(&value, &theirs, sizeof value);
  return value;
}

inline int32_t __reduce_min_sync(unsigned, int32_t value) {
  return cpu::self().exchange<int32_t>(static_cast<uint32_t>(value), [](const uint64_t* slot) {
    int32_t least = cpu::low32(slot[0]);
    for (int i = 1; i < cpu::kWarpThreads; ++i) least = std::min(least, cpu::low32(slot[i]));
    return least;
  });
}

inline int32_t __reduce_max_sync(unsigned, int32_t value) {
  return cpu::self().exchange<int32_t>(static_cast<uint32_t>(value), [](const uint64_t* slot) {
    int32_t most = cpu::low32(slot[0]);
    for (int i = 1; i < cpu::kWarpThreads; ++i) most = std::max(most, cpu::low32(slot[i]));
    return most;
  });
}

inline uint32_t __reduce_min_sync(unsigned, uint32_t value) {
  return cpu::self().exchange<uint32_t>(value, [](const uint64_t* slot) {
    return static_cast<uint32_t>(*std::min_element(slot, slot + cpu::kWarpThreads));
  });
}

inline uint32_t __reduce_xor_sync(unsigned, uint32_t value) {
  return cpu::self().exchange<uint32_t>(value, [](const uint64_t* slot) {
    uint64_t all = 0;
    for (int i = 0; i < cpu::kWarpThreads; ++i) all ^= slot[i];
    return static_cast<uint32_t>(all);
  });
}

template <typename T>
inline T atomicAdd(T* address, T value) {
  const T old = *address;
  *address = old + value;
  return old;
}
template <typename T>
inline T atomicXor(T* address, T value) {
  const T old = *address;
  *address = old ^ value;
  return old;
}
template <typename T>
inline T atomicMin(T* address, T value) {
  const T old = *address;
  *address = std::min(old, value);
  return old;
}
template <typename T>
inline T atomicExch(T* address, T value) {
  const T old = *address;
  *address = value;
  return old;
}

inline int __clz(int value) { return value == 0 ? 32 : __builtin_clz(static_cast<unsigned>(value)); }
inline int __popc(unsigned value) { return __builtin_popcount(value); }
inline int __popcll(unsigned long long value) { return __builtin_popcountll(value); }
inline int __ffs(int value) { return __builtin_ffs(value); }
inline int __ffsll(long long value) { return __builtin_ffsll(value); }

inline uint32_t __float_as_uint(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

// CPU versions of block_counts.cuh.
namespace pool {

inline void countUp(int32_t* count) {
  ++*count;
  cpu::self().mayGiveTurn();
}
inline void countRelaxed(int32_t* count) { countUp(count); }
inline int32_t countUpAndSee(int32_t* count) {
  const int32_t before = (*count)++;
  cpu::self().mayGiveTurn();
  return before;
}
inline int32_t loadAcquire(const int32_t* from) { return *from; }
inline void pauseBriefly() { cpu::self().pause(); }
inline void lookAgain() { cpu::self().pause(); }

}  // namespace pool
