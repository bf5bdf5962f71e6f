#include "kernels/rows/kv_rows.cu"  // for the emulated device: the source that nvcc compiles
