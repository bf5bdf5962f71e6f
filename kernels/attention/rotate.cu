#include "kernels/attention/rotate.h"

#include "kernels/attention/rotate_tile.h"

namespace cairn::kernels {
namespace {

// Where a tile's keys of the block's head go.
SK_DEVICE std::uint16_t* ScratchOfBlock(const RotateParams& params) {
  const std::uint64_t index =
      std::uint64_t{sk::BlockIndexX()} * params.kv_heads + sk::BlockIndexY();
  return params.scratch + sk::Index(index) * (kTileTokens * params.head_dim);
}

// The simple kernel: one block a (tile, KV head). Bytes: each key once in, once out, and 8 bytes of
// table a pair, which stay in L2.
template <class Element>
SK_KERNEL void RotateTiles(RotateParams params) {
  if (sk::BlockIndexX() >= *params.tile_count) return;
  std::uint16_t* out = ScratchOfBlock(params);
  const std::uint32_t dim = params.head_dim;
  RotateTilePairs<Element>(params, [&](std::uint32_t token, std::uint32_t at, std::uint16_t bits) {
    out[sk::Index(token * dim + at)] = bits;
  });
}

// The fast kernel.
template <class Element>
SK_KERNEL void RotatePieces(RotateParams params) {
  if (sk::BlockIndexX() >= *params.tile_count) return;
  std::uint16_t* out = ScratchOfBlock(params);
  const std::uint32_t pieces = params.head_dim / 8;
  RotateTilePieces<Element>(params,
                            [&](std::uint32_t token, std::uint32_t piece, const sk::Words4& words) {
                              const std::uint32_t to = sk::Index(token * pieces + piece);
                              sk::Store16(out + to * 8, words);
                            });
}

}  // namespace

std::string Validate(const RotateParams& params) {
  const auto wrong = [](const char* field, std::uint64_t value, const char* wanted) {
    return std::string("rotate: ") + field + " is " + std::to_string(value) + ", not " + wanted;
  };
  if (params.block_tokens != 16 && params.block_tokens != 32 && params.block_tokens != 64) {
    return wrong("block_tokens", params.block_tokens, "16, 32 or 64");
  }
  if (params.head_dim == 0 || params.head_dim % 16 != 0 || params.head_dim > 256) {
    return wrong("head_dim", params.head_dim, "a multiple of 16 up to 256");
  }
  if (params.rotary_dim % 2 != 0 || params.rotary_dim > params.head_dim) {
    return wrong("rotary_dim", params.rotary_dim, "even and at most head_dim");
  }
  if (params.kv_heads == 0 || params.kv_heads > 65535) {
    return wrong("kv_heads", params.kv_heads, "1 to 65535");
  }
  if (params.positions < kTileTokens) return wrong("positions", params.positions, "64 or more");
  if (params.tiles_max == 0) return wrong("tiles_max", 0, "1 or more");
  const std::uint64_t layer_bytes =
      std::uint64_t{params.kv_heads} * params.block_tokens * params.head_dim * 2;
  if (params.layer_offset + layer_bytes > params.block_bytes) {
    return wrong("layer_offset", params.layer_offset, "inside a block of block_bytes");
  }
  if (reinterpret_cast<std::uintptr_t>(params.table) % 8 != 0) {
    return "rotate: the table is not 8-byte aligned";
  }
  if (params.pool == nullptr || params.table == nullptr || params.tiles == nullptr ||
      params.tile_count == nullptr || params.scratch == nullptr) {
    return "rotate: a pointer is null";
  }
  return "";
}

rt::Status RotateKeys(rt::Stream& stream, const RotateParams& params) {
  if (std::string wrong = Validate(params); !wrong.empty()) return rt::Status(wrong);
  if (!IsInPieces(params)) return RotateKeysSimply(stream, params);
  const bool is_f16 = params.element == ElementType::kF16;
  return LaunchOverTiles(stream, params, is_f16 ? RotatePieces<F16> : RotatePieces<Bf16>);
}

rt::Status RotateKeysSimply(rt::Stream& stream, const RotateParams& params) {
  if (std::string wrong = Validate(params); !wrong.empty()) return rt::Status(wrong);
  const bool is_f16 = params.element == ElementType::kF16;
  return LaunchOverTiles(stream, params, is_f16 ? RotateTiles<F16> : RotateTiles<Bf16>);
}

}  // namespace cairn::kernels
