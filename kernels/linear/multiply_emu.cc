#include "kernels/linear/multiply.cu"  // for the emulated device: the source that nvcc compiles
