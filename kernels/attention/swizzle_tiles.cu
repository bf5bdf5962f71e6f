#include "kernels/attention/swizzle_tiles.h"

#include "kernels/attention/rotate_tile.h"

namespace cairn::kernels {
namespace {

// The two halves of the scratch that a block fills.
struct BlockScratch {
  std::byte* keys;
  std::byte* values;
};
SK_DEVICE BlockScratch FindScratch(const RotateParams& params) {
  const std::uint64_t index =
      std::uint64_t{sk::BlockIndexX()} * params.kv_heads + sk::BlockIndexY();
  const std::uint32_t bytes = OperandBytes(params.head_dim);
  std::byte* keys = reinterpret_cast<std::byte*>(params.scratch) + sk::Index(index) * 2 * bytes;
  return {keys, keys + bytes};
}

// The values of the block's tile and head as they are in the pool, a Value (2 or 16 bytes) at a
// time. put(token, at, value) for each.
template <class Value, class Put>
SK_DEVICE void GatherValues(const RotateParams& params, Put put) {
  const RotateTile& tile = params.tiles[sk::Index(sk::BlockIndexX())];
  const std::uint32_t row_values = params.head_dim * 2 / sizeof(Value);
  const std::uint32_t plane = params.kv_heads + sk::BlockIndexY();
  for (std::uint32_t i = sk::ThreadIndex(); i < kTileTokens * row_values; i += kRotateThreads) {
    const std::uint32_t token = i / row_values, at = i % row_values;
    Value value{};
    if (token < tile.tokens) {
      const std::uint32_t slot = tile.slots[sk::Index(token / params.block_tokens)];
      const std::uint32_t row = plane * params.block_tokens + token % params.block_tokens;
      const std::byte* values = params.pool + slot * params.block_bytes + params.layer_offset +
                                std::uint64_t{sk::Index(row)} * params.head_dim * 2;
      value = reinterpret_cast<const Value*>(values)[sk::Index(at)];
    }
    put(token, at, value);
  }
}

// The simple kernel: one block a (tile, KV head), an element at a time.
template <class Element>
SK_KERNEL void SwizzleElements(RotateParams params) {
  if (sk::BlockIndexX() >= *params.tile_count) return;
  const BlockScratch to = FindScratch(params);
  const auto put = [](std::byte* half, std::uint32_t token, std::uint32_t dim, std::uint16_t bits) {
    const std::uint32_t at = sk::Index(BoxOffset(token, dim / 8) / 2 + dim % 8);
    reinterpret_cast<std::uint16_t*>(half)[at] = bits;
  };
  RotateTilePairs<Element>(params, [&](std::uint32_t token, std::uint32_t dim, std::uint16_t bits) {
    put(to.keys, token, dim, bits);
  });
  GatherValues<std::uint16_t>(params,
                              [&](std::uint32_t token, std::uint32_t dim, std::uint16_t bits) {
                                put(to.values, token, dim, bits);
                              });
}

// The fast kernel: 16 bytes at a time. Eight neighbouring threads read, and write, 128 bytes.
template <class Element>
SK_KERNEL void SwizzlePieces(RotateParams params) {
  if (sk::BlockIndexX() >= *params.tile_count) return;
  const BlockScratch to = FindScratch(params);
  const auto put = [](std::byte* half, std::uint32_t token, std::uint32_t piece,
                      const sk::Words4& words) {
    const std::uint32_t at = sk::Index(BoxOffset(token, piece) / 16);
    sk::Store16(half + at * 16, words);
  };
  RotateTilePieces<Element>(params,
                            [&](std::uint32_t token, std::uint32_t piece, const sk::Words4& words) {
                              put(to.keys, token, piece, words);
                            });
  GatherValues<sk::Words4>(params,
                           [&](std::uint32_t token, std::uint32_t piece, const sk::Words4& words) {
                             put(to.values, token, piece, words);
                           });
}

}  // namespace

std::string ValidateForSwizzle(const RotateParams& params) {
  if (std::string wrong = Validate(params); !wrong.empty()) return wrong;
  const auto wrong = [](const char* field, std::uint64_t value, const char* wanted) {
    return std::string("swizzle: ") + field + " is " + std::to_string(value) + ", not " + wanted;
  };
  if (params.head_dim % kBoxDims != 0) {
    return wrong("head_dim", params.head_dim, "a multiple of 64");
  }
  const std::uint64_t layer_bytes =
      std::uint64_t{2} * params.kv_heads * params.block_tokens * params.head_dim * 2;
  if (params.layer_offset + layer_bytes > params.block_bytes) {
    return wrong("layer_offset", params.layer_offset, "such that K and V lie inside a block");
  }
  if (reinterpret_cast<std::uintptr_t>(params.scratch) % 16 != 0) {
    return "swizzle: the scratch is not 16-byte aligned";
  }
  return "";
}

rt::Status SwizzleTiles(rt::Stream& stream, const RotateParams& params) {
  if (std::string wrong = ValidateForSwizzle(params); !wrong.empty()) return rt::Status(wrong);
  if (!IsInPieces(params)) return SwizzleTilesSimply(stream, params);
  const bool is_f16 = params.element == ElementType::kF16;
  return LaunchOverTiles(stream, params, is_f16 ? SwizzlePieces<F16> : SwizzlePieces<Bf16>);
}

rt::Status SwizzleTilesSimply(rt::Stream& stream, const RotateParams& params) {
  if (std::string wrong = ValidateForSwizzle(params); !wrong.empty()) return rt::Status(wrong);
  const bool is_f16 = params.element == ElementType::kF16;
  return LaunchOverTiles(stream, params, is_f16 ? SwizzleElements<F16> : SwizzleElements<Bf16>);
}

}  // namespace cairn::kernels
