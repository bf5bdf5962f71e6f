#include "kernels/attention/attend.h"

#include <cmath>

#include "kernels/reference/attend_ref.h"
#include "kernels/reference/rotate_ref.h"
#include "kernels/sk/emu/random.h"
#include "kernels/sk/number_soft.h"
#include "kernels/test/device_memory.h"

namespace cairn::test {
namespace {

using kernels::AttendParams;
using kernels::AttendRow;
using kernels::kTileTokens;
using kernels::RotaryPairs;
using kernels::RotateTile;

struct Shape {
  std::uint32_t head_dim, rotary_dim, block_tokens, kv_heads, q_heads;
  RotaryPairs pairs;
};
constexpr std::uint32_t kPositions = 2048, kSlots = 40;

// Requests over one pool: which blocks are whose, and poison in all others.
struct World {
  Shape shape;
  std::vector<RotateTile> tiles;
  std::vector<AttendRow> rows;
  std::vector<std::uint16_t> pool, q;
  std::uint32_t next_slot = 0;

  std::size_t block_values() const {
    return std::size_t{2} * shape.kv_heads * shape.block_tokens * shape.head_dim;
  }
  const std::uint16_t* At(std::uint32_t tile, std::uint32_t token, bool is_v,
                          std::uint32_t head) const {
    const std::uint32_t slot = tiles[tile].slots[token / shape.block_tokens];
    const std::size_t row = (is_v ? shape.kv_heads : 0) + head;
    return pool.data() + slot * block_values() +
           (row * shape.block_tokens + token % shape.block_tokens) * shape.head_dim;
  }
};

std::uint16_t RandomBf16(sk::emu::Random& random) {
  const auto x = static_cast<float>(static_cast<std::int32_t>(random.Next() >> 32));
  return sk::soft::RoundBf16(x * 0x1p-30f);
}

// Appends a segment's tiles with random K and V. Slots are dealt out in an order of no meaning.
void AddSegment(World& world, std::uint32_t tokens, std::uint32_t position,
                sk::emu::Random& random) {
  const Shape& shape = world.shape;
  for (std::uint32_t begin = 0; begin < tokens; begin += kTileTokens) {
    RotateTile tile{{999, 999, 999, 999}, std::min(kTileTokens, tokens - begin), position + begin};
    for (std::uint32_t i = 0; i * shape.block_tokens < tile.tokens; ++i) {
      tile.slots[i] = world.next_slot++ * 7 % kSlots;
    }
    world.tiles.push_back(tile);
    const auto index = static_cast<std::uint32_t>(world.tiles.size() - 1);
    for (std::uint32_t token = 0; token < tile.tokens; ++token) {
      for (std::uint32_t head = 0; head < 2 * shape.kv_heads; ++head) {
        auto* values = const_cast<std::uint16_t*>(
            world.At(index, token, head >= shape.kv_heads, head % shape.kv_heads));
        for (std::uint32_t i = 0; i < shape.head_dim; ++i) values[i] = RandomBf16(random);
      }
    }
  }
}

// Request 1: segments of 100 and 70 tokens, rows inside the second. Request 2: a row with five
// tiles, so two splits, and its first token. Request 3: nothing to see.
World MakeWorld(const Shape& shape, std::uint64_t seed) {
  World world{shape, {}, {}, {}, {}};
  world.pool.assign(world.block_values() * kSlots, 0xffff);
  sk::emu::Random random(seed);
  AddSegment(world, 100, 0, random);
  AddSegment(world, 70, 100, random);
  world.rows = {{0, 3, 1, 100}, {0, 3, 64, 163}, {0, 4, 1, 164}, {0, 4, 6, 169}};
  const auto second = static_cast<std::uint32_t>(world.tiles.size());
  AddSegment(world, 300, 512, random);
  world.rows.push_back({second, 5, 44, 811});
  world.rows.push_back({second, 1, 1, 512});
  world.rows.push_back({second, 0, 0, 0});
  world.q.resize(world.rows.size() * shape.q_heads * shape.head_dim);
  for (std::uint16_t& bits : world.q) bits = RandomBf16(random);
  return world;
}

std::vector<double> Widened(const std::uint16_t* bits, std::uint32_t count) {
  std::vector<double> values(count);
  for (std::uint32_t i = 0; i < count; ++i) values[i] = sk::soft::FromBf16(bits[i]);
  return values;
}
// As the kernels store them: turned in double, rounded once to bf16.
std::vector<double> TurnedAndRounded(const Shape& shape, const std::uint16_t* bits,
                                     std::uint32_t position) {
  const reference::Rotary rotary{shape.head_dim, shape.rotary_dim,
                                 shape.pairs == RotaryPairs::kAdjacent, 10000.0};
  std::vector<double> turned = reference::Rotated(rotary, Widened(bits, shape.head_dim), position);
  for (double& x : turned) x = sk::soft::FromBf16(sk::soft::RoundBf16(static_cast<float>(x)));
  return turned;
}

std::vector<double> Expected(const World& world, const AttendRow& row, const std::uint16_t* q,
                             std::uint32_t head, double scale) {
  std::vector<std::vector<double>> keys, values;
  for (std::uint32_t i = 0; i < row.tile_count; ++i) {
    const RotateTile& tile = world.tiles[row.first_tile + i];
    const std::uint32_t tokens = i + 1 == row.tile_count ? row.last_tokens : tile.tokens;
    for (std::uint32_t token = 0; token < tokens; ++token) {
      keys.push_back(TurnedAndRounded(world.shape, world.At(row.first_tile + i, token, false, head),
                                      tile.position + token));
      values.push_back(
          Widened(world.At(row.first_tile + i, token, true, head), world.shape.head_dim));
    }
  }
  return reference::Attend(TurnedAndRounded(world.shape, q, row.position), keys, values, scale);
}

std::vector<float> RunAttend(const World& world, std::uint64_t seed, float scale) {
  const Shape& shape = world.shape;
  TestDevice device(seed);
  const reference::Rotary rotary{shape.head_dim, shape.rotary_dim,
                                 shape.pairs == RotaryPairs::kAdjacent, 10000.0};
  const auto rows = static_cast<std::uint32_t>(world.rows.size());
  const auto tiles = static_cast<std::uint32_t>(world.tiles.size());
  rt::Buffer pool = device.Make(world.pool);
  rt::Buffer table = device.Make(reference::RotaryTable(rotary, kPositions));
  rt::Buffer plan = device.Make(world.tiles);
  rt::Buffer row_plan = device.Make(world.rows);
  rt::Buffer counts = device.Make(std::vector<std::uint32_t>{tiles, rows});
  rt::Buffer q = device.Make(world.q);
  const std::size_t scratch_values =
      std::size_t{tiles} * shape.kv_heads * kTileTokens * shape.head_dim;
  rt::Buffer scratch = device.Make(std::vector<std::uint16_t>(scratch_values, 0x7fff));
  rt::Buffer out = device.Make(std::vector<float>(world.q.size() + 4, -7.0f));
  AttendParams params;
  params.keys.pool = pool.bytes();
  params.keys.block_bytes = world.block_values() * 2;
  params.keys.block_tokens = shape.block_tokens;
  params.keys.kv_heads = shape.kv_heads;
  params.keys.head_dim = shape.head_dim;
  params.keys.rotary_dim = shape.rotary_dim;
  params.keys.pairs = shape.pairs;
  params.keys.table = table.as<float>();
  params.keys.positions = kPositions;
  params.keys.tiles = plan.as<RotateTile>();
  params.keys.tile_count = counts.as<std::uint32_t>();
  params.keys.tiles_max = tiles;
  params.keys.scratch = scratch.as<std::uint16_t>();
  params.q = q.as<std::uint16_t>();
  params.out = out.as<float>();
  params.q_heads = shape.q_heads;
  params.scale = scale;
  params.rows = row_plan.as<AttendRow>();
  params.row_count = counts.as<std::uint32_t>() + 1;
  params.rows_max = rows + 3;
  SK_EXPECT_EQ(kernels::RotateKeys(device.stream(), params.keys).message(), "");
  SK_EXPECT_EQ(kernels::AttendRows(device.stream(), params).message(), "");
  std::vector<float> got = device.Read<float>(out);
  for (std::size_t i = world.q.size(); i < got.size(); ++i) SK_EXPECT_EQ(got[i], -7.0f);
  got.resize(world.q.size());
  return got;
}

SK_TEST(RowsAttendAsInDouble) {
  const Shape shapes[] = {{64, 64, 16, 1, 3, RotaryPairs::kHalfSplit},
                          {128, 128, 64, 2, 2, RotaryPairs::kAdjacent},
                          {48, 20, 32, 1, 1, RotaryPairs::kHalfSplit},
                          {256, 64, 64, 1, 2, RotaryPairs::kHalfSplit}};
  for (const Shape& shape : shapes) {
    const World world = MakeWorld(shape, 5);
    const float scale = 1.0f / std::sqrt(static_cast<float>(shape.head_dim));
    const std::vector<float> got = RunAttend(world, RunSettings().first_seed, scale);
    const std::uint16_t* q = world.q.data();
    std::size_t at = 0;
    for (const AttendRow& row : world.rows) {
      for (std::uint32_t head = 0; head < shape.q_heads; ++head, q += shape.head_dim) {
        const std::uint32_t kv_head = head / (shape.q_heads / shape.kv_heads);
        for (const double x : Expected(world, row, q, kv_head, scale)) {
          SK_EXPECT(std::fabs(got[at] - x) <= 1e-3);  // a key may round to the other neighbour
          ++at;
        }
      }
    }
  }
}

SK_TEST(ARowsBitsDependOnItsOwnTilesOnly) {
  const Shape shape{64, 64, 16, 1, 2, RotaryPairs::kHalfSplit};
  World world = MakeWorld(shape, 9);
  const std::vector<float> all = RunAttend(world, 1, 0.125f);
  for (const std::uint64_t seed : Seeds(2)) SK_EXPECT(RunAttend(world, seed, 0.125f) == all);
  // Without the requests around it, and with a last tile of which nothing is visible.
  const std::size_t row_values = std::size_t{shape.q_heads} * shape.head_dim;
  world.rows = {{0, 3, 64, 163}, {0, 4, 0, 163}};
  world.q.assign(world.q.begin() + row_values, world.q.begin() + 2 * row_values);
  world.q.insert(world.q.end(), world.q.begin(), world.q.begin() + row_values);
  const std::vector<float> few = RunAttend(world, 3, 0.125f);
  SK_EXPECT(std::equal(few.begin(), few.begin() + row_values, all.begin() + row_values));
  SK_EXPECT(std::equal(few.begin() + row_values, few.end(), all.begin() + row_values));
}

SK_TEST(AttendSaysWhichParameterIsWrong) {
  AttendParams params;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "rotate: block_tokens is 0");
  const std::uint32_t words[4] = {};
  params.keys.block_tokens = 16;
  params.keys.head_dim = params.keys.rotary_dim = params.keys.positions = 64;
  params.keys.kv_heads = 2;
  params.keys.block_bytes = 2 * 16 * 64 * 2;
  params.keys.pool = reinterpret_cast<const std::byte*>(words);
  params.keys.table = reinterpret_cast<const float*>(words);
  params.keys.tiles = reinterpret_cast<const RotateTile*>(words);
  params.keys.tile_count = words;
  params.keys.tiles_max = 1;
  std::uint16_t scratch = 0;
  params.keys.scratch = &scratch;
  params.q_heads = 3;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "q_heads is 3");
  params.q_heads = 4;
  params.rows_max = 1;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "layer_offset is 0");
  params.keys.block_bytes *= 2;
  params.scale = INFINITY;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "scale is not finite");
  params.scale = 1;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "a pointer is null");
}

}  // namespace
}  // namespace cairn::test
