#ifndef CAIRN_KERNELS_ATTENTION_SWIZZLE_TILES_H_
#define CAIRN_KERNELS_ATTENTION_SWIZZLE_TILES_H_

#include <cstdint>
#include <string>

#include "kernels/attention/rotate.h"
#include "kernels/sk/descriptor.h"

// Keys of the pool, rotated, and their values, gathered into a scratch in the order in which wgmma
// reads shared memory: a tile's K' or V of one head is then one contiguous bulk copy, whatever
// blocks it came from.
//
// The scratch is [tile][kv_head][K'|V][head_dim / 64][box]. A box is 64 tokens x 64 dims: a row of
// 128 bytes a token, in pieces of 16 bytes, piece p of token t at place p ^ t % 8 (the 128-byte
// swizzle, Swizzle::k128). So K' is the K-major operand B of Q K'^T, and the same order makes V the
// MN-major operand B of P V.

namespace cairn::kernels {

inline constexpr std::uint32_t kBoxDims = 64;
inline constexpr std::uint32_t kBoxBytes = kTileTokens * kBoxDims * 2;

// Bytes from the start of a tile's K' or V (or of 64 queries that lie alike) to a row's piece.
SK_BOTH constexpr std::uint32_t BoxOffset(std::uint32_t row, std::uint32_t piece) {
  constexpr std::uint32_t kPieces = kBoxDims / 8;
  const std::uint32_t at = row * (kBoxDims * 2) + piece % kPieces * 16;
  return piece / kPieces * kBoxBytes + sk::SwizzleAddress(at, sk::Swizzle::k128);
}
// Of a tile's K' or V.
SK_BOTH constexpr std::uint32_t OperandBytes(std::uint32_t head_dim) {
  return kTileTokens * head_dim * 2;
}

// What is wrong with the parameters, or "". head_dim is a multiple of 64, the scratch 16-byte
// aligned; V follows K in each layer of the pool.
std::string ValidateForSwizzle(const RotateParams& params);
// K' is bit for bit what RotateKeys writes, V what the pool holds; zeros behind a tile's tokens.
rt::Status SwizzleTiles(rt::Stream& stream, const RotateParams& params);
// The same by a kernel that is as simple as can be: SwizzleTiles falls back to it where RotateKeys
// falls back to RotateKeysSimply.
rt::Status SwizzleTilesSimply(rt::Stream& stream, const RotateParams& params);

}  // namespace cairn::kernels

#endif  // CAIRN_KERNELS_ATTENTION_SWIZZLE_TILES_H_
