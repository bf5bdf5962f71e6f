#include "kernels/attention/decode.cu"  // for the emulated device: the source that nvcc compiles
