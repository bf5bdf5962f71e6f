#include "kernels/rows/embed.cu"  // for the emulated device: the source that nvcc compiles
