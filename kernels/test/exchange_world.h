#ifndef CAIRN_KERNELS_TEST_EXCHANGE_WORLD_H_
#define CAIRN_KERNELS_TEST_EXCHANGE_WORLD_H_

#include <cmath>
#include <utility>

#include "kernels/attention/rotate_pair.h"
#include "kernels/copy/exchange.h"
#include "kernels/reference/rotate_ref.h"
#include "kernels/sk/emu/random.h"
#include "kernels/sk/number_soft.h"
#include "kernels/test/device_memory.h"
#include "kernels/test/random_matrix.h"

// A pool and an engine's cache, both full of guards, and random keys and values where one of them
// has tokens of a list of blocks.

namespace cairn::test {

enum class EngineForm {
  kTokenMajor,   // K, then V, each [block][token][head][dim]
  kHeadMajor,    // K, then V, each [block][head][token][dim]
  kAlternating,  // [block][K|V][token][head][dim]
  kSideBySide,   // [block][head][token][K|V][dim]
};

struct ExchangeCase {
  std::uint32_t head_dim, rotary_dim, block_tokens, kv_heads;
  kernels::RotaryPairs pairs;
  kernels::ElementType element = kernels::ElementType::kBf16;
  EngineForm form = EngineForm::kTokenMajor;
  std::uint32_t engine_block_tokens = 16;
  std::uint32_t first_layer = 0;
  std::uint32_t pad = 0;  // values before all of the engine's
};

struct ExchangeWorld {
  static constexpr std::uint32_t kLayers = 3, kEngineLayers = 2, kSlots = 6, kPositions = 320;
  static constexpr std::uint16_t kGuard = 0xa5a5, kNan = 0x7fff;
  static constexpr std::size_t kGuards = 64;  // values around all of the engine's layers

  explicit ExchangeWorld(const ExchangeCase& shape)
      : c(shape),
        rotary{c.head_dim, c.rotary_dim, c.pairs == kernels::RotaryPairs::kAdjacent, 10000.0} {
    pool.assign(kSlots * BlockValues(), kGuard);
    engine.assign(c.pad + kGuards + kEngineLayers * (LayerValues() + kGuards), kGuard);
  }

  std::uint32_t EngineBlocks() const { return 200 / c.engine_block_tokens + 1; }
  std::uint32_t EngineTokens() const { return EngineBlocks() * c.engine_block_tokens; }
  // Of a layer of the engine: K and V.
  std::size_t LayerValues() const {
    return std::size_t{2} * EngineTokens() * c.kv_heads * c.head_dim;
  }
  // Of a block of the pool, with 8 of padding.
  std::size_t BlockValues() const {
    return std::size_t{kLayers} * 2 * c.kv_heads * c.block_tokens * c.head_dim + 8;
  }
  // Where the values of one head and token begin; `layer` is the engine's.
  std::size_t PoolAt(std::uint32_t slot, std::uint32_t layer, bool is_value, std::uint32_t head,
                     std::uint32_t token) const {
    const std::size_t plane = (c.first_layer + layer) * 2 + (is_value ? 1 : 0);
    return slot * BlockValues() +
           ((plane * c.kv_heads + head) * c.block_tokens + token) * c.head_dim;
  }
  std::size_t EngineAt(std::uint32_t layer, bool is_value, std::uint32_t head,
                       std::uint32_t token) const {
    const std::size_t tokens = c.engine_block_tokens, heads = c.kv_heads, v = is_value ? 1 : 0;
    const std::size_t block = token / tokens, t = token % tokens, blocks = EngineBlocks();
    std::size_t row = 0;
    switch (c.form) {
      case EngineForm::kTokenMajor:
        row = ((v * blocks + block) * tokens + t) * heads + head;
        break;
      case EngineForm::kHeadMajor:
        row = ((v * blocks + block) * heads + head) * tokens + t;
        break;
      case EngineForm::kAlternating:
        row = ((block * 2 + v) * tokens + t) * heads + head;
        break;
      case EngineForm::kSideBySide:
        row = ((block * heads + head) * tokens + t) * 2 + v;
        break;
    }
    return c.pad + kGuards + layer * (LayerValues() + kGuards) + row * c.head_dim;
  }
  kernels::EngineStrides Strides() const {
    const std::uint64_t tokens = c.engine_block_tokens, heads = c.kv_heads, dim = c.head_dim;
    kernels::EngineStrides strides = kernels::TokenMajor(tokens, heads, dim);
    if (c.form == EngineForm::kHeadMajor) strides = kernels::HeadMajor(tokens, heads, dim);
    if (c.form == EngineForm::kAlternating) strides.block *= 2;
    if (c.form == EngineForm::kSideBySide) strides = kernels::HeadMajor(tokens, heads, 2 * dim);
    return strides;
  }

  // Its tokens get places of their own in the engine, in no order.
  void Add(const kernels::ExchangeBlock& block) {
    list.push_back(block);
    for (std::uint32_t token = 0; token < c.block_tokens; ++token) {
      places.push_back(token < block.tokens ? next_place_ * 37 % EngineTokens() : 0xffffffffu);
      if (token < block.tokens) ++next_place_;
    }
  }
  std::uint32_t PlaceOf(std::size_t index, std::uint32_t token) const {
    return places[index * c.block_tokens + token];
  }

  // call(index of the block, token, layer, head, is_value) for all that there is.
  template <class Call>
  void ForAll(Call call) const {
    for (std::size_t index = 0; index < list.size(); ++index) {
      for (std::uint32_t token = 0; token < list[index].tokens; ++token) {
        for (std::uint32_t i = 0; i < kEngineLayers * c.kv_heads * 2; ++i) {
          call(index, token, i / 2 / c.kv_heads, i / 2 % c.kv_heads, i % 2 == 1);
        }
      }
    }
  }
  // Random values in the pool, or the engine.
  void Fill(bool is_pool, std::uint64_t seed) {
    sk::emu::Random random(seed);
    ForAll([&](std::size_t index, std::uint32_t token, std::uint32_t layer, std::uint32_t head,
               bool is_value) {
      const std::size_t at = is_pool ? PoolAt(list[index].slot, layer, is_value, head, token)
                                     : EngineAt(layer, is_value, head, PlaceOf(index, token));
      for (std::uint32_t i = 0; i < c.head_dim; ++i) {
        (is_pool ? pool : engine)[at + i] = Rounded(2 * RandomUnit(random));
      }
    });
  }

  std::uint16_t Rounded(float x) const {
    return c.element == kernels::ElementType::kF16 ? sk::soft::RoundF16(x) : sk::soft::RoundBf16(x);
  }
  float Widened(std::uint16_t bits) const {
    return c.element == kernels::ElementType::kF16 ? sk::soft::FromF16(bits)
                                                   : sk::soft::FromBf16(bits);
  }
  double Unit() const { return c.element == kernels::ElementType::kF16 ? 0x1p-11 : 0x1p-8; }

  // The partner of dim i's pair, or i of a dim that does not turn.
  std::uint32_t PartnerOf(std::uint32_t i) const {
    if (i >= c.rotary_dim) return i;
    if (rotary.is_adjacent) return i ^ 1;
    return (i + c.rotary_dim / 2) % c.rotary_dim;
  }
  kernels::Turn TurnAt(std::uint32_t position, std::uint32_t pair) const {
    const double angle = reference::Angle(rotary, position, pair);
    return {static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))};
  }
  // A key on its way out, or in: two turns in fp32, one rounding.
  std::vector<std::uint16_t> Turned(const std::uint16_t* key, const kernels::ExchangeBlock& block,
                                    std::uint32_t token, bool is_back) const {
    std::vector<std::uint16_t> turned(key, key + c.head_dim);
    for (std::uint32_t j = 0; j < c.rotary_dim / 2; ++j) {
      const std::uint32_t x_at = rotary.is_adjacent ? 2 * j : j, y_at = PartnerOf(x_at);
      kernels::Turn slot = TurnAt(block.first_in_tile + token, j);
      kernels::Turn tile = TurnAt(block.position, j);
      if (is_back) {
        slot.sine = -slot.sine;
        tile.sine = -tile.sine;
      }
      float x = Widened(key[x_at]), y = Widened(key[y_at]);
      kernels::RotatePair(x, y, is_back ? tile : slot);
      kernels::RotatePair(x, y, is_back ? slot : tile);
      turned[x_at] = Rounded(x);
      turned[y_at] = Rounded(y);
    }
    return turned;
  }

  const ExchangeCase c;
  const reference::Rotary rotary;
  std::vector<kernels::ExchangeBlock> list;
  std::vector<std::uint32_t> places;        // [list][block_tokens]
  std::vector<std::uint16_t> pool, engine;  // before

 private:
  std::uint32_t next_place_ = 1;
};

}  // namespace cairn::test

#endif  // CAIRN_KERNELS_TEST_EXCHANGE_WORLD_H_
