#include "kernels/gpu/probe.cu"  // for the emulated device: the source that nvcc compiles
