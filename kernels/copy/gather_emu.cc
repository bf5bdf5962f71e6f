#include "kernels/copy/gather.cu"  // for the emulated device: the source that nvcc compiles
