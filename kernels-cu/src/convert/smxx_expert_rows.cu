// Entry points of the conversion to Marlin rows, looked up by name. Blocks of kConvertThreads: a block for each expert and
// projection for the counts, expertTiles for each expert for the rows.
#include "convert/smxx_expert_rows.cuh"

extern "C" __global__ void __launch_bounds__(pool::kConvertThreads)
    smxx_scale_counts(const __grid_constant__ pool::ConvertParams params) {
  pool::countScales(params);
}

extern "C" __global__ void __launch_bounds__(pool::kConvertThreads)
    smxx_expert_rows(const __grid_constant__ pool::ConvertParams params) {
  pool::convertTile(params);
}
