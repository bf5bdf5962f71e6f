#ifndef CAIRN_KERNELS_HOST_ATTENTION_CALL_H_
#define CAIRN_KERNELS_HOST_ATTENTION_CALL_H_

#include <cstddef>
#include <cstdint>

#include "kernels/host/weights.h"

// Attention over segments whose keys are stored unrotated (design engine.md, "Attention over
// spans").

namespace cairn::host {

enum class KvDtype : std::uint8_t { kBf16, kF32 };

inline constexpr std::uint32_t kTileTokens =
    64;                                          // a key tile: 64 consecutive tokens of one segment
inline constexpr std::uint32_t kSplitTiles = 4;  // a split: 4 tiles of a query's tile list
inline constexpr std::uint32_t kGroupHeadsMax = 16;  // query heads for each KV head
inline constexpr std::uint32_t kHeadDimMax = 256;

// Which elements of a head turn together. kAdjacent: (2j, 2j+1), as GGUF stores Llama's Q and K
// rows. kHalfSplit: (j, j + rotary_dim/2), "NeoX".
enum class RotaryLayout : std::uint8_t { kAdjacent, kHalfSplit };

// What the kernels read of a RopeTable, its owner. In runs of 64 positions, `[position / 64][pair]
// [cos | sin][80]`: a run goes on into the next one's first 16 positions, so that 16 positions from
// anywhere are contiguous, and what one tile needs lies together.
struct RopeView {
  const float* values = nullptr;
  std::uint32_t rotary_dim = 0;
  std::uint32_t max_positions = 0;
  RotaryLayout layout = RotaryLayout::kAdjacent;
};

inline constexpr std::uint32_t kRopeRun = 64;
inline constexpr std::uint32_t kRopeRunFloats = kRopeRun + 16;

// cos of pair `pair` at `position`; the next 15 positions follow (zeros past max_positions), and
// the sines of the same are kRopeRunFloats further on.
CAIRN_HOST_INLINE const float* RopeCos(const RopeView& view, std::uint32_t pair,
                                       std::uint32_t position) {
  const std::size_t run =
      static_cast<std::size_t>(position / kRopeRun) * (view.rotary_dim / 2) + pair;
  return view.values + run * (2 * kRopeRunFloats) + position % kRopeRun;
}

// Bytes of a KV block: `[layer][K|V][kv_head][slot][dim]`, linear, keys unrotated. A block's base
// is 4 KiB aligned (32 bytes are enough here). Slots that hold no token are zero.
struct KvShape {
  std::uint32_t layers = 0;
  std::uint32_t kv_heads = 0;
  std::uint32_t head_dim = 0;      // multiple of 16, at most kHeadDimMax
  std::uint32_t block_tokens = 0;  // 16, 32 or 64
  KvDtype dtype = KvDtype::kBf16;
};

CAIRN_HOST_INLINE std::size_t KvElementBytes(KvDtype dtype) {
  return dtype == KvDtype::kBf16 ? 2 : 4;
}

// Byte offset of one head's slots [block_tokens][head_dim] in a block; `part` 0 = K, 1 = V.
CAIRN_HOST_INLINE std::size_t KvHeadOffset(const KvShape& shape, std::uint32_t layer,
                                           std::uint32_t part, std::uint32_t kv_head) {
  const std::size_t head = (static_cast<std::size_t>(layer) * 2 + part) * shape.kv_heads + kv_head;
  return head * shape.block_tokens * shape.head_dim * KvElementBytes(shape.dtype);
}

CAIRN_HOST_INLINE std::size_t KvBlockBytes(const KvShape& shape) {
  return KvHeadOffset(shape, shape.layers, 0, 0);  // before any rounding up to 4 KiB
}

// One complete segment that the queries attend, all of its tokens visible.
struct AttendedSegment {
  std::uint32_t position = 0;  // of its first token, counted from the queries' origin
  std::uint32_t tokens = 0;    // may be 0
  // ceil(tokens / block_tokens) block bases, in whatever mappings.
  const std::byte* const* blocks = nullptr;
};

// Consecutive rows (query tokens) of ONE request in ONE segment, at one layer. The caller has
// already stored K and V of all of these rows (and of those before them) in own_blocks, and no
// position reaches rope->max_positions.
struct AttentionCall {
  const KvShape* shape = nullptr;
  const RopeView* rope = nullptr;  // its rotary_dim <= head_dim; the rest of a head is not rotated
  std::uint32_t layer = 0;
  std::uint32_t q_heads = 0;  // multiple of kv_heads; head h reads KV head h / (q_heads / kv_heads)

  // In prompt order, from the first that the queries attend. None for a span's queries: a span
  // sees itself only.
  const AttendedSegment* before = nullptr;
  std::size_t before_count = 0;

  std::uint32_t own_position = 0;  // of the own segment's first token, from the origin
  std::uint32_t first_row = 0;     // row r is own token first_row + r and sees tokens 0 to itself
  const std::byte* const* own_blocks = nullptr;

  std::uint32_t rows = 0;
  const float* q = nullptr;  // unrotated, [rows][q_heads * head_dim], row stride q_stride floats
  std::size_t q_stride = 0;
  float* out = nullptr;  // same form
  std::size_t out_stride = 0;
};

CAIRN_HOST_INLINE std::size_t TileCount(std::size_t tokens) {
  return (tokens + kTileTokens - 1) / kTileTokens;
}

// Splits in the tile list of the call's last row (its other rows have as many or fewer).
CAIRN_HOST_INLINE std::size_t SplitCount(const AttentionCall& call) {
  std::size_t tiles = TileCount(static_cast<std::size_t>(call.first_row) + call.rows);
  for (std::size_t i = 0; i < call.before_count; ++i) tiles += TileCount(call.before[i].tokens);
  return (tiles + kSplitTiles - 1) / kSplitTiles;
}

// False where the kernels cannot serve such a model or pool (say so at start-up).
CAIRN_HOST_INLINE bool AttentionSupports(const KvShape& shape, std::uint32_t q_heads,
                                         std::uint32_t rotary_dim) {
  return shape.kv_heads > 0 && q_heads > 0 && q_heads % shape.kv_heads == 0 &&
         q_heads / shape.kv_heads <= kGroupHeadsMax && shape.head_dim > 0 &&
         shape.head_dim % 16 == 0 && shape.head_dim <= kHeadDimMax && rotary_dim % 2 == 0 &&
         rotary_dim <= shape.head_dim &&
         (shape.block_tokens == 16 || shape.block_tokens == 32 || shape.block_tokens == 64);
}

// Scratch of one thread for `attend` and `attend_splits`, 64-byte aligned, contents meaningless.
std::size_t AttentionScratchBytes(const KvShape& shape, std::uint32_t q_heads);

// Floats that `attend_splits` writes for one (split, row, query head): {max, sum, unused...,
// out[head_dim]}.
CAIRN_HOST_INLINE std::size_t PartialFloats(const KvShape& shape) { return 16 + shape.head_dim; }

// Floats for all partial results of a call: [kv_head][split][row][group head] of them.
CAIRN_HOST_INLINE std::size_t PartialsFloats(const AttentionCall& call) {
  return SplitCount(call) * call.rows * call.q_heads * PartialFloats(*call.shape);
}

}  // namespace cairn::host
#endif  // CAIRN_KERNELS_HOST_ATTENTION_CALL_H_
