#ifndef CAIRN_KERNELS_SK_ASYNC_COPY_H_
#define CAIRN_KERNELS_SK_ASYNC_COPY_H_

#include "kernels/sk/memory.h"
#include "kernels/sk/target.h"

// Copies that run while the thread goes on.
//
// Emulator: a destination is poisoned (0xff) when the copy is issued and filled late: at the wait
// that needs it, in random order; its source is read then, too.

namespace cairn::sk {

// ---- cp.async: kBytes (4, 8 or 16) from global to shared memory, generic proxy. Groups are the
// thread's own; another thread sees the bytes after the issuer's wait and a barrier.
template <int kBytes>
SK_DEVICE void CopyAsync(SharedAddress target, const void* source, Site site = Site::Here());
// Reads only the first `source_bytes` (0 to kBytes) and fills the rest with zeros; with 0 the
// source is not touched.
template <int kBytes>
SK_DEVICE void CopyAsyncZeroFill(SharedAddress target, const void* source,
                                 std::uint32_t source_bytes, Site site = Site::Here());
SK_OP void CommitCopies(Site site = Site::Here());
// Waits until at most kGroups of the thread's newest groups are under way.
template <int kGroups>
SK_DEVICE void WaitCopies(Site site = Site::Here());

// ---- Bulk copies (cp.async.bulk), async proxy. Issued by one thread; addresses and `bytes` are
// multiples of 16.

// Global to shared; when done, `bytes` are taken off the mbarrier's pending transactions.
SK_OP void BulkLoad(SharedAddress target, const void* source, std::uint32_t bytes,
                    SharedAddress mbarrier, Site site = Site::Here());

// Shared to global, in the thread's current bulk group. Generic writes to the source need
// FenceProxyAsync (by their writers, then a barrier).
SK_OP void BulkStore(void* target, SharedAddress source, std::uint32_t bytes,
                     Site site = Site::Here());
SK_OP void CommitBulk(Site site = Site::Here());
// Waits until all but the newest kGroups groups have read their sources, which may then be reused.
// A block must not end before that.
template <int kGroups>
SK_DEVICE void WaitBulkRead(Site site = Site::Here());
// ... have been written, and are visible to this thread.
template <int kGroups>
SK_DEVICE void WaitBulk(Site site = Site::Here());

}  // namespace cairn::sk

#ifdef SK_TARGET_GPU
#include "kernels/sk/ptx/async_copy.h"
#else
namespace cairn::sk {
namespace emu {
void IssueCopy(SharedAddress target, const void* source, std::uint32_t bytes,
               std::uint32_t source_bytes, Site site);
void WaitCopies(std::uint32_t groups, Site site);
void WaitBulk(std::uint32_t groups, bool read_only, Site site);
}  // namespace emu
template <int kBytes>
inline void CopyAsync(SharedAddress target, const void* source, Site site) {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16);
  emu::IssueCopy(target, source, kBytes, kBytes, site);
}
template <int kBytes>
inline void CopyAsyncZeroFill(SharedAddress target, const void* source, std::uint32_t source_bytes,
                              Site site) {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16);
  emu::IssueCopy(target, source, kBytes, source_bytes, site);
}
template <int kGroups>
inline void WaitCopies(Site site) {
  static_assert(kGroups >= 0 && kGroups < 8);
  emu::WaitCopies(kGroups, site);
}
template <int kGroups>
inline void WaitBulkRead(Site site) {
  static_assert(kGroups >= 0 && kGroups < 8);
  emu::WaitBulk(kGroups, /*read_only=*/true, site);
}
template <int kGroups>
inline void WaitBulk(Site site) {
  static_assert(kGroups >= 0 && kGroups < 8);
  emu::WaitBulk(kGroups, /*read_only=*/false, site);
}
}  // namespace cairn::sk
#endif

#endif  // CAIRN_KERNELS_SK_ASYNC_COPY_H_
