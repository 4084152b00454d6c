// All kernels in one translation unit, so that nvcc writes one fat binary.
#include "plan/smxx_lru_plan.cu"
#include "rows/smxx_row_copy.cu"
