#include "kernels/attention/prefill_wgmma.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "kernels/sk/number_soft.h"
#include "kernels/test/attention_checks.h"

namespace cairn::test {
namespace {

using kernels::ElementType;
using kernels::kTileTokens;
using kernels::PrefillParams;
using kernels::QueryTile;
using kernels::RotaryPairs;

// As kPrefillShapes, and one of wide heads that turn more than 64 dims.
std::vector<AttentionShape> Shapes() {
  std::vector<AttentionShape> shapes(std::begin(kPrefillShapes), std::end(kPrefillShapes));
  shapes.push_back({256, 128, 16, 2, 2, RotaryPairs::kHalfSplit, ElementType::kF16});
  return shapes;
}

std::vector<float> Run(const World& world, RunOptions options) {
  return RunAttention(world, Way::kPrefillWgmma, options);
}

// Where a value of a tile's K' or V must lie, by the manual's picture of the 128-byte swizzle: 16
// bytes wide columns, of which row r's are permuted by r % 8.
std::size_t PlaceOf(std::uint32_t token, std::uint32_t dim) {
  const std::uint32_t box = dim / 64, column = dim % 64 / 8;
  return box * 4096 + token * 64 + (column ^ token % 8) * 8 + dim % 8;
}

SK_TEST(SwizzledTilesAreRotatedKeysAndTheirValues) {
  for (const AttentionShape& shape : Shapes()) {
    World world = MakeWorld(shape, 3);
    world.tiles.push_back({{999, 999, 999, 999}, 0, 0});  // a tile of nothing
    const std::uint64_t seed = RunSettings().first_seed;
    const std::vector<std::uint16_t> rotated = RunRotateKeys(world, seed);
    const std::uint32_t half = kTileTokens * shape.head_dim;
    for (const bool is_simple : {false, true}) {
      const std::vector<std::uint16_t> got = RunSwizzleTiles(world, seed, is_simple);
      std::size_t wrong_keys = 0, wrong_values = 0, at = 0;
      for (std::uint32_t tile = 0; tile < world.tiles.size(); ++tile) {
        for (std::uint32_t head = 0; head < shape.kv_heads; ++head, at += 2 * half) {
          for (std::uint32_t i = 0; i < half; ++i) {
            const std::uint32_t token = i / shape.head_dim, dim = i % shape.head_dim;
            const bool is_there = token < world.tiles[tile].tokens;
            const std::uint16_t value =
                is_there ? world.pool[world.At(tile, token, true, head) + dim] : 0;
            const std::size_t place = at + PlaceOf(token, dim);
            wrong_keys += got[place] != rotated[at / 2 + i];
            wrong_values += got[place + half] != value;
          }
        }
      }
      SK_EXPECT_EQ(wrong_keys, std::size_t{0});
      SK_EXPECT_EQ(wrong_values, std::size_t{0});
      const auto rest = got.begin() + static_cast<std::ptrdiff_t>(at);
      SK_EXPECT(std::all_of(rest, got.end(), [](std::uint16_t bits) { return bits == 0x7fff; }));
    }
  }
}

SK_TEST(RowsPrefillByWgmmaAsInDouble) {
  for (const AttentionShape& shape : Shapes()) {
    ExpectWorldAsInDouble(shape, 7, Way::kPrefillWgmma);
  }
}

// Its name is left out where mutants are tried: it also runs AttendPrefill, whose tests are others.
SK_TEST(ItsArithmeticIsItsOwn) {
  const World world = MakeWorld(kPrefillShapes[0], 7);
  const std::vector<float> own = Run(world, {}), exact = RunAttention(world, Way::kPrefill, {});
  SK_EXPECT_EQ(own.size(), exact.size());
  SK_EXPECT(!AreBitsEqual(own, exact));
}

// Products that are exact in any order, so that all that is left is the program of a row: its
// maxima, splits and folds. Scores are of small integers; a dim has one token in one of a split's
// tiles whose value is not 0. (Left out as the test above is.)
SK_TEST(ExactProductsHaveTheBitsOfPrefill) {
  World world({64, 0, 64, 1, 1, RotaryPairs::kHalfSplit}, 23);
  world.AddSegment(700, 0);
  sk::emu::Random random(8);
  const auto integer = [&] {
    return sk::soft::RoundBf16(static_cast<float>(random.Below(7)) - 3.0f);
  };
  for (std::uint32_t tile = 0; tile < world.tiles.size(); ++tile) {
    for (std::uint32_t token = 0; token < world.tiles[tile].tokens; ++token) {
      for (std::uint32_t dim = 0; dim < 64; ++dim) {
        world.pool[world.At(tile, token, false, 0) + dim] = integer();
        const bool is_kept = dim % 4 == tile % 4 && token == (dim * 13 + tile) % 60;
        if (!is_kept) world.pool[world.At(tile, token, true, 0) + dim] = 0;
      }
    }
  }
  for (std::uint32_t i = 1; i <= 40; ++i) world.AddRow({0, 1 + i % 11, 60, i});
  for (std::uint16_t& bits : world.q) bits = integer();
  const RunOptions options{.scale = 0.07f};
  SK_EXPECT(AreBitsEqual(Run(world, options), RunAttention(world, Way::kPrefill, options)));
}

// Segments of any lengths, 129 to 200 rows anywhere in their list: two tiles of queries at least.
World RandomPlan(const AttentionShape& shape, std::uint64_t seed) {
  World world(shape, seed);
  sk::emu::Random random(seed * 977 + 1);
  std::uint32_t tokens = 0;
  for (std::uint32_t i = 0; i < 3 || tokens < 210; ++i) {
    const std::uint32_t segment = 1 + random.Below(150);
    world.AddSegment(segment, tokens);
    tokens += segment;
  }
  const std::uint32_t rows = 129 + random.Below(72);
  world.AddRows(0, tokens - rows, tokens, tokens - rows);
  return world;
}

SK_TEST(NoPlaceOrCompanyChangesABitOfWgmma) {
  const AttentionShape shape{64, 64, 64, 1, 1, RotaryPairs::kHalfSplit};
  for (const std::uint64_t seed : Seeds(4)) {
    const World world = RandomPlan(shape, seed);
    RunOptions options{.seed = seed, .scale = seed % 2 == 0 ? 0.125f : 40.0f};
    const std::vector<float> together = Run(world, options);
    // The same rows in tiles of any sizes, a row alone among them.
    sk::emu::Random random(seed * 31 + 7);
    const auto rows = static_cast<std::uint32_t>(world.rows.size());
    options.seed = seed + 100;
    options.query_tiles = {{0, 1}};
    for (std::uint32_t row = 1; row < rows;) {
      const std::uint32_t count = std::min(1 + random.Below(128), rows - row);
      options.query_tiles->push_back({row, count});
      row += count;
    }
    if (!AreBitsEqual(Run(world, options), together)) {
      Fail(__FILE__, __LINE__, "tiles of queries change bits, seed " + std::to_string(seed));
    }
  }
}

SK_TEST(ListsOfAnyLengthShareATileOfWgmma) {
  // One warpgroup may see more than the other, in either order, or nothing at all.
  World world({64, 64, 64, 1, 1, RotaryPairs::kHalfSplit}, 17);
  world.AddSegment(700, 0);
  sk::emu::Random random(5);
  const auto add = [&](std::uint32_t count, std::uint32_t tiles_max) {
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t tiles = tiles_max == 0 ? 0 : 1 + random.Below(tiles_max);
      const std::uint32_t last = 1 + random.Below(tiles == 11 ? 60 : 64);
      world.AddRow({0, tiles, last, tiles * 64});
    }
  };
  add(64, 2), add(63, 6), add(1, 11);  // the first and only row of eleven tiles is the last
  add(1, 9), add(63, 5), add(64, 1);
  add(64, 0), add(40, 5);
  add(64, 5), add(64, 0);
  RunOptions options{.seed = 9};
  options.query_tiles = {{0, 128}, {128, 128}, {256, 104}, {360, 128}};
  const std::vector<float> got = Run(world, options);
  ExpectAsInDouble(world, got, options.scale);
  // Each by itself, of some.
  for (const std::uint32_t row : {127u, 128u, 70u, 300u, 361u}) {
    options.query_tiles = {{0, 1}};
    std::vector<float> one = Run(world.From(row), options);
    one.resize(world.row_values());
    const auto at = got.begin() + static_cast<std::ptrdiff_t>(row * world.row_values());
    SK_EXPECT(AreBitsEqual(one, {at, at + static_cast<std::ptrdiff_t>(world.row_values())}));
  }
}

SK_TEST(ACutChangesNoBitOfWgmma) {
  ExpectNoBitChangedByACut({64, 32, 32, 1, 2, RotaryPairs::kAdjacent}, Way::kPrefillWgmma);
}

SK_TEST(WideHeadsByWgmmaHaveTilesOfSixtyFour) {
  World world({256, 256, 64, 1, 1, RotaryPairs::kHalfSplit}, 12);
  world.AddSegment(330, 0);
  world.AddRows(0, 250, 330, 250);
  const std::vector<float> together = Run(world, {});
  RunOptions options{.seed = 5};
  options.query_tiles = {{0, 1}, {1, 17}, {18, 43}, {61, 19}};
  SK_EXPECT(AreBitsEqual(Run(world, options), together));
}

SK_TEST(NothingToPrefillByWgmmaIsNothingOrZero) { ExpectNothingOrZero(Way::kPrefillWgmma); }

SK_TEST(WgmmaSaysWhichParameterIsWrong) {
  alignas(16) std::uint32_t words[4] = {};
  PrefillParams params;
  SK_EXPECT_CONTAINS(kernels::ValidateForWgmma(params), "rotate: block_tokens is 0");
  params.rows = ParamsOver(words, {96, 64, 16});
  kernels::RotateParams& keys = params.rows.keys;
  SK_EXPECT_CONTAINS(kernels::ValidateForWgmma(params), "prefill by wgmma: head_dim is 96");
  SK_EXPECT_CONTAINS(kernels::ValidateForSwizzle(keys), "swizzle: head_dim is 96");
  keys.head_dim = 64;
  SK_EXPECT_CONTAINS(kernels::ValidateForWgmma(params), "query_tiles_max is 0");
  params.query_tiles_max = 1;
  SK_EXPECT_CONTAINS(kernels::ValidateForWgmma(params), "prefill by wgmma: a pointer is null");
  SK_EXPECT_EQ(kernels::ValidateForSwizzle(keys), "");
  keys.scratch += 1;
  SK_EXPECT_CONTAINS(kernels::ValidateForSwizzle(keys), "scratch is not 16-byte aligned");
  keys.layer_offset = 2064;
  SK_EXPECT_CONTAINS(kernels::ValidateForSwizzle(keys), "K and V lie inside a block");
}

SK_TEST(WgmmaTakesTilesOfTwiceTheRows) {
  const std::vector<kernels::AttendRow> rows(300, {3, 1, 1, 0});
  const std::vector<QueryTile> tiles =
      kernels::PlanQueryTiles(rows, 10, kernels::WgmmaQueryTileRows(128));
  SK_EXPECT_EQ(tiles.size(), std::size_t{3});
  SK_EXPECT_EQ(tiles[1].first_row, 138u);
  SK_EXPECT_EQ(tiles[1].row_count, 128u);
  SK_EXPECT_EQ(tiles[2].row_count, 34u);
  SK_EXPECT_EQ(kernels::WgmmaQueryTileRows(256), 64u);
}

}  // namespace
}  // namespace cairn::test
