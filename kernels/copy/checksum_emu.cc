#include "kernels/copy/checksum.cu"  // for the emulated device: the source that nvcc compiles
