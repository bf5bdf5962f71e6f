#ifndef CAIRN_KERNELS_SK_PTX_FENCE_H_
#define CAIRN_KERNELS_SK_PTX_FENCE_H_

#include "kernels/sk/fence.h"

namespace cairn::sk {

SK_DEVICE void FenceProxyAsync(Site) {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
SK_DEVICE void FenceMbarrierInit(Site) {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
SK_DEVICE void FenceBlock(Site) { __threadfence_block(); }
SK_DEVICE void FenceDevice(Site) { __threadfence(); }

}  // namespace cairn::sk

#endif  // CAIRN_KERNELS_SK_PTX_FENCE_H_
