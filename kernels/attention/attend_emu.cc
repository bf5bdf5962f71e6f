#include "kernels/attention/attend.cu"  // for the emulated device: the source that nvcc compiles
