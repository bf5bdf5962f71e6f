#ifndef CAIRN_KERNELS_ATTENTION_ROTATE_TILE_H_
#define CAIRN_KERNELS_ATTENTION_ROTATE_TILE_H_

#include "kernels/attention/element.h"
#include "kernels/attention/rotate.h"
#include "kernels/attention/rotate_pair.h"
#include "kernels/sk/sk.h"

// A tile's keys of one head, read from the pool and turned: what every kernel that fills a scratch
// does, wherever it puts them. By all threads of the block, for the tile BlockIndexX() and the head
// BlockIndexY().

namespace cairn::kernels {

inline constexpr std::uint32_t kRotateThreads = 128;

SK_DEVICE Turn TurnAt(const RotateParams& params, std::uint32_t position, std::uint32_t pair) {
  const std::uint64_t at = std::uint64_t{position} * (params.rotary_dim / 2) + pair;
  return reinterpret_cast<const Turn*>(params.table)[sk::Index(at)];
}

// As simple as can be, and for every shape: a pair or an element a thread at a time, nothing kept.
// put(token, dim, bits) for each of the tile's values, 0 behind its tokens.
template <class Element, class Put>
SK_DEVICE void RotateTilePairs(const RotateParams& params, Put put) {
  const RotateTile& tile = params.tiles[sk::Index(sk::BlockIndexX())];
  const std::uint32_t head = sk::BlockIndexY(), dim = params.head_dim;
  const std::uint32_t pairs = params.rotary_dim / 2, rest = dim - params.rotary_dim;
  const std::uint64_t head_bytes = std::uint64_t{params.block_tokens} * dim * 2;

  for (std::uint32_t i = sk::ThreadIndex(); i < kTileTokens * (pairs + rest); i += kRotateThreads) {
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
    put(token, x_at, x_bits);
    if (is_pair) put(token, y_at, y_bits);
  }
}

SK_DEVICE Turn Back(Turn turn) { return {turn.cosine, -turn.sine}; }
SK_DEVICE TwoTurns Back(TwoTurns turns) { return {Back(turns.low), Back(turns.high)}; }

// The pairs of a piece, unit `unit` of its row; half-split pairs have their second elements in y.
// kBack: the tile's turn back, then the slot's.
template <class Element, bool kBack = false>
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
      RotateAdjacent<Element>(*x_words[j], kBack ? Back(tile) : slot, kBack ? Back(slot) : tile);
    } else {
      const TwoTurns slot = reinterpret_cast<const TwoTurns*>(of_slot)[sk::Index(at)];
      const TwoTurns tile = reinterpret_cast<const TwoTurns*>(of_tile)[sk::Index(at)];
      RotateHalves<Element>(*x_words[j], *y_words[j], kBack ? Back(tile) : slot,
                            kBack ? Back(slot) : tile);
    }
  }
}

// A thread turns pieces of 16 bytes, of half-split pairs the two that belong together. The table's
// rows come from L1: the 64 of the slots are the same for all tiles. put(token, piece, words).
template <class Element, class Put>
SK_DEVICE void RotateTilePieces(const RotateParams& params, Put put) {
  const RotateTile& tile = params.tiles[sk::Index(sk::BlockIndexX())];
  const bool is_adjacent = params.pairs == RotaryPairs::kAdjacent;
  const std::uint32_t pieces = params.head_dim / 8, pairs = params.rotary_dim / 2;
  const std::uint32_t turned = params.rotary_dim / (is_adjacent ? 8 : 16);  // units that turn
  const std::uint32_t units = is_adjacent ? pieces : pieces - turned;
  const std::uint32_t head = sk::BlockIndexY();
  const auto* table = reinterpret_cast<const Turn*>(params.table);
  const Turn* tile_turns = table + std::uint64_t{tile.position} * pairs;

  for (std::uint32_t i = sk::ThreadIndex(); i < kTileTokens * units; i += kRotateThreads) {
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
    put(token, x_at, x);
    if (has_partner) put(token, y_at, y);
  }
}

// The grid that both are for.
inline rt::Status LaunchOverTiles(rt::Stream& stream, const RotateParams& params,
                                  void (*kernel)(RotateParams)) {
  return rt::Launch(
      stream,
      {.blocks_x = params.tiles_max, .blocks_y = params.kv_heads, .threads = kRotateThreads},
      kernel, params);
}

// Whether the pieces of a row are whole, its pairs' too, and aligned: else RotateTilePairs.
inline bool IsInPieces(const RotateParams& params) {
  const auto is_aligned = [](const void* pointer) {
    return reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0;
  };
  return params.rotary_dim % 16 == 0 && params.block_bytes % 16 == 0 &&
         params.layer_offset % 16 == 0 && is_aligned(params.pool) && is_aligned(params.table) &&
         is_aligned(params.scratch);
}

}  // namespace cairn::kernels

#endif  // CAIRN_KERNELS_ATTENTION_ROTATE_TILE_H_
