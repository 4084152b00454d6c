// What a launch of blocks that all wait for each other needs (notes/decisions/0006): the cost of a cooperative launch in a
// graph, and whether two plain ones in two streams can hold each other up. No kernel of the pool takes part.
#include <algorithm>
#include <cstdio>
#include <vector>

#include "gpu_buffers.h"

namespace {

constexpr int kThreads = 512;
constexpr int kSharedBytes = 200 * 1024;  // one block a multiprocessor
constexpr int kNodes = 48;                // pairs of a small kernel and one whose blocks meet
constexpr unsigned long long kGiveUpNanos = 500000000;

__device__ unsigned long long nanos() {
  unsigned long long t;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
  return t;
}
__device__ void passNanos(unsigned long long wanted) {
  const unsigned long long start = nanos();
  while (nanos() - start < wanted) {
  }
}

struct Meeting {
  unsigned arrived, left, gaveUp, small;  // the first two are 0 between launches
};

__global__ void meet(Meeting* meeting, unsigned workNanos) {
  if (threadIdx.x == 0) {
    passNanos(workNanos);
    atomicAdd(&meeting->arrived, 1);
    const unsigned long long start = nanos();
    while (*const_cast<volatile unsigned*>(&meeting->arrived) < gridDim.x) {
      if (nanos() - start > kGiveUpNanos) {
        atomicAdd(&meeting->gaveUp, 1);
        break;
      }
      __nanosleep(20);
    }
    if (atomicAdd(&meeting->left, 1) == gridDim.x - 1) meeting->arrived = meeting->left = 0;
  }
  __syncthreads();
}
__global__ void small(Meeting* meeting) {
  if (threadIdx.x == 0) ++meeting->small;
}
__global__ void occupy(unsigned workNanos) { passNanos(workNanos); }

cudaGraphExec_t capture(bool together, int blocks, Meeting* meeting, unsigned workNanos, cudaStream_t stream) {
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  POOL_CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < kNodes; ++i) {
    small<<<1, 128, 0, stream>>>(meeting);
    void* arguments[] = {&meeting, &workNanos};
    const auto kernel = reinterpret_cast<const void*>(meet);
    if (together) POOL_CUDA_CHECK(cudaLaunchCooperativeKernel(kernel, dim3(blocks), dim3(kThreads), arguments, kSharedBytes, stream));
    else POOL_CUDA_CHECK(cudaLaunchKernel(kernel, dim3(blocks), dim3(kThreads), arguments, kSharedBytes, stream));
  }
  POOL_CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
  POOL_CUDA_CHECK(cudaGraphInstantiate(&executable, graph, 0));
  POOL_CUDA_CHECK(cudaGraphDestroy(graph));
  return executable;
}

double micros(cudaGraphExec_t graph, cudaStream_t stream, cudaEvent_t start, cudaEvent_t end) {
  float milliseconds;
  POOL_CUDA_CHECK(cudaEventRecord(start, stream));
  POOL_CUDA_CHECK(cudaGraphLaunch(graph, stream));
  POOL_CUDA_CHECK(cudaEventRecord(end, stream));
  POOL_CUDA_CHECK(cudaEventSynchronize(end));
  POOL_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, start, end));
  return milliseconds * 1e3 / kNodes;
}

}  // namespace

int main() {
  cudaDeviceProp device;
  POOL_CUDA_CHECK(cudaGetDeviceProperties(&device, 0));
  const int blocks = device.multiProcessorCount;
  POOL_CUDA_CHECK(cudaFuncSetAttribute(meet, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes));
  POOL_CUDA_CHECK(cudaFuncSetAttribute(occupy, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes));
  Meeting* meetings;
  POOL_CUDA_CHECK(cudaMalloc(&meetings, 2 * sizeof(Meeting)));
  POOL_CUDA_CHECK(cudaMemset(meetings, 0, 2 * sizeof(Meeting)));
  int least, greatest;
  POOL_CUDA_CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  cudaStream_t low, high, others;
  POOL_CUDA_CHECK(cudaStreamCreateWithPriority(&low, cudaStreamNonBlocking, least));
  POOL_CUDA_CHECK(cudaStreamCreateWithPriority(&high, cudaStreamNonBlocking, greatest));
  POOL_CUDA_CHECK(cudaStreamCreateWithPriority(&others, cudaStreamNonBlocking, least));
  cudaEvent_t start, end;
  POOL_CUDA_CHECK(cudaEventCreate(&start));
  POOL_CUDA_CHECK(cudaEventCreate(&end));

  std::vector<double> times[2];
  const cudaGraphExec_t graphs[2] = {capture(false, blocks, meetings, 0, low), capture(true, blocks, meetings, 0, low)};
  for (int replay = 0; replay < 60; ++replay)
    for (int together = 0; together < 2; ++together) {
      const double time = micros(graphs[together], low, start, end);
      if (replay >= 10) times[together].push_back(time);
    }
  std::printf("launch,beside_others,rounds,blocks_that_gave_up,us_a_pair_of_nodes\n");
  for (int together = 0; together < 2; ++together) {
    std::sort(times[together].begin(), times[together].end());
    std::printf("%s,,,,%.2f\n", together ? "cooperative" : "plain", times[together][times[together].size() / 2]);
  }
  for (int together = 0; together < 2; ++together)
    for (int beside = 0; beside < 2; ++beside) {
      POOL_CUDA_CHECK(cudaMemset(meetings, 0, 2 * sizeof(Meeting)));
      POOL_CUDA_CHECK(cudaDeviceSynchronize());
      const cudaGraphExec_t one = capture(together, blocks, meetings, 2000, low), two = capture(together, blocks, meetings + 1, 2000, high);
      Meeting seen[2] = {};
      int round = 0;
      for (; round < 100 && seen[0].gaveUp + seen[1].gaveUp == 0; ++round) {
        for (int i = 0; i < 4; ++i) {
          if (beside) occupy<<<40, 128, kSharedBytes, others>>>(30000);
          POOL_CUDA_CHECK(cudaGraphLaunch(one, low));
          POOL_CUDA_CHECK(cudaGraphLaunch(two, high));
        }
        for (int k = 0; beside && k < 40; ++k) occupy<<<20 + k % 7 * 10, 128, kSharedBytes, others>>>(20000);
        POOL_CUDA_CHECK(cudaDeviceSynchronize());
        POOL_CUDA_CHECK(cudaMemcpy(seen, meetings, sizeof seen, cudaMemcpyDeviceToHost));
      }
      std::printf("%s,%d,%d,%u,\n", together ? "cooperative" : "plain", beside, round, seen[0].gaveUp + seen[1].gaveUp);
      std::fflush(stdout);
    }
  return 0;
}
