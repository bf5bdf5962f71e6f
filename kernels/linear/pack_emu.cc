#include "kernels/linear/pack.cu"  // for the emulated device: what nvcc compiles
