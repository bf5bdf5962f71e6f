#include "kernels/linear/simple_packed.cu"  // for the emulated device: what nvcc compiles
