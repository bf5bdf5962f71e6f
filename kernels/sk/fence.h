#ifndef CAIRN_KERNELS_SK_FENCE_H_
#define CAIRN_KERNELS_SK_FENCE_H_

#include "kernels/sk/target.h"

// Fences. wgmma's own are in wgmma.h.
//
// Proxies: plain loads and stores, ldmatrix, stmatrix and cp.async (non-bulk) are generic; bulk
// copies and wgmma's operands in shared memory are async. What one wrote the other sees only after
// FenceProxyAsync (bulk loads end with an mbarrier wait, which is one).

namespace cairn::sk {

// fence.proxy.async.shared::cta: this thread's generic writes to shared memory so far, and those it
// has seen by synchronisation, come before async accesses that are ordered after the fence. Not
// those to global memory: a fence for both costs a MEMBAR.ALL.GPU (nvcc 13's SASS), and what a
// kernel wrote is there for the next one's bulk loads without.
// Emulator: async accesses read a second copy of shared memory, which this call brings up to date
// with all generic writes done so far; under random schedules a fence that comes too early, or in
// one thread only, leaves stale bytes there. Global memory has no second copy.
SK_OP void FenceProxyAsync(Site site = Site::Here());

// fence.mbarrier_init: makes mbarriers initialised so far usable by bulk copies. Other threads need
// a barrier after it as well.
SK_OP void FenceMbarrierInit(Site site = Site::Here());

// membar.cta and membar.gl. The emulator runs in program order and has nothing to do here: ordering
// among blocks is what only a GPU can show.
SK_OP void FenceBlock(Site site = Site::Here());
SK_OP void FenceDevice(Site site = Site::Here());

}  // namespace cairn::sk

#ifdef SK_TARGET_GPU
#include "kernels/sk/ptx/fence.h"
#endif

#endif  // CAIRN_KERNELS_SK_FENCE_H_
