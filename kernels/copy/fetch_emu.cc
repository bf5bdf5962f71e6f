#include "kernels/copy/fetch.cu"  // for the emulated device: the source that nvcc compiles
