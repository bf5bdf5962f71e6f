#ifndef CAIRN_KERNELS_SK_PTX_ASYNC_COPY_H_
#define CAIRN_KERNELS_SK_PTX_ASYNC_COPY_H_

#include "kernels/sk/async_copy.h"

namespace cairn::sk {

template <int kBytes>
SK_DEVICE void CopyAsync(SharedAddress target, const void* source, Site) {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16);
  if constexpr (kBytes == 16) {  // .cg: 16 bytes only, past L1
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(target),
                 "l"(__cvta_generic_to_global(source))
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(target),
                 "l"(__cvta_generic_to_global(source)), "n"(kBytes)
                 : "memory");
  }
}

template <int kBytes>
SK_DEVICE void CopyAsyncZeroFill(SharedAddress target, const void* source,
                                 std::uint32_t source_bytes, Site) {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16);
  if constexpr (kBytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(target),
                 "l"(__cvta_generic_to_global(source)), "r"(source_bytes)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(target),
                 "l"(__cvta_generic_to_global(source)), "n"(kBytes), "r"(source_bytes)
                 : "memory");
  }
}

SK_DEVICE void CommitCopies(Site) { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int kGroups>
SK_DEVICE void WaitCopies(Site) {
  asm volatile("cp.async.wait_group %0;" ::"n"(kGroups) : "memory");
}

SK_DEVICE void BulkLoad(SharedAddress target, const void* source, std::uint32_t bytes,
                        SharedAddress mbarrier, Site) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(target),
      "l"(__cvta_generic_to_global(source)), "r"(bytes), "r"(mbarrier)
      : "memory");
}
SK_DEVICE void BulkStore(void* target, SharedAddress source, std::uint32_t bytes, Site) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(
                   __cvta_generic_to_global(target)),
               "r"(source), "r"(bytes)
               : "memory");
}
SK_DEVICE void CommitBulk(Site) { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
template <int kGroups>
SK_DEVICE void WaitBulkRead(Site) {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kGroups) : "memory");
}
template <int kGroups>
SK_DEVICE void WaitBulk(Site) {
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(kGroups) : "memory");
}

}  // namespace cairn::sk

#endif  // CAIRN_KERNELS_SK_PTX_ASYNC_COPY_H_
