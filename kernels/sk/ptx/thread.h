#ifndef CAIRN_KERNELS_SK_PTX_THREAD_H_
#define CAIRN_KERNELS_SK_PTX_THREAD_H_

#include "kernels/sk/thread.h"

namespace cairn::sk {

SK_DEVICE std::uint32_t ThreadIndex() { return threadIdx.x; }
SK_DEVICE std::uint32_t ThreadCount() { return blockDim.x; }
SK_DEVICE std::uint32_t BlockIndexX() { return blockIdx.x; }
SK_DEVICE std::uint32_t BlockIndexY() { return blockIdx.y; }
SK_DEVICE std::uint32_t BlockIndexZ() { return blockIdx.z; }
SK_DEVICE std::uint32_t BlockCountX() { return gridDim.x; }
SK_DEVICE std::uint32_t BlockCountY() { return gridDim.y; }
SK_DEVICE std::uint32_t BlockCountZ() { return gridDim.z; }

SK_DEVICE void SyncBlock(Site) { __syncthreads(); }
SK_DEVICE void SyncNamed(std::uint32_t id, std::uint32_t threads, Site) {
  asm volatile("barrier.cta.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
SK_DEVICE void ArriveNamed(std::uint32_t id, std::uint32_t threads, Site) {
  asm volatile("barrier.cta.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

template <int kRegisters>
SK_DEVICE void ReleaseRegisters(Site) {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
template <int kRegisters>
SK_DEVICE void ClaimRegisters(Site) {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

SK_DEVICE void Pause(Site) { __nanosleep(64); }

}  // namespace cairn::sk

#endif  // CAIRN_KERNELS_SK_PTX_THREAD_H_
