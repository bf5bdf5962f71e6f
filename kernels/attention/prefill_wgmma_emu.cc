#include "kernels/attention/prefill_wgmma.cu"  // for the emulated device
