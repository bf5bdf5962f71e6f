#include "kernels/attention/rotate.cu"  // for the emulated device: the source that nvcc compiles
