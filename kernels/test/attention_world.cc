#include "kernels/test/attention_world.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "kernels/reference/attend_ref.h"
#include "kernels/reference/rotate_ref.h"
#include "kernels/sk/number_soft.h"
#include "kernels/test/device_memory.h"
#include "kernels/test/random_matrix.h"

namespace cairn::test {
namespace {

using kernels::AttendRow;
using kernels::ElementType;
using kernels::kTileTokens;
using kernels::RotateTile;

constexpr std::uint32_t kSlotsPerPool = World::kSlots;
constexpr float kGuard = -7.0f;
constexpr std::size_t kGuards = 64;

reference::Rotary RotaryOf(const AttentionShape& shape) {
  return {shape.head_dim, shape.rotary_dim, shape.pairs == kernels::RotaryPairs::kAdjacent,
          10000.0};
}
bool IsF16(const AttentionShape& shape) { return shape.element == ElementType::kF16; }

// Rows of positions that a kernel may read, NaN in all others.
std::vector<float> PoisonedTable(const World& world) {
  std::vector<float> table = reference::RotaryTable(RotaryOf(world.shape), World::kPositions);
  std::vector<bool> is_used(World::kPositions, false);
  std::fill(is_used.begin(), is_used.begin() + kTileTokens, true);
  for (const RotateTile& tile : world.tiles) is_used[tile.position] = true;
  for (const AttendRow& row : world.rows) is_used[row.position] = true;
  const std::uint32_t width = world.shape.rotary_dim;
  for (std::uint32_t p = 0; p < World::kPositions; ++p) {
    if (!is_used[p]) std::fill_n(table.begin() + std::ptrdiff_t{p} * width, width, NAN);
  }
  return table;
}

// The world on an emulated device.
struct Loaded {
  Loaded(const World& world, const RunOptions& options);

  TestDevice device;
  rt::Buffer pool, table, tiles, rows, counts, q, scratch, out;
  kernels::AttendParams params;
};

Loaded::Loaded(const World& world, const RunOptions& options) : device(options.seed) {
  const AttentionShape& shape = world.shape;
  const auto row_count = static_cast<std::uint32_t>(world.rows.size());
  const auto tile_count = static_cast<std::uint32_t>(world.tiles.size());
  const std::size_t tile_values = std::size_t{shape.kv_heads} * kTileTokens * shape.head_dim;
  pool = device.Make(world.pool);
  table = device.Make(PoisonedTable(world));
  tiles = device.Make(world.tiles);
  rows = device.Make(world.rows);
  counts = device.Make(std::vector<std::uint32_t>{tile_count, row_count});
  q = device.Make(world.q);
  scratch = device.Make(std::vector<std::uint16_t>((tile_count + 1) * tile_values, 0x7fff));
  out = device.Make(std::vector<float>(world.q.size() + 2 * kGuards, kGuard));
  kernels::RotateParams& keys = params.keys;
  keys.pool = pool.bytes();
  keys.block_bytes = world.block_values() * 2;
  keys.layer_offset = keys.block_bytes / World::kLayers * World::kLayer;
  keys.block_tokens = shape.block_tokens;
  keys.kv_heads = shape.kv_heads;
  keys.head_dim = shape.head_dim;
  keys.rotary_dim = shape.rotary_dim;
  keys.pairs = shape.pairs;
  keys.element = shape.element;
  keys.table = table.as<float>();
  keys.positions = World::kPositions;
  keys.tiles = tiles.as<RotateTile>();
  keys.tile_count = counts.as<std::uint32_t>();
  keys.tiles_max = tile_count + 1;
  keys.scratch = scratch.as<std::uint16_t>();
  params.q = q.as<std::uint16_t>();
  params.out = out.as<float>() + kGuards;
  params.q_heads = shape.q_heads;
  params.scale = options.scale;
  params.rows = rows.as<AttendRow>();
  params.row_count = counts.as<std::uint32_t>() + 1;
  params.rows_max = row_count + 1;
}

void Decode(Loaded& loaded, std::span<const AttendRow> rows, kernels::KeysFrom from,
            const RunOptions& options) {
  const kernels::DecodePlan plan = kernels::PlanDecode(rows);
  const auto room =
      options.items_max ? *options.items_max : static_cast<std::uint32_t>(plan.items.size() + 1);
  const std::size_t results = std::size_t{room} * loaded.params.q_heads;
  rt::Buffer items = loaded.device.Make(plan.items);
  rt::Buffer first_items = loaded.device.Make(plan.first_items);
  rt::Buffer counts = loaded.device.Make(std::vector<std::uint32_t>{
      static_cast<std::uint32_t>(plan.items.size()), static_cast<std::uint32_t>(rows.size())});
  const std::size_t out_values = results * loaded.params.keys.head_dim;
  rt::Buffer out = loaded.device.Make(std::vector<float>(out_values + 2 * kGuards, NAN));
  rt::Buffer softmax = loaded.device.Make(std::vector<float>(results * 2 + 2 * kGuards, NAN));
  kernels::DecodeParams params;
  params.rows = loaded.params;
  params.rows.row_count = counts.as<std::uint32_t>() + 1;
  params.keys_from = from;
  if (from == kernels::KeysFrom::kPool) params.rows.keys.scratch = nullptr;
  params.items = items.as<kernels::DecodeItem>();
  params.item_count = counts.as<std::uint32_t>();
  params.first_items = first_items.as<std::uint32_t>();
  params.items_max = room;
  params.partial_out = out.as<float>() + kGuards;
  params.partial_softmax = softmax.as<float>() + kGuards;
  params.blocks = options.blocks;
  SK_EXPECT_EQ(kernels::AttendDecode(loaded.device.stream(), params).message(), "");
  const auto is_untouched = [](const std::vector<float>& values, std::size_t begin,
                               std::size_t end) {
    return std::all_of(values.begin() + static_cast<std::ptrdiff_t>(begin),
                       values.begin() + static_cast<std::ptrdiff_t>(end),
                       [](float x) { return std::isnan(x); });
  };
  const std::vector<float> outs = loaded.device.Read<float>(out);
  const std::vector<float> sums = loaded.device.Read<float>(softmax);
  SK_EXPECT(is_untouched(outs, 0, kGuards));
  SK_EXPECT(is_untouched(outs, outs.size() - kGuards, outs.size()));
  SK_EXPECT(is_untouched(sums, 0, kGuards));
  SK_EXPECT(is_untouched(sums, sums.size() - kGuards, sums.size()));
}

// A scratch of SwizzleTiles, poisoned, as the parameters' own.
rt::Buffer UseSwizzledScratch(Loaded& loaded) {
  rt::Buffer scratch = loaded.device.Make(
      std::vector<std::uint16_t>(loaded.scratch.size() / sizeof(std::uint16_t) * 2, 0x7fff));
  loaded.params.keys.scratch = scratch.as<std::uint16_t>();
  return scratch;
}

using PrefillLauncher = rt::Status (*)(rt::Stream&, const kernels::PrefillParams&);
void Prefill(Loaded& loaded, const World& world, std::uint32_t first_row, const RunOptions& options,
             std::uint32_t rows_max = kernels::kQueryTileRows,
             PrefillLauncher launch = kernels::AttendPrefill) {
  std::vector<kernels::QueryTile> plan =
      options.query_tiles ? *options.query_tiles
                          : kernels::PlanQueryTiles(world.rows, first_row, rows_max);
  rt::Buffer query_tiles = loaded.device.Make(plan);
  rt::Buffer count =
      loaded.device.Make(std::vector<std::uint32_t>{static_cast<std::uint32_t>(plan.size())});
  kernels::PrefillParams params;
  params.rows = loaded.params;
  params.query_tiles = query_tiles.as<kernels::QueryTile>();
  params.query_tile_count = count.as<std::uint32_t>();
  params.query_tiles_max = static_cast<std::uint32_t>(plan.size()) + 1;
  SK_EXPECT_EQ(launch(loaded.device.stream(), params).message(), "");
  SK_EXPECT_EQ(loaded.device.stream().Synchronize().message(), "");  // before its lists go
}

}  // namespace

// ---- World --------------------------------------------------------------------------------------

World::World(const AttentionShape& shape, std::uint64_t seed) : shape(shape), random_(seed) {
  pool.assign(block_values() * kSlots, 0xffff);
}

std::uint16_t World::RandomBits() {
  const float x = 2 * RandomUnit(random_);
  return IsF16(shape) ? sk::soft::RoundF16(x) : sk::soft::RoundBf16(x);
}

std::size_t World::At(std::uint32_t tile, std::uint32_t token, bool is_v,
                      std::uint32_t head) const {
  const std::uint32_t slot = tiles[tile].slots[token / shape.block_tokens];
  const std::size_t plane = std::size_t{kLayer} * 2 * shape.kv_heads + (is_v ? shape.kv_heads : 0);
  return slot * block_values() +
         ((plane + head) * shape.block_tokens + token % shape.block_tokens) * shape.head_dim;
}

std::uint32_t World::AddSegment(std::uint32_t tokens, std::uint32_t position) {
  const auto first = static_cast<std::uint32_t>(tiles.size());
  for (std::uint32_t begin = 0; begin < tokens; begin += kTileTokens) {
    RotateTile tile{{999, 999, 999, 999}, std::min(kTileTokens, tokens - begin), position + begin};
    for (std::uint32_t i = 0; i * shape.block_tokens < tile.tokens; ++i) {
      SK_EXPECT(next_slot_ < kSlotsPerPool);
      tile.slots[i] = next_slot_++ * 7 % kSlotsPerPool;
    }
    tiles.push_back(tile);
    const auto index = static_cast<std::uint32_t>(tiles.size() - 1);
    for (std::uint32_t token = 0; token < tile.tokens; ++token) {
      for (std::uint32_t head = 0; head < 2 * shape.kv_heads; ++head) {
        const std::size_t at = At(index, token, head >= shape.kv_heads, head % shape.kv_heads);
        for (std::uint32_t i = 0; i < shape.head_dim; ++i) pool[at + i] = RandomBits();
      }
    }
  }
  return first;
}

std::uint32_t World::AddView(std::uint32_t first, std::uint32_t count, std::uint32_t position) {
  const auto view = static_cast<std::uint32_t>(tiles.size());
  for (std::uint32_t i = 0; i < count; ++i) {
    RotateTile tile = tiles[first + i];
    tile.position = tile.position - tiles[first].position + position;
    tiles.push_back(tile);
  }
  return view;
}

void World::AddRow(const AttendRow& row) {
  rows.push_back(row);
  for (std::size_t i = 0; i < row_values(); ++i) q.push_back(RandomBits());
}

void World::AddRows(std::uint32_t first, std::uint32_t begin, std::uint32_t end,
                    std::uint32_t position) {
  std::uint32_t tile = first, before = 0;  // tokens of the tiles before `tile`
  for (std::uint32_t token = begin; token < end; ++token) {
    while (token >= before + tiles[tile].tokens) before += tiles[tile++].tokens;
    AddRow({first, tile - first + 1, token - before + 1, position + token - begin});
  }
}

World World::UpTo(std::size_t count) const {
  World part = *this;
  const std::uint32_t end = rows[count - 1].position + 1;
  while (part.tiles.back().position >= end) part.tiles.pop_back();
  RotateTile& last = part.tiles.back();
  const auto index = static_cast<std::uint32_t>(part.tiles.size() - 1);
  for (std::uint32_t token = end - last.position; token < last.tokens; ++token) {
    for (std::uint32_t head = 0; head < 2 * shape.kv_heads; ++head) {
      const std::size_t at = At(index, token, head >= shape.kv_heads, head % shape.kv_heads);
      std::fill_n(part.pool.begin() + static_cast<std::ptrdiff_t>(at), shape.head_dim, 0xffff);
    }
  }
  last.tokens = end - last.position;
  part.rows.resize(count);
  part.q.resize(count * row_values());
  return part;
}

World World::From(std::size_t row) const {
  World part = *this;
  part.rows.erase(part.rows.begin(), part.rows.begin() + static_cast<std::ptrdiff_t>(row));
  part.q.erase(part.q.begin(), part.q.begin() + static_cast<std::ptrdiff_t>(row * row_values()));
  return part;
}

std::vector<double> World::Widened(const std::uint16_t* bits) const {
  std::vector<double> values(shape.head_dim);
  for (std::uint32_t i = 0; i < shape.head_dim; ++i) {
    values[i] = IsF16(shape) ? sk::soft::FromF16(bits[i]) : sk::soft::FromBf16(bits[i]);
  }
  return values;
}

std::vector<double> World::Turned(const std::uint16_t* bits, std::uint32_t position) const {
  std::vector<double> turned = reference::Rotated(RotaryOf(shape), Widened(bits), position);
  for (double& x : turned) {
    const auto narrow = static_cast<float>(x);
    x = IsF16(shape) ? sk::soft::FromF16(sk::soft::RoundF16(narrow))
                     : sk::soft::FromBf16(sk::soft::RoundBf16(narrow));
  }
  return turned;
}

std::vector<double> World::Expected(const AttendRow& row, std::size_t q_at, std::uint32_t head,
                                    double scale) const {
  std::vector<std::vector<double>> keys, values;
  for (std::uint32_t i = 0; i < row.tile_count; ++i) {
    const std::uint32_t index = row.first_tile + i;
    const bool is_last = i + 1 == row.tile_count;
    const std::uint32_t all = tiles[index].tokens;
    for (std::uint32_t token = 0; token < (is_last ? row.last_tokens : all); ++token) {
      keys.push_back(
          Turned(pool.data() + At(index, token, false, head), tiles[index].position + token));
      values.push_back(Widened(pool.data() + At(index, token, true, head)));
    }
  }
  return reference::Attend(Turned(q.data() + q_at, row.position), keys, values, scale);
}

double World::bound() const {
  // Values are below 2: weights that are off by half a last place, and 1e-3 for a key or a query
  // whose rounding went to the other neighbour.
  return 2.0 * (IsF16(shape) ? 0x1p-12 : 0x1p-9) + 1e-3;
}

std::vector<double> World::ExpectedAll(double scale) const {
  std::vector<double> all;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::uint32_t head = 0; head < shape.q_heads; ++head) {
      const std::uint32_t kv_head = head / (shape.q_heads / shape.kv_heads);
      const std::vector<double> one =
          Expected(rows[i], (i * shape.q_heads + head) * shape.head_dim, kv_head, scale);
      all.insert(all.end(), one.begin(), one.end());
    }
  }
  return all;
}

// ---- Running ------------------------------------------------------------------------------------

bool IsPossible(const AttentionShape& shape, Way way) {
  if (way == Way::kSimple) return true;
  const std::uint32_t dim = shape.head_dim, rotary = shape.rotary_dim;
  const bool is_turned = dim == 128 ? rotary == 64 || rotary == 128 : rotary == 64;
  if (way == Way::kDecodeFromPool && !is_turned) return false;
  const bool is_prefill = way == Way::kPrefill || way == Way::kPrefillWgmma;
  const bool is_group = is_prefill || shape.q_heads / shape.kv_heads <= 8;
  return is_group && (dim == 64 || dim == 128 || dim == 256) && rotary % 4 == 0;
}

std::vector<float> RunAttention(const World& world, Way way, const RunOptions& options) {
  Loaded loaded(world, options);
  rt::Buffer swizzled;
  if (way == Way::kPrefillWgmma) {
    swizzled = UseSwizzledScratch(loaded);
    SK_EXPECT_EQ(kernels::SwizzleTiles(loaded.device.stream(), loaded.params.keys).message(), "");
  } else if (way != Way::kDecodeFromPool) {
    SK_EXPECT_EQ(kernels::RotateKeys(loaded.device.stream(), loaded.params.keys).message(), "");
  }
  if (way == Way::kSimple) {
    SK_EXPECT_EQ(kernels::AttendRows(loaded.device.stream(), loaded.params).message(), "");
  } else if (way == Way::kPrefill) {
    Prefill(loaded, world, 0, options);
  } else if (way == Way::kPrefillWgmma) {
    Prefill(loaded, world, 0, options, kernels::WgmmaQueryTileRows(world.shape.head_dim),
            kernels::AttendPrefillWgmma);
  } else if (way == Way::kMixed) {
    const std::span<const AttendRow> rows = world.rows;
    Decode(loaded, rows.first(options.decoding_rows), kernels::KeysFrom::kPool, options);
    Prefill(loaded, world, options.decoding_rows, options);
  } else {
    const bool is_from_pool = way == Way::kDecodeFromPool;
    Decode(loaded, world.rows,
           is_from_pool ? kernels::KeysFrom::kPool : kernels::KeysFrom::kScratch, options);
  }
  std::vector<float> got = loaded.device.Read<float>(loaded.out);
  for (std::size_t i = 0; i < kGuards; ++i) {
    SK_EXPECT_EQ(got[i], kGuard);
    SK_EXPECT_EQ(got[got.size() - 1 - i], kGuard);
  }
  return {got.begin() + kGuards, got.end() - kGuards};
}

std::vector<std::uint16_t> RunRotateKeys(const World& world, std::uint64_t seed) {
  Loaded loaded(world, {.seed = seed});
  SK_EXPECT_EQ(kernels::RotateKeys(loaded.device.stream(), loaded.params.keys).message(), "");
  return loaded.device.Read<std::uint16_t>(loaded.scratch);
}

std::vector<std::uint16_t> RunSwizzleTiles(const World& world, std::uint64_t seed, bool is_simple) {
  Loaded loaded(world, {.seed = seed});
  const rt::Buffer swizzled = UseSwizzledScratch(loaded);
  const auto run = is_simple ? kernels::SwizzleTilesSimply : kernels::SwizzleTiles;
  SK_EXPECT_EQ(run(loaded.device.stream(), loaded.params.keys).message(), "");
  return loaded.device.Read<std::uint16_t>(swizzled);
}

World MakeWorld(const AttentionShape& shape, std::uint64_t seed) {
  World world(shape, seed);
  // Segments of 100 and 70 tokens: rows at both ends of tiles and segments.
  const std::uint32_t first = world.AddSegment(100, 0);
  world.AddSegment(70, 100);
  world.AddRow({first, 3, 1, 100});
  world.AddRow({first, 3, 64, 163});
  world.AddRow({first, 4, 6, 169});
  world.AddRow({first, 3, 63, 162});
  // Five tiles, so two splits; the second's only tile is short.
  const std::uint32_t second = world.AddSegment(300, 512);
  world.AddRow({second, 5, 44, 811});
  world.AddRow({second, 1, 1, 512});
  world.AddRow({second, 0, 0, 0});
  // A span by itself, and inside a prompt behind another segment.
  const std::uint32_t span = world.AddSegment(20, 0);
  world.AddRows(span, 18, 20, 18);
  const std::uint32_t prompt = world.AddSegment(33, 0);
  world.AddView(span, 1, 33);
  world.AddRow({prompt, 2, 20, 60});
  return world;
}

}  // namespace cairn::test
