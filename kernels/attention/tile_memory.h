#ifndef CAIRN_KERNELS_ATTENTION_TILE_MEMORY_H_
#define CAIRN_KERNELS_ATTENTION_TILE_MEMORY_H_

#include "kernels/attention/rotate.h"
#include "kernels/attention/rotate_pair.h"
#include "kernels/sk/sk.h"

// Tiles in shared memory: 64 rows (tokens, or queries) of 2 kDim bytes, in pieces of 16 bytes. The
// piece of a row is swizzled by the row, so that the eight rows that an ldmatrix reads at one piece
// lie in different banks, and so do the pieces that eight neighbouring threads copy.

namespace cairn::kernels {

inline constexpr std::uint32_t kTileThreads = 128;  // of every block that works on tiles
inline constexpr std::uint32_t kTileWarps = kTileThreads / 32;

struct alignas(8) FloatPair {
  float x, y;
};

// Bytes from the tile's start.
template <std::uint32_t kDim>
SK_BOTH constexpr std::uint32_t PieceOffset(std::uint32_t row, std::uint32_t piece) {
  return row * (kDim * 2) + (piece ^ row % 8) * 16;
}
// Of the 4-byte word `word` of a row.
template <std::uint32_t kDim>
SK_BOTH constexpr std::uint32_t WordOffset(std::uint32_t row, std::uint32_t word) {
  return PieceOffset<kDim>(row, word / 4) + word % 4 * 4;
}

// Where one head's K of a tile lies in the pool; V is ValueOffset bytes behind it.
struct TileSource {
  const std::byte* keys[4];  // of each 16 tokens: the smallest block's
  std::uint32_t tokens;
  std::uint32_t position;
};

SK_DEVICE std::uint64_t ValueOffset(const RotateParams& keys) {
  return std::uint64_t{keys.kv_heads} * keys.block_tokens * keys.head_dim * 2;
}

SK_DEVICE TileSource FindTile(const RotateParams& keys, std::uint32_t index, std::uint32_t head) {
  const RotateTile& tile = keys.tiles[sk::Index(index)];
  const std::uint32_t token_bytes = keys.head_dim * 2;
  const std::byte* of_head =
      keys.pool + keys.layer_offset + std::uint64_t{head} * keys.block_tokens * token_bytes;
  const std::uint32_t block_shift = keys.block_tokens == 64 ? 2 : keys.block_tokens == 32 ? 1 : 0;
  TileSource source;
  source.tokens = tile.tokens;
  source.position = tile.position;
  SK_UNROLL
  for (std::uint32_t i = 0; i < 4; ++i) {
    const std::uint32_t block = i >> block_shift, token = (i - (block << block_shift)) * 16;
    const std::uint32_t slot = tile.slots[sk::Index(block)];  // of any value where it is not read
    source.keys[i] = of_head + slot * keys.block_bytes + token * token_bytes;
  }
  return source;
}

// The rows of K (offset 0) or V, zeros behind the tile's tokens. By all threads of the block.
template <std::uint32_t kDim>
SK_DEVICE void CopyPoolRows(const TileSource& source, std::uint64_t offset,
                            sk::SharedAddress target) {
  constexpr std::uint32_t kPieces = kDim / 8, kRows = kTileThreads / kPieces;
  static_assert(kRows > 0 && 16 % kRows == 0);
  const std::uint32_t first = sk::ThreadIndex() / kPieces, piece = sk::ThreadIndex() % kPieces;
  SK_UNROLL
  for (std::uint32_t begin = 0; begin < kTileTokens; begin += kRows) {
    const std::uint32_t row = begin + first;
    const std::uint32_t bytes = row < source.tokens ? 16 : 0;
    const std::uint32_t token = sk::Index(begin % 16 + first);
    const std::uint32_t at = sk::Index(piece);
    const std::byte* from = source.keys[begin / 16] + offset + token * (kDim * 2) + at * 16;
    const std::uint32_t to = PieceOffset<kDim>(sk::Index(row), piece);
    sk::CopyAsyncZeroFill<16>(target + to, from, bytes);
  }
}

// 64 contiguous rows: a tile of the scratch.
template <std::uint32_t kDim>
SK_DEVICE void CopyScratchRows(const std::uint16_t* rows, sk::SharedAddress target) {
  constexpr std::uint32_t kPieces = kDim / 8, kRows = kTileThreads / kPieces;
  const std::uint32_t first = sk::ThreadIndex() / kPieces, piece = sk::ThreadIndex() % kPieces;
  SK_UNROLL
  for (std::uint32_t begin = 0; begin < kTileTokens; begin += kRows) {
    const std::uint32_t row = begin + first;
    const std::uint16_t* from = rows + sk::Index(row * kPieces + piece) * 8;
    const std::uint32_t to = PieceOffset<kDim>(sk::Index(row), piece);
    sk::CopyAsync<16>(target + to, from);
  }
}
SK_DEVICE const std::uint16_t* ScratchTile(const RotateParams& keys, std::uint32_t tile,
                                           std::uint32_t head) {
  const std::uint64_t index = std::uint64_t{tile} * keys.kv_heads + head;
  return keys.scratch + sk::Index(index) * (kTileTokens * keys.head_dim);
}

// ---- Fragments (sk/matrix.h) of a swizzled tile -------------------------------------------------

// Of B^T = rows first to first + 15 (n), dims 16 step to + 15 (k): b[0], b[1] of the lower eight
// rows, then of the upper eight.
template <std::uint32_t kDim>
SK_DEVICE void LoadKeyFragments(sk::SharedAddress tile, std::uint32_t first, std::uint32_t step,
                                std::uint32_t (&fragments)[4]) {
  const std::uint32_t lane = sk::LaneIndex();
  const std::uint32_t row = sk::Index(first + lane / 16 * 8 + lane % 8);
  const std::uint32_t piece = sk::Index(step * 2 + lane / 8 % 2);
  sk::LoadMatrix<4>(fragments, tile + PieceOffset<kDim>(row, piece));
}
// Of B = tokens 16 step to + 15 (k), dims 8 piece to + 15 (n): b[0], b[1] of the lower eight dims,
// then of the upper eight.
template <std::uint32_t kDim>
SK_DEVICE void LoadValueFragments(sk::SharedAddress tile, std::uint32_t step, std::uint32_t piece,
                                  std::uint32_t (&fragments)[4]) {
  const std::uint32_t lane = sk::LaneIndex();
  const std::uint32_t row = sk::Index(step * 16 + lane % 16);
  const std::uint32_t at = sk::Index(piece + lane / 16);
  sk::LoadMatrixTransposed<4>(fragments, tile + PieceOffset<kDim>(row, at));
}

}  // namespace cairn::kernels

#endif  // CAIRN_KERNELS_ATTENTION_TILE_MEMORY_H_
