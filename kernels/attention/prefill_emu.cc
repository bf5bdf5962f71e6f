#include "kernels/attention/prefill.cu"  // for the emulated device: the source that nvcc compiles
