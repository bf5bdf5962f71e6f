#include "kernels/attention/rotate.h"

#include "kernels/attention/element.h"
#include "kernels/attention/rotate_pair.h"
#include "kernels/sk/sk.h"

namespace cairn::kernels {
namespace {

constexpr std::uint32_t kThreads = 128;

SK_DEVICE Turn TurnAt(const RotateParams& params, std::uint32_t position, std::uint32_t pair) {
  const std::uint64_t at = std::uint64_t{position} * (params.rotary_dim / 2) + pair;
  return reinterpret_cast<const Turn*>(params.table)[sk::Index(at)];
}

// The simple kernel: one block a (tile, KV head), one thread a pair or element at a time, nothing
// kept. Bytes: each key once in, once out, and 8 bytes of table a pair, which stay in L2.
template <class Element>
SK_KERNEL void RotateTiles(RotateParams params) {
  if (sk::BlockIndexX() >= *params.tile_count) return;
  const RotateTile& tile = params.tiles[sk::Index(sk::BlockIndexX())];
  const std::uint32_t head = sk::BlockIndexY(), dim = params.head_dim;
  const std::uint32_t pairs = params.rotary_dim / 2, rest = dim - params.rotary_dim;
  const std::uint64_t index = std::uint64_t{sk::BlockIndexX()} * params.kv_heads + head;
  std::uint16_t* out = params.scratch + sk::Index(index) * (kTileTokens * dim);
  const std::uint64_t head_bytes = std::uint64_t{params.block_tokens} * dim * 2;

  for (std::uint32_t i = sk::ThreadIndex(); i < kTileTokens * (pairs + rest); i += kThreads) {
    const std::uint32_t token = i / (pairs + rest), unit = i % (pairs + rest);
    const bool is_pair = unit < pairs;
    const bool is_adjacent = params.pairs == RotaryPairs::kAdjacent;
    const std::uint32_t x_at = !is_pair ? pairs + unit : is_adjacent ? 2 * unit : unit;
    const std::uint32_t y_at = is_adjacent ? x_at + 1 : x_at + pairs;
    std::uint16_t x_bits = 0, y_bits = 0;
    if (token < tile.tokens) {
      const std::uint32_t slot = tile.slots[sk::Index(token / params.block_tokens)];
      const std::uint32_t row = sk::Index(token % params.block_tokens);
      const auto* key = reinterpret_cast<const std::uint16_t*>(
          params.pool + slot * params.block_bytes + params.layer_offset + head * head_bytes +
          std::uint64_t{row} * dim * 2);
      x_bits = key[sk::Index(x_at)];
      if (is_pair) {
        y_bits = key[sk::Index(y_at)];
        float x = Element::Low(x_bits), y = Element::Low(y_bits);
        RotatePair(x, y, TurnAt(params, token, unit));
        RotatePair(x, y, TurnAt(params, tile.position, unit));
        const std::uint32_t packed = Element::Pack(x, y);
        x_bits = static_cast<std::uint16_t>(packed);
        y_bits = static_cast<std::uint16_t>(packed >> 16);
      }
    }
    out[sk::Index(token * dim + x_at)] = x_bits;
    if (is_pair) out[sk::Index(token * dim + y_at)] = y_bits;
  }
}

// The pairs of a piece, unit `unit` of its row; half-split pairs have their second elements in y.
template <class Element>
SK_DEVICE void TurnPiece(sk::Words4& x, sk::Words4& y, const Turn* of_slot, const Turn* of_tile,
                         std::uint32_t unit, bool is_adjacent) {
  std::uint32_t* const x_words[4] = {&x.x, &x.y, &x.z, &x.w};
  std::uint32_t* const y_words[4] = {&y.x, &y.y, &y.z, &y.w};
  SK_UNROLL
  for (std::uint32_t j = 0; j < 4; ++j) {
    const std::uint32_t at = unit * 4 + j;  // of the words that hold first elements
    if (is_adjacent) {
      const Turn slot = of_slot[sk::Index(at)];
      const Turn tile = of_tile[sk::Index(at)];
      RotateAdjacent<Element>(*x_words[j], slot, tile);
    } else {
      const TwoTurns slot = reinterpret_cast<const TwoTurns*>(of_slot)[sk::Index(at)];
      const TwoTurns tile = reinterpret_cast<const TwoTurns*>(of_tile)[sk::Index(at)];
      RotateHalves<Element>(*x_words[j], *y_words[j], slot, tile);
    }
  }
}

// The fast kernel: a thread turns pieces of 16 bytes, of half-split pairs the two that belong
// together. The table's rows come from L1: the 64 of the slots are the same for all tiles.
template <class Element>
SK_KERNEL void RotatePieces(RotateParams params) {
  if (sk::BlockIndexX() >= *params.tile_count) return;
  const RotateTile& tile = params.tiles[sk::Index(sk::BlockIndexX())];
  const bool is_adjacent = params.pairs == RotaryPairs::kAdjacent;
  const std::uint32_t pieces = params.head_dim / 8, pairs = params.rotary_dim / 2;
  const std::uint32_t turned = params.rotary_dim / (is_adjacent ? 8 : 16);  // units that turn
  const std::uint32_t units = is_adjacent ? pieces : pieces - turned;
  const std::uint32_t head = sk::BlockIndexY();
  const std::uint64_t index = std::uint64_t{sk::BlockIndexX()} * params.kv_heads + head;
  std::uint16_t* out = params.scratch + sk::Index(index) * (kTileTokens * params.head_dim);
  const auto* table = reinterpret_cast<const Turn*>(params.table);
  const Turn* tile_turns = table + std::uint64_t{tile.position} * pairs;

  for (std::uint32_t i = sk::ThreadIndex(); i < kTileTokens * units; i += kThreads) {
    const std::uint32_t token = i / units, unit = i % units;
    const bool is_turned = unit < turned, has_partner = is_turned && !is_adjacent;
    const std::uint32_t x_at = is_turned || is_adjacent ? unit : unit + turned;
    const std::uint32_t y_at = unit + turned;
    sk::Words4 x{}, y{};
    if (token < tile.tokens) {
      const std::uint32_t slot = tile.slots[sk::Index(token / params.block_tokens)];
      const std::uint32_t row = head * params.block_tokens + token % params.block_tokens;
      const std::byte* key = params.pool + slot * params.block_bytes + params.layer_offset +
                             std::uint64_t{sk::Index(row)} * params.head_dim * 2;
      const std::uint32_t x_from = sk::Index(x_at);
      const std::uint32_t y_from = sk::Index(y_at);
      x = sk::Load16(key + x_from * 16);
      if (has_partner) y = sk::Load16(key + y_from * 16);
      const Turn* slot_turns = table + sk::Index(token) * pairs;
      if (is_turned) TurnPiece<Element>(x, y, slot_turns, tile_turns, unit, is_adjacent);
    }
    const std::uint32_t x_to = sk::Index(token * pieces + x_at);
    const std::uint32_t y_to = sk::Index(token * pieces + y_at);
    sk::Store16(out + x_to * 8, x);
    if (has_partner) sk::Store16(out + y_to * 8, y);
  }
}

bool IsInPieces(const RotateParams& params) {
  const auto is_aligned = [](const void* pointer) {
    return reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0;
  };
  return params.rotary_dim % 16 == 0 && params.block_bytes % 16 == 0 &&
         params.layer_offset % 16 == 0 && is_aligned(params.pool) && is_aligned(params.table) &&
         is_aligned(params.scratch);
}

rt::Status LaunchOver(rt::Stream& stream, const RotateParams& params,
                      void (*kernel)(RotateParams)) {
  return rt::Launch(
      stream, {.blocks_x = params.tiles_max, .blocks_y = params.kv_heads, .threads = kThreads},
      kernel, params);
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
  return LaunchOver(stream, params, is_f16 ? RotatePieces<F16> : RotatePieces<Bf16>);
}

rt::Status RotateKeysSimply(rt::Stream& stream, const RotateParams& params) {
  if (std::string wrong = Validate(params); !wrong.empty()) return rt::Status(wrong);
  const bool is_f16 = params.element == ElementType::kF16;
  return LaunchOver(stream, params, is_f16 ? RotateTiles<F16> : RotateTiles<Bf16>);
}

}  // namespace cairn::kernels
