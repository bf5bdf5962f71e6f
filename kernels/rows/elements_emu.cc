#include "kernels/rows/elements.cu"  // for the emulated device: the source that nvcc compiles
