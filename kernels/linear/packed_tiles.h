#ifndef CAIRN_KERNELS_LINEAR_PACKED_TILES_H_
#define CAIRN_KERNELS_LINEAR_PACKED_TILES_H_

#include "kernels/linear/splits.h"
#include "kernels/sk/descriptor.h"

// W packed for wgmma: tiles of 128 rows (columns of y) x 64 of k, one after the other along k, then
// along n; what lies beyond n or k is zero. In a tile a row is 128 bytes, and chunks of 16 bytes
// (8 values of k) lie where the k128 swizzle of a tile at a multiple of 1024 bytes has them. So a
// tile goes into shared memory by one copy, and its two halves are operands of m64nNk16.

namespace cairn::kernels {

inline constexpr std::uint32_t kPackedRowBytes = kLinearStepDepth * 2;
inline constexpr std::uint32_t kPackedTileBytes = kLinearTileColumns * kPackedRowBytes;
static_assert(kPackedRowBytes == sk::SwizzleChunks(sk::Swizzle::k128) * 16);

SK_BOTH constexpr std::uint32_t PackedTilesAcross(std::uint32_t n) {
  return (n + kLinearTileColumns - 1) / kLinearTileColumns;
}
SK_BOTH constexpr std::uint32_t PackedTilesDeep(std::uint32_t k) {
  return (k + kLinearStepDepth - 1) / kLinearStepDepth;
}

// The byte of a tile at which a row's chunk begins. Tiles of x in shared memory have the same form.
SK_BOTH constexpr std::uint32_t PackedByte(std::uint32_t row, std::uint32_t chunk) {
  return sk::SwizzleAddress(row * kPackedRowBytes + chunk * 16, sk::Swizzle::k128);
}

}  // namespace cairn::kernels

#endif  // CAIRN_KERNELS_LINEAR_PACKED_TILES_H_
