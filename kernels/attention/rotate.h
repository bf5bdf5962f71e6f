#ifndef CAIRN_KERNELS_ATTENTION_ROTATE_H_
#define CAIRN_KERNELS_ATTENTION_ROTATE_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "kernels/sk/rt/runtime.h"

// Keys of the pool, rotated into a scratch, tile by tile: what the plain (rotated) attention
// kernels read, and the oracle of those that rotate in registers.
//
// A tile is 64 consecutive tokens of one segment; slot l of a tile that starts at position p0 turns
// by R_p0 R_l: two rotations in fp32, in the fixed order of RotatePair, and ONE rounding at the
// end. R_l is the same in every tile, which is what lets a kernel keep it in registers.

namespace cairn::kernels {

inline constexpr std::uint32_t kTileTokens = 64;
inline constexpr std::uint32_t kTileBlocksMax = 4;  // tiles of blocks of 16, 32 or 64 tokens

// One tile of the plan. Blocks beyond those that `tokens` need are not looked at.
struct RotateTile {
  std::uint32_t slots[kTileBlocksMax];  // of the pool, in order
  std::uint32_t tokens;                 // 0 to 64; the scratch is zero behind them
  std::uint32_t position;               // of its first token, from the queries' origin
};

enum class RotaryPairs : std::uint32_t {
  kAdjacent,   // (2j, 2j + 1)
  kHalfSplit,  // (j, j + rotary_dim / 2)
};

// Of the pool, the queries and the scratch. The rounding of a rotation is to it.
enum class ElementType : std::uint32_t { kBf16, kF16 };

struct RotateParams {
  const std::byte* pool =
      nullptr;  // [slots][block_bytes], a block [layer][K|V][kv_head][token][dim]
  std::uint64_t block_bytes = 0;
  std::uint64_t layer_offset = 0;  // bytes from a block's start to the layer's K
  std::uint32_t block_tokens = 0;  // 16, 32 or 64
  std::uint32_t kv_heads = 0;
  std::uint32_t head_dim = 0;    // multiple of 16, at most 256
  std::uint32_t rotary_dim = 0;  // even, at most head_dim; the rest is copied
  RotaryPairs pairs = RotaryPairs::kHalfSplit;
  const float* table = nullptr;               // [position][rotary_dim / 2][cos, sin], built in fp64
  std::uint32_t positions = 0;                // rows of the table, at least 64
  const RotateTile* tiles = nullptr;          // [*tile_count], device memory
  const std::uint32_t* tile_count = nullptr;  // one word of device memory
  std::uint32_t tiles_max = 0;                // the grid's size: tiles beyond are not done
  std::uint16_t* scratch = nullptr;           // [tile][kv_head][64][head_dim]
  ElementType element = ElementType::kBf16;
};

// What is wrong with the parameters, or "".
std::string Validate(const RotateParams& params);
rt::Status RotateKeys(rt::Stream& stream, const RotateParams& params);
// The same bits by a kernel that is as simple as can be, and does every shape: RotateKeys falls
// back to it where rotary_dim is no multiple of 16 or something is not 16-byte aligned.
rt::Status RotateKeysSimply(rt::Stream& stream, const RotateParams& params);

}  // namespace cairn::kernels

#endif  // CAIRN_KERNELS_ATTENTION_ROTATE_H_
