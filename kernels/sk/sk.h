#ifndef CAIRN_KERNELS_SK_SK_H_
#define CAIRN_KERNELS_SK_SK_H_

// Everything a kernel may use of the machine, under nvcc (sm_90a) and under the SIMT emulator.
// README.md of kernels/ says what the emulator can and cannot tell.

#include "kernels/sk/async_copy.h"
#include "kernels/sk/descriptor.h"
#include "kernels/sk/fence.h"
#include "kernels/sk/index.h"
#include "kernels/sk/matrix.h"
#include "kernels/sk/mbarrier.h"
#include "kernels/sk/memory.h"
#include "kernels/sk/number.h"
#include "kernels/sk/target.h"
#include "kernels/sk/thread.h"
#include "kernels/sk/warp.h"
#include "kernels/sk/wgmma.h"

#endif  // CAIRN_KERNELS_SK_SK_H_
