// Entry point of the row copy, looked up by name. Any grid, block kCopyThreads.
#include "rows/smxx_row_copy.cuh"

extern "C" __global__ void __launch_bounds__(pool::kCopyThreads)
    smxx_row_copy(const __grid_constant__ pool::RowCopyParams params) {
  pool::copyRows(params);
}
