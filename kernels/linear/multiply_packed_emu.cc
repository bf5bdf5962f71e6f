#include "kernels/linear/multiply_packed.cu"  // for the emulated device: what nvcc compiles
