#include "kernels/linear/simple.cu"  // for the emulated device: the source that nvcc compiles
