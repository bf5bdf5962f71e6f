#include "kernels/rows/sample.cu"  // for the emulated device: the source that nvcc compiles
