#include "kernels/attention/rotate.h"

#include <cmath>

#include "kernels/reference/rotate_ref.h"
#include "kernels/sk/emu/random.h"
#include "kernels/sk/number_soft.h"
#include "kernels/test/device_memory.h"
#include "kernels/test/random_matrix.h"

namespace cairn::test {
namespace {

using kernels::kTileTokens;
using kernels::RotateParams;
using kernels::RotateTile;

struct RotateCase {
  std::uint32_t head_dim;
  std::uint32_t rotary_dim;
  std::uint32_t block_tokens;
  std::uint32_t kv_heads;
  kernels::RotaryPairs pairs;
};

constexpr std::uint32_t kPositions = 4096, kSlots = 9, kLayers = 2, kLayer = 1;

// A pool of poison in which the tiles' own slots hold random keys, and slots behind a segment's end
// zeros, as the product keeps them.
struct Pool {
  std::vector<std::uint16_t> values;
  std::size_t block_values;
  std::size_t at(const RotateCase& c, std::uint32_t slot, std::uint32_t head,
                 std::uint32_t token) const {
    return slot * block_values +
           ((kLayer * 2 * c.kv_heads + head) * c.block_tokens + token) * c.head_dim;
  }
};

Pool MakePool(const RotateCase& c, const std::vector<RotateTile>& tiles, std::uint64_t seed) {
  Pool pool;
  pool.block_values = std::size_t{kLayers} * 2 * c.kv_heads * c.block_tokens * c.head_dim;
  pool.values.assign(pool.block_values * kSlots, 0xffff);
  sk::emu::Random random(seed);
  for (const RotateTile& tile : tiles) {
    for (std::uint32_t token = 0; token < tile.tokens; ++token) {
      for (std::uint32_t head = 0; head < c.kv_heads; ++head) {
        const std::size_t at =
            pool.at(c, tile.slots[token / c.block_tokens], head, token % c.block_tokens);
        for (std::uint32_t i = 0; i < c.head_dim; ++i) {
          pool.values[at + i] = sk::soft::RoundBf16(2 * RandomUnit(random));
        }
      }
    }
  }
  return pool;
}

void CheckTile(const RotateCase& c, const Pool& pool, const RotateTile& tile, std::uint32_t head,
               const std::uint16_t* got) {
  const reference::Rotary rotary{c.head_dim, c.rotary_dim,
                                 c.pairs == kernels::RotaryPairs::kAdjacent, 10000.0};
  for (std::uint32_t token = 0; token < kTileTokens; ++token, got += c.head_dim) {
    std::vector<double> key(c.head_dim, 0.0);
    const bool is_there = token < tile.tokens;
    double largest = 0;
    for (std::uint32_t i = 0; i < c.head_dim && is_there; ++i) {
      const std::size_t at =
          pool.at(c, tile.slots[token / c.block_tokens], head, token % c.block_tokens);
      key[i] = sk::soft::FromBf16(pool.values[at + i]);
      largest = std::fmax(largest, std::fabs(key[i]));
    }
    const std::vector<double> expected = reference::Rotated(rotary, key, tile.position + token);
    for (std::uint32_t i = 0; i < c.head_dim; ++i) {
      // Half a last place of bf16, and what two rotations in fp32 may add to a result near zero.
      const double bound = std::fabs(expected[i]) * 0x1p-8 + largest * 8e-7;
      const double difference = std::fabs(sk::soft::FromBf16(got[i]) - expected[i]);
      SK_EXPECT(is_there && i < c.rotary_dim ? difference <= bound : difference == 0);
    }
  }
}

// Rotates on an emulated device and compares with double; returns the scratch. All blocks' layers
// begin `pad` values late.
std::vector<std::uint16_t> RunRotate(const RotateCase& c, const std::vector<RotateTile>& tiles,
                                     std::uint64_t seed, std::size_t pad = 0) {
  TestDevice device(seed);
  const Pool pool = MakePool(c, tiles, 77);
  const reference::Rotary rotary{c.head_dim, c.rotary_dim,
                                 c.pairs == kernels::RotaryPairs::kAdjacent, 10000.0};
  const std::uint32_t tiles_max = static_cast<std::uint32_t>(tiles.size()) + 2;  // a roomy bucket
  const std::size_t tile_values = std::size_t{c.kv_heads} * kTileTokens * c.head_dim;
  std::vector<std::uint16_t> padded(pad, 0xffff);
  padded.insert(padded.end(), pool.values.begin(), pool.values.end());
  rt::Buffer pool_buffer = device.Make(padded);
  rt::Buffer table = device.Make(reference::RotaryTable(rotary, kPositions));
  rt::Buffer plan = device.Make(tiles);
  rt::Buffer count =
      device.Make(std::vector<std::uint32_t>{static_cast<std::uint32_t>(tiles.size())});
  rt::Buffer scratch = device.Make(std::vector<std::uint16_t>(tile_values * tiles_max, 0x7fff));
  RotateParams params;
  params.pool = pool_buffer.bytes();
  params.block_bytes = pool.block_values * 2;
  params.layer_offset =
      std::uint64_t{kLayer} * 2 * c.kv_heads * c.block_tokens * c.head_dim * 2 + pad * 2;
  params.block_tokens = c.block_tokens;
  params.kv_heads = c.kv_heads;
  params.head_dim = c.head_dim;
  params.rotary_dim = c.rotary_dim;
  params.pairs = c.pairs;
  params.table = table.as<float>();
  params.positions = kPositions;
  params.tiles = plan.as<RotateTile>();
  params.tile_count = count.as<std::uint32_t>();
  params.tiles_max = tiles_max;
  params.scratch = scratch.as<std::uint16_t>();
  SK_EXPECT_EQ(kernels::RotateKeysSimply(device.stream(), params).message(), "");
  const std::vector<std::uint16_t> got = device.Read<std::uint16_t>(scratch);
  rt::Buffer other = device.Make(std::vector<std::uint16_t>(tile_values * tiles_max, 0x7fff));
  params.scratch = other.as<std::uint16_t>();
  SK_EXPECT_EQ(kernels::RotateKeys(device.stream(), params).message(), "");
  SK_EXPECT(device.Read<std::uint16_t>(other) == got);
  for (std::size_t t = 0; t < tiles.size(); ++t) {
    for (std::uint32_t head = 0; head < c.kv_heads; ++head) {
      CheckTile(c, pool, tiles[t], head,
                got.data() + t * tile_values + std::size_t{head} * kTileTokens * c.head_dim);
    }
  }
  for (std::size_t i = tile_values * tiles.size(); i < got.size(); ++i)
    SK_EXPECT_EQ(got[i], 0x7fff);
  return got;
}

SK_TEST(KeysTurnAsInDoubleForEveryShape) {
  using kernels::RotaryPairs;
  const RotateCase cases[] = {
      {128, 128, 64, 1, RotaryPairs::kHalfSplit}, {64, 64, 16, 3, RotaryPairs::kAdjacent},
      {64, 64, 32, 2, RotaryPairs::kHalfSplit},   {256, 64, 16, 1, RotaryPairs::kHalfSplit},
      {48, 20, 64, 2, RotaryPairs::kAdjacent},    {32, 0, 32, 1, RotaryPairs::kHalfSplit},
      {64, 24, 32, 1, RotaryPairs::kHalfSplit},   {128, 40, 16, 1, RotaryPairs::kAdjacent},
  };
  for (const RotateCase& c : cases) {
    const std::vector<RotateTile> tiles = {{{2, 0, 7, 4}, 64, 0},
                                           {{1, 3, 99, 99}, c.block_tokens == 16 ? 17u : 33u, 64},
                                           {{99, 99, 99, 99}, 0, 5},
                                           {{8, 6, 5, 99}, c.block_tokens == 16 ? 41u : 64u, 4030}};
    std::vector<RotateTile> used = tiles;
    for (RotateTile& tile : used) {  // short tiles must not read beyond the blocks that they need
      if (tile.tokens == 33 && c.block_tokens == 64) tile.slots[1] = 99;
    }
    RunRotate(c, used, RunSettings().first_seed);
  }
}

SK_TEST(BitsDependOnTheTileAndNotOnItsCompany) {
  const RotateCase c{64, 64, 16, 2, kernels::RotaryPairs::kHalfSplit};
  const std::vector<RotateTile> tiles = {{{2, 0, 7, 4}, 64, 640}, {{1, 3, 5, 6}, 50, 704}};
  const std::vector<std::uint16_t> both = RunRotate(c, tiles, 1);
  for (const std::uint64_t seed : Seeds(3)) {
    const std::vector<std::uint16_t> again = RunRotate(c, tiles, seed);
    SK_EXPECT(again == both);
  }
  // The first tile's keys are the first that MakePool draws, so alone they are the same.
  const std::vector<std::uint16_t> alone = RunRotate(c, {tiles[0]}, 5);
  const std::size_t tile_values = 2 * 64 * 64;
  SK_EXPECT(std::equal(alone.begin(), alone.begin() + tile_values, both.begin()));
}

SK_TEST(KeysThatAreNotAlignedTurnToo) {
  const RotateCase c{64, 64, 16, 2, kernels::RotaryPairs::kHalfSplit};
  const std::vector<RotateTile> tiles = {{{2, 0, 7, 4}, 64, 640}, {{1, 3, 5, 6}, 50, 704}};
  SK_EXPECT(RunRotate(c, tiles, 1, 4) == RunRotate(c, tiles, 1));
}

SK_TEST(RotateSaysWhichParameterIsWrong) {
  RotateParams params;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "block_tokens is 0");
  params.block_tokens = 16;
  params.head_dim = 40;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "head_dim is 40");
  params.head_dim = 64;
  params.rotary_dim = 66;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "rotary_dim is 66");
  params.rotary_dim = 64;
  params.kv_heads = 2;
  params.positions = 10;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "positions is 10");
  params.positions = 64;
  params.tiles_max = 1;
  params.block_bytes = 100;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "layer_offset is 0");
  params.block_bytes = 1 << 20;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "a pointer is null");
}

}  // namespace
}  // namespace cairn::test
