#include "kernels/gpu/mma_equal.cu"  // for the emulated device: the source that nvcc compiles
