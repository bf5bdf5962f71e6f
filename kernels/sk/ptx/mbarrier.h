#ifndef CAIRN_KERNELS_SK_PTX_MBARRIER_H_
#define CAIRN_KERNELS_SK_PTX_MBARRIER_H_

#include "kernels/sk/mbarrier.h"

namespace cairn::sk {

SK_DEVICE void MbarrierInit(SharedAddress mbarrier, std::uint32_t arrivals, Site) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(mbarrier), "r"(arrivals) : "memory");
}
SK_DEVICE void MbarrierArrive(SharedAddress mbarrier, Site) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(mbarrier) : "memory");
}
SK_DEVICE void MbarrierArriveExpect(SharedAddress mbarrier, std::uint32_t bytes, Site) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(mbarrier), "r"(bytes)
               : "memory");
}
SK_DEVICE void MbarrierExpect(SharedAddress mbarrier, std::uint32_t bytes, Site) {
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(mbarrier),
               "r"(bytes)
               : "memory");
}
SK_DEVICE bool MbarrierTryWait(SharedAddress mbarrier, std::uint32_t parity, Site) {
  std::uint32_t is_over;
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
      "selp.u32 %0, 1, 0, p;\n"
      "}\n"
      : "=r"(is_over)
      : "r"(mbarrier), "r"(parity)
      : "memory");
  return is_over != 0;
}
SK_DEVICE void MbarrierWait(SharedAddress mbarrier, std::uint32_t parity, Site site) {
  while (!MbarrierTryWait(mbarrier, parity, site)) {
  }
}
SK_DEVICE void MbarrierInvalidate(SharedAddress mbarrier, Site) {
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(mbarrier) : "memory");
}

}  // namespace cairn::sk

#endif  // CAIRN_KERNELS_SK_PTX_MBARRIER_H_
