#include "kernels/attention/swizzle_tiles.cu"  // for the emulated device
