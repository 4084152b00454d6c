// Device and pinned memory and captured graphs of the GPU tests, freed when they go out of scope.
#pragma once

#include <cuda_runtime.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "pool/check.cuh"

namespace test {

template <typename T>
class DeviceBuffer {
 public:
  explicit DeviceBuffer(size_t count) : count_(count) { POOL_CUDA_CHECK(cudaMalloc(&data_, bytes())); }
  ~DeviceBuffer() { cudaFree(data_); }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  void upload(const T* from, size_t count, size_t at = 0) {
    POOL_CUDA_CHECK(cudaMemcpy(data_ + at, from, count * sizeof(T), cudaMemcpyHostToDevice));
  }
  void download(T* to, size_t count, size_t at = 0) const {
    POOL_CUDA_CHECK(cudaMemcpy(to, data_ + at, count * sizeof(T), cudaMemcpyDeviceToHost));
  }

  T* data() { return data_; }
  size_t count() const { return count_; }
  size_t bytes() const { return count_ * sizeof(T); }

 private:
  size_t count_;
  T* data_ = nullptr;
};

// Host memory that kernels read through its device view.
template <typename T>
class PinnedBuffer {
 public:
  explicit PinnedBuffer(size_t count) : count_(count) {
    POOL_CUDA_CHECK(cudaHostAlloc(&data_, count * sizeof(T), cudaHostAllocMapped));
    POOL_CUDA_CHECK(cudaHostGetDevicePointer(&view_, data_, 0));
  }
  ~PinnedBuffer() { cudaFreeHost(data_); }
  PinnedBuffer(const PinnedBuffer&) = delete;
  PinnedBuffer& operator=(const PinnedBuffer&) = delete;

  T* data() { return data_; }
  const T* deviceView() const { return view_; }
  size_t count() const { return count_; }

 private:
  size_t count_;
  T* data_ = nullptr;
  T* view_ = nullptr;
};

// Host memory as an engine of many layers has it: made by the system, touched and registered in slabs by several threads.
class RegisteredSlabs {
 public:
  RegisteredSlabs(int slabs, size_t slabBytes) : slabs_(slabs), slabBytes_(slabBytes) {
    void* memory = mmap(nullptr, slabs * slabBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
      std::fprintf(stderr, "no %zu bytes of host memory\n", slabs * slabBytes);
      std::exit(1);
    }
    data_ = static_cast<uint8_t*>(memory);
    inThreads([&](int slab) {
      for (size_t at = 0; at < slabBytes_; at += 4096) data_[slab * slabBytes_ + at] = 0;
      POOL_CUDA_CHECK(cudaHostRegister(data_ + slab * slabBytes_, slabBytes_, cudaHostRegisterMapped));
    });
  }
  ~RegisteredSlabs() {
    inThreads([&](int slab) { cudaHostUnregister(data_ + slab * slabBytes_); });
    munmap(data_, slabs_ * slabBytes_);
  }
  RegisteredSlabs(const RegisteredSlabs&) = delete;
  RegisteredSlabs& operator=(const RegisteredSlabs&) = delete;

  uint8_t* data(int slab) { return data_ + slab * slabBytes_; }
  const uint8_t* deviceView(int slab) {
    uint8_t* view = nullptr;
    POOL_CUDA_CHECK(cudaHostGetDevicePointer(&view, data(slab), 0));
    return view;
  }

 private:
  static constexpr int kThreads = 16;

  template <typename Work>
  void inThreads(const Work& work) {
    std::vector<std::thread> threads;
    for (int first = 0; first < kThreads; ++first) {
      threads.emplace_back([&, first] {
        for (int slab = first; slab < slabs_; slab += kThreads) work(slab);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  const int slabs_;
  const size_t slabBytes_;
  uint8_t* data_;
};

// What a function enqueues on a stream, captured once and replayed.
class Graph {
 public:
  template <typename Enqueue>
  explicit Graph(const Enqueue& enqueue) {
    // A blocking stream: replays wait for plain copies to the inputs, which may still be under way when cudaMemcpy returns.
    POOL_CUDA_CHECK(cudaStreamCreate(&stream_));
    POOL_CUDA_CHECK(cudaEventCreate(&start_));
    POOL_CUDA_CHECK(cudaEventCreate(&end_));
    POOL_CUDA_CHECK(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal));
    enqueue(stream_);
    cudaGraph_t graph;
    POOL_CUDA_CHECK(cudaStreamEndCapture(stream_, &graph));
    POOL_CUDA_CHECK(cudaGraphInstantiate(&executable_, graph, 0));
    POOL_CUDA_CHECK(cudaGraphDestroy(graph));
  }
  ~Graph() {
    cudaGraphExecDestroy(executable_);
    cudaEventDestroy(start_);
    cudaEventDestroy(end_);
    cudaStreamDestroy(stream_);
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  void replay() { POOL_CUDA_CHECK(cudaGraphLaunch(executable_, stream_)); }

  // Time of one replay between two events, in microseconds.
  double timedReplayMicros() {
    POOL_CUDA_CHECK(cudaEventRecord(start_, stream_));
    replay();
    POOL_CUDA_CHECK(cudaEventRecord(end_, stream_));
    POOL_CUDA_CHECK(cudaEventSynchronize(end_));
    float millis = 0;
    POOL_CUDA_CHECK(cudaEventElapsedTime(&millis, start_, end_));
    return millis * 1000.0;
  }

 private:
  cudaStream_t stream_ = nullptr;
  cudaEvent_t start_ = nullptr;
  cudaEvent_t end_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
};

}  // namespace test
