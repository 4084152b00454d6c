// Copies the rows that a step planned from the host source's device view into the bank.
//
// The grid is fixed; the number of copies is read on the device. Blocks take chunks of one part of one row in turn, so
// any grid size gives the same bytes. A few blocks fill the link and leave the other multiprocessors free.
#pragma once

#include "pool/constants.h"
#include "pool/layout.h"

namespace pool {

struct alignas(kVectorBytes) RowVector {
  uint32_t word[kVectorBytes / sizeof(uint32_t)];
};
static_assert(sizeof(RowVector) == kVectorBytes, "one load or store instruction");

__device__ inline int chunksOf(uint64_t bytes) {
  return static_cast<int>((bytes + kCopyChunkBytes - 1) / kCopyChunkBytes);
}

// Copies up to one chunk; all loads are issued before the first store.
__device__ inline void copyChunk(uint8_t* to, const uint8_t* from, uint64_t bytes) {
  const RowVector* source = reinterpret_cast<const RowVector*>(from);
  RowVector* target = reinterpret_cast<RowVector*>(to);
  const int vectors = static_cast<int>(bytes / kVectorBytes);
  RowVector loaded[kCopyVectorsPerThread];
#pragma unroll
  for (int i = 0; i < kCopyVectorsPerThread; ++i) {
    const int vector = threadIdx.x + i * kCopyThreads;
    if (vector < vectors) loaded[i] = source[vector];
  }
#pragma unroll
  for (int i = 0; i < kCopyVectorsPerThread; ++i) {
    const int vector = threadIdx.x + i * kCopyThreads;
    if (vector < vectors) target[vector] = loaded[i];
  }
}

// All copies of a step, by any number of blocks of kCopyThreads threads.
__device__ inline void copyRows(const RowCopyParams& p) {
  const int copies = p.plan->promoted + p.plan->staged;
  if (copies == 0) return;
  int chunksPerRow = 0;
  for (int i = 0; i < p.partCount; ++i) chunksPerRow += chunksOf(p.parts[i].bytes);
  const uint8_t* layer = p.sourceLayers[p.layer];
  for (int chunk = blockIdx.x; chunk < copies * chunksPerRow; chunk += gridDim.x) {
    const RowCopy copy = p.plan->copies[chunk / chunksPerRow];
    int chunkOfPart = chunk % chunksPerRow;
    int part = 0;
    while (chunkOfPart >= chunksOf(p.parts[part].bytes)) chunkOfPart -= chunksOf(p.parts[part++].bytes);
    const RowPart& rowPart = p.parts[part];
    // 64-bit: a bank of all rows is beyond 2^31 bytes from row 777 on at 2,764,800 bytes a row.
    const uint64_t offset = static_cast<uint64_t>(chunkOfPart) * kCopyChunkBytes;
    const uint64_t left = rowPart.bytes - offset;
    copyChunk(rowPart.bank + static_cast<uint64_t>(copy.row) * rowPart.bankStrideBytes + offset,
              layer + static_cast<uint64_t>(copy.expert) * p.sourceRowBytes + rowPart.sourceOffsetBytes + offset,
              left < kCopyChunkBytes ? left : kCopyChunkBytes);
  }
}

}  // namespace pool
