// How long straight code takes, by its size and by what a multiprocessor has run before: what it has at hand, what comes from
// further away (notes/log/2026-11-30-one-token.md). No kernel of the pool takes part.
//
// Prints CSV: cycles of three passes over so many KB of code, one after the other in one launch, at the last of 24 launches in a
// graph, each alone or behind a kernel with other code; medians and most over blocks, one a multiprocessor.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "gpu_buffers.h"

namespace {

constexpr int kPasses = 3;
constexpr int kLaunches = 24;
constexpr int kOtherKilobytes = 128;
constexpr int kInstructionBytes = 16;

// Instructions that wait for none of the seven before.
template <int kCount>
__device__ __forceinline__ void execute(float (&sums)[8], float a, float b) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(sums[i % 8]) : "f"(a), "f"(b));
}

template <int kKilobytes, bool kOther>
__global__ void __launch_bounds__(512, 1) straight(float* out, int64_t* cycles, float a, float b) {
  float sums[8] = {a, b, a, b, a, b, a, b};
#pragma unroll 1
  for (int pass = 0; pass < kPasses; ++pass) {
    __syncthreads();
    const int64_t start = clock64();
    execute<kKilobytes * 1024 / kInstructionBytes>(sums, a, b);
    __syncthreads();
    if (threadIdx.x == 0) cycles[blockIdx.x * kPasses + pass] = clock64() - start;
  }
  float sum = 0;
  for (float s : sums) sum += s;
  if (sum == 1.5f + kOther) *out = sum;  // or the compiler leaves all out
}

template <int kKilobytes>
void measure(int warps, bool behindOther, int blocks) {
  test::DeviceBuffer<float> out(1);
  test::DeviceBuffer<int64_t> cycles(blocks * kPasses), others(blocks * kPasses);
  test::Graph graph([&](cudaStream_t capture) {
    for (int i = 0; i < kLaunches; ++i) {
      if (behindOther) straight<kOtherKilobytes, true><<<blocks, 512, 0, capture>>>(out.data(), others.data(), 1.0f, 0.5f);
      straight<kKilobytes, false><<<blocks, warps * 32, 0, capture>>>(out.data(), cycles.data(), 1.0f, 0.5f);
      POOL_CUDA_CHECK(cudaGetLastError());
    }
  });
  for (int replay = 0; replay < 3; ++replay) graph.timedReplayMicros();
  std::vector<int64_t> all(cycles.count());
  cycles.download(all.data(), all.size());
  for (int pass = 0; pass < kPasses; ++pass) {
    std::vector<int64_t> ofBlocks;
    for (int block = 0; block < blocks; ++block) ofBlocks.push_back(all[block * kPasses + pass]);
    std::sort(ofBlocks.begin(), ofBlocks.end());
    std::printf("%d,%d,%s,%d,%lld,%lld\n", kKilobytes, warps, behindOther ? "other" : "itself", pass + 1,
                static_cast<long long>(ofBlocks[blocks / 2]), static_cast<long long>(ofBlocks.back()));
  }
}

template <int... kKilobytes>
void measureAll(int warps, bool behindOther, int blocks) {
  (measure<kKilobytes>(warps, behindOther, blocks), ...);
}

}  // namespace

int main() {
  cudaDeviceProp device;
  POOL_CUDA_CHECK(cudaGetDeviceProperties(&device, 0));
  std::printf("kilobytes,warps,behind,pass,median_cycles,most_cycles\n");
  for (int warps : {1, 4, 16}) {
    for (bool behindOther : {false, true}) {
      measureAll<8, 16, 24, 32, 48, 64, 96, 128, 192, 256>(warps, behindOther, device.multiProcessorCount);
    }
  }
}
