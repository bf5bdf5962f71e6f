#include "kernels/attention/rotate.h"

#include "kernels/attention/rotate_pair.h"
#include "kernels/sk/sk.h"

namespace cairn::kernels {
namespace {

constexpr std::uint32_t kThreads = 128;

SK_DEVICE Turn TurnAt(const RotateParams& params, std::uint32_t position, std::uint32_t pair) {
  const float* at = params.table + (std::uint64_t{position} * (params.rotary_dim / 2) + pair) * 2;
  return {at[0], at[1]};
}

// The simple kernel: one block a (tile, KV head), one thread a pair or element at a time, nothing
// kept. Bytes: each key once in, once out, and 8 bytes of table a pair, which stay in L2.
SK_KERNEL void RotateTiles(RotateParams params) {
  if (sk::BlockIndexX() >= *params.tile_count) return;
  const RotateTile& tile = params.tiles[sk::BlockIndexX()];
  const std::uint32_t head = sk::BlockIndexY(), dim = params.head_dim;
  const std::uint32_t pairs = params.rotary_dim / 2, rest = dim - params.rotary_dim;
  std::uint16_t* out =
      params.scratch +
      (std::uint64_t{sk::BlockIndexX()} * params.kv_heads + head) * kTileTokens * dim;
  const std::uint64_t head_bytes = std::uint64_t{params.block_tokens} * dim * 2;

  for (std::uint32_t i = sk::ThreadIndex(); i < kTileTokens * (pairs + rest); i += kThreads) {
    const std::uint32_t token = i / (pairs + rest), unit = i % (pairs + rest);
    const bool is_pair = unit < pairs;
    const bool is_adjacent = params.pairs == RotaryPairs::kAdjacent;
    const std::uint32_t x_at = !is_pair ? pairs + unit : is_adjacent ? 2 * unit : unit;
    const std::uint32_t y_at = is_adjacent ? x_at + 1 : x_at + pairs;
    std::uint16_t x_bits = 0, y_bits = 0;
    if (token < tile.tokens) {
      const std::uint32_t slot = tile.slots[token / params.block_tokens];
      const auto* key = reinterpret_cast<const std::uint16_t*>(
          params.pool + slot * params.block_bytes + params.layer_offset + head * head_bytes +
          std::uint64_t{token % params.block_tokens} * dim * 2);
      x_bits = key[x_at];
      if (is_pair) {
        y_bits = key[y_at];
        float x = sk::LowBf16(x_bits), y = sk::LowBf16(y_bits);
        RotatePair(x, y, TurnAt(params, token, unit));
        RotatePair(x, y, TurnAt(params, tile.position, unit));
        const std::uint32_t packed = sk::PackBf16(x, y);
        x_bits = static_cast<std::uint16_t>(packed);
        y_bits = static_cast<std::uint16_t>(packed >> 16);
      }
    }
    out[token * dim + x_at] = x_bits;
    if (is_pair) out[token * dim + y_at] = y_bits;
  }
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
  if (params.pool == nullptr || params.table == nullptr || params.tiles == nullptr ||
      params.tile_count == nullptr || params.scratch == nullptr) {
    return "rotate: a pointer is null";
  }
  return "";
}

rt::Status RotateKeys(rt::Stream& stream, const RotateParams& params) {
  if (std::string wrong = Validate(params); !wrong.empty()) return rt::Status(wrong);
  return rt::Launch(
      stream, {.blocks_x = params.tiles_max, .blocks_y = params.kv_heads, .threads = kThreads},
      RotateTiles, params);
}

}  // namespace cairn::kernels
