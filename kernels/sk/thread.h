#ifndef CAIRN_KERNELS_SK_THREAD_H_
#define CAIRN_KERNELS_SK_THREAD_H_

#include "kernels/sk/target.h"

// Who am I, barriers of a block, and the register budget of a warpgroup.

namespace cairn::sk {

// Blocks are one-dimensional, grids have up to three dimensions.
SK_OP std::uint32_t ThreadIndex();  // in the block
SK_OP std::uint32_t ThreadCount();  // of the block
SK_OP std::uint32_t BlockIndexX();  // in the grid
SK_OP std::uint32_t BlockIndexY();
SK_OP std::uint32_t BlockIndexZ();
SK_OP std::uint32_t BlockCountX();
SK_OP std::uint32_t BlockCountY();
SK_OP std::uint32_t BlockCountZ();

SK_DEVICE std::uint32_t LaneIndex() { return ThreadIndex() % kWarpLanes; }
SK_DEVICE std::uint32_t WarpIndex() { return ThreadIndex() / kWarpLanes; }

// Barrier 0, all threads of the block (bar.sync 0). Orders generic accesses to shared and global
// memory among them; does not order the async proxy. Emulator: a thread that has left the kernel
// never arrives (the hardware would not wait for it), so that a skipped barrier cannot hide.
SK_OP void SyncBlock(Site site = Site::Here());

// Barrier `id` (1 to 15) of `threads` threads, a multiple of 32 that all participants agree on;
// `threads` counts those that only arrive.
SK_OP void SyncNamed(std::uint32_t id, std::uint32_t threads, Site site = Site::Here());
SK_OP void ArriveNamed(std::uint32_t id, std::uint32_t threads, Site site = Site::Here());

// setmaxnreg by all warps of a warpgroup: kRegisters a multiple of 8 from 24 to 256. Release gives
// registers back to the block's pool; Claim waits until the pool has them. The emulator checks
// both against the launch's registers_per_thread.
template <int kRegisters>
SK_DEVICE void ReleaseRegisters(Site site = Site::Here());
template <int kRegisters>
SK_DEVICE void ClaimRegisters(Site site = Site::Here());

// Gives way in a loop that polls memory (nanosleep). Blocks must not wait for other blocks.
SK_OP void Pause(Site site = Site::Here());

}  // namespace cairn::sk

#ifdef SK_TARGET_GPU
#include "kernels/sk/ptx/thread.h"
#else
namespace cairn::sk {
namespace emu {
void ChangeRegisters(int registers, bool is_claim, Site site);
}
template <int kRegisters>
inline void ReleaseRegisters(Site site) {
  emu::ChangeRegisters(kRegisters, /*is_claim=*/false, site);
}
template <int kRegisters>
inline void ClaimRegisters(Site site) {
  emu::ChangeRegisters(kRegisters, /*is_claim=*/true, site);
}
}  // namespace cairn::sk
#endif

#endif  // CAIRN_KERNELS_SK_THREAD_H_
