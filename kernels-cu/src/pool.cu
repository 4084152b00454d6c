// All kernels in one translation unit, so that nvcc writes one fat binary.
#include "moe/smxx_moe_decode.cu"
#include "moe/smxx_moe_general.cu"
#include "plan/smxx_lru_plan.cu"
#include "route/smxx_partition.cu"
#include "route/smxx_route_replay.cu"
#include "rows/smxx_row_copy.cu"
