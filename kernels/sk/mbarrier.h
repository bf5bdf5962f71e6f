#ifndef CAIRN_KERNELS_SK_MBARRIER_H_
#define CAIRN_KERNELS_SK_MBARRIER_H_

#include "kernels/sk/memory.h"
#include "kernels/sk/target.h"

// mbarrier: 8 bytes of shared memory, 8-byte aligned, that count arrivals and bytes of bulk copies.
//
// A phase ends when `arrivals` threads have arrived and no transaction byte is pending; then the
// next phase begins with the same count. A waiter names the parity of the phase it waits for: the
// first phase is 0, the second 1, the third 0. Waiting for parity 1 before the first phase has
// ended returns at once ("the phase before the first is over"), which is how producers start.

namespace cairn::sk {

inline constexpr std::uint32_t kMbarrierBytes = 8;

// By one thread; others use it after FenceMbarrierInit and a block barrier.
SK_OP void MbarrierInit(SharedAddress mbarrier, std::uint32_t arrivals, Site site = Site::Here());
SK_OP void MbarrierArrive(SharedAddress mbarrier, Site site = Site::Here());
// Adds `bytes` to the phase's pending transactions, then arrives.
SK_OP void MbarrierArriveExpect(SharedAddress mbarrier, std::uint32_t bytes,
                                Site site = Site::Here());
// Adds `bytes` only.
SK_OP void MbarrierExpect(SharedAddress mbarrier, std::uint32_t bytes, Site site = Site::Here());
// Whether the phase of this parity has ended; may wait a while before it says no.
SK_OP bool MbarrierTryWait(SharedAddress mbarrier, std::uint32_t parity, Site site = Site::Here());
// Returns when it has. What arrivers wrote before, and what the bulk copies brought, is visible.
SK_OP void MbarrierWait(SharedAddress mbarrier, std::uint32_t parity, Site site = Site::Here());
// Ends its life, so that the bytes may be used for something else.
SK_OP void MbarrierInvalidate(SharedAddress mbarrier, Site site = Site::Here());

}  // namespace cairn::sk

#ifdef SK_TARGET_GPU
#include "kernels/sk/ptx/mbarrier.h"
#endif

#endif  // CAIRN_KERNELS_SK_MBARRIER_H_
