#ifndef CAIRN_KERNELS_SK_WGMMA_H_
#define CAIRN_KERNELS_SK_WGMMA_H_

#include "kernels/sk/descriptor.h"
#include "kernels/sk/target.h"

// wgmma: D (64 x kN, fp32) = A (64 x 16) * B (16 x kN) + D, by the 128 threads of a warpgroup.
//
//   WgmmaFence();                      // registers written so far are ordered before what follows
//   Wgmma<kN, ...>(d, a, b, true);     // asynchronous: reads a, b and d, writes d, later
//   WgmmaCommit();
//   WgmmaWait<0>();                    // until then neither d nor a register operand is touched
//
// Warp w of the group owns rows 16w..16w+15: d[4j..4j+3] is the C fragment (matrix.h) of columns
// 8j..8j+7, register operands A are its A fragment.
//
// Emulator: each warp runs its part on its own, at a random time between issue and wait. d is
// poisoned at the issue and filled at the wait; a change of d or of a register operand in between,
// a missing fence, a block that ends with products under way, and warps of a group that disagree
// are errors. Stricter than PTX: a fence is wanted after every wait, and register operands must
// live until the wait. Sums: products in pairs (k, k+8), pairs in a tree, the sum onto d.
// Not the order of mma.sync, on purpose: hardware promises neither.

namespace cairn::sk {

enum class InputType : std::uint8_t { kBf16, kF16 };
enum class Major : std::uint8_t { kK = 0, kMn = 1 };

// N that the GPU build knows: 8, 16, 32, 64, 96, 128, 192, 256. `accumulate` false: D = A * B.
template <int kN, InputType kType, Major kMajorA, Major kMajorB>
SK_DEVICE void Wgmma(float (&d)[kN / 2], MatrixDescriptor a, MatrixDescriptor b, bool accumulate,
                     Site site = Site::Here());
// A in registers.
template <int kN, InputType kType, Major kMajorB>
SK_DEVICE void Wgmma(float (&d)[kN / 2], const std::uint32_t (&a)[4], MatrixDescriptor b,
                     bool accumulate, Site site = Site::Here());

SK_OP void WgmmaFence(Site site = Site::Here());
SK_OP void WgmmaCommit(Site site = Site::Here());
// Waits until at most kGroups of the newest groups are under way.
template <int kGroups>
SK_DEVICE void WgmmaWait(Site site = Site::Here());

}  // namespace cairn::sk

#ifdef SK_TARGET_GPU
#include "kernels/sk/ptx/wgmma.h"
#else
namespace cairn::sk {
namespace emu {
struct WgmmaCall {
  float* d;
  const std::uint32_t* a_registers;  // null: A in shared memory
  MatrixDescriptor a;
  MatrixDescriptor b;
  std::uint32_t n;
  InputType type;
  Major major_a;
  Major major_b;
  bool accumulate;
};
void IssueWgmma(const WgmmaCall& call, Site site);
void WaitWgmma(std::uint32_t groups, Site site);
}  // namespace emu
template <int kN, InputType kType, Major kMajorA, Major kMajorB>
inline void Wgmma(float (&d)[kN / 2], MatrixDescriptor a, MatrixDescriptor b, bool accumulate,
                  Site site) {
  static_assert(kN >= 8 && kN <= 256 && kN % 8 == 0);
  emu::IssueWgmma({d, nullptr, a, b, kN, kType, kMajorA, kMajorB, accumulate}, site);
}
template <int kN, InputType kType, Major kMajorB>
inline void Wgmma(float (&d)[kN / 2], const std::uint32_t (&a)[4], MatrixDescriptor b,
                  bool accumulate, Site site) {
  static_assert(kN >= 8 && kN <= 256 && kN % 8 == 0);
  emu::IssueWgmma({d, a, {}, b, kN, kType, Major::kK, kMajorB, accumulate}, site);
}
template <int kGroups>
inline void WgmmaWait(Site site) {
  static_assert(kGroups >= 0 && kGroups < 8);
  emu::WaitWgmma(kGroups, site);
}
}  // namespace cairn::sk
#endif

#endif  // CAIRN_KERNELS_SK_WGMMA_H_
