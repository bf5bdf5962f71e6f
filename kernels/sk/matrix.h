#ifndef CAIRN_KERNELS_SK_MATRIX_H_
#define CAIRN_KERNELS_SK_MATRIX_H_

#include "kernels/sk/memory.h"
#include "kernels/sk/target.h"

// Warp-wide matrix loads, stores and multiplications. All 32 lanes take part.
//
// Fragments, with g = lane / 4 and t = lane % 4; a register holds two 16-bit values, the lower
// index in the lower half:
//   A 16x16  a[0]: row g, columns 2t, 2t+1    a[1]: row g+8    a[2]: row g, columns 2t+8, 2t+9
//            a[3]: row g+8, columns 2t+8, 2t+9
//   B 16x8   b[0]: rows 2t, 2t+1 of column g   b[1]: rows 2t+8, 2t+9 of column g
//   C 16x8   c[0], c[1]: row g, columns 2t, 2t+1   c[2], c[3]: row g+8

namespace cairn::sk {

// ldmatrix of 1, 2 or 4 matrices of 8x8 16-bit values: lane 8j + i names the 16-byte aligned
// address of row i of matrix j (with kCount < 4 the addresses of higher lanes are not used). Lane l
// gets columns 2(l%4) and 2(l%4)+1 of row l/4; transposed: rows 2(l%4), 2(l%4)+1 of column l/4.
template <int kCount>
SK_DEVICE void LoadMatrix(std::uint32_t (&registers)[kCount], SharedAddress row,
                          Site site = Site::Here());
template <int kCount>
SK_DEVICE void LoadMatrixTransposed(std::uint32_t (&registers)[kCount], SharedAddress row,
                                    Site site = Site::Here());
// stmatrix: the reverse. Generic proxy.
template <int kCount>
SK_DEVICE void StoreMatrix(SharedAddress row, const std::uint32_t (&registers)[kCount],
                           Site site = Site::Here());

// mma.sync.m16n8k16, fp32 accumulators: c += a * b.
// Emulator: exact products, summed one by one in ascending k onto c. A GPU's order is not
// specified; wgmma's is another one here, on purpose (wgmma.h).
SK_OP void MmaBf16(float (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                   Site site = Site::Here());
SK_OP void MmaF16(float (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                  Site site = Site::Here());

}  // namespace cairn::sk

#ifdef SK_TARGET_GPU
#include "kernels/sk/ptx/matrix.h"
#else
namespace cairn::sk {
namespace emu {
void LoadMatrices(std::uint32_t* registers, int count, bool is_transposed, SharedAddress row,
                  Site site);
void StoreMatrices(SharedAddress row, const std::uint32_t* registers, int count, Site site);
}  // namespace emu
template <int kCount>
inline void LoadMatrix(std::uint32_t (&registers)[kCount], SharedAddress row, Site site) {
  static_assert(kCount == 1 || kCount == 2 || kCount == 4);
  emu::LoadMatrices(registers, kCount, /*is_transposed=*/false, row, site);
}
template <int kCount>
inline void LoadMatrixTransposed(std::uint32_t (&registers)[kCount], SharedAddress row, Site site) {
  static_assert(kCount == 1 || kCount == 2 || kCount == 4);
  emu::LoadMatrices(registers, kCount, /*is_transposed=*/true, row, site);
}
template <int kCount>
inline void StoreMatrix(SharedAddress row, const std::uint32_t (&registers)[kCount], Site site) {
  static_assert(kCount == 1 || kCount == 2 || kCount == 4);
  emu::StoreMatrices(row, registers, kCount, site);
}
}  // namespace cairn::sk
#endif

#endif  // CAIRN_KERNELS_SK_MATRIX_H_
