#include "kernels/rows/norm.cu"  // for the emulated device: the source that nvcc compiles
