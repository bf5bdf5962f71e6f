#include "kernels/copy/exchange.cu"  // for the emulated device: the source that nvcc compiles
