#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>

#include "kernels/attention/decode.h"
#include "kernels/attention/prefill_wgmma.h"
#include "kernels/gpu/timing.h"
#include "kernels/reference/rotate_ref.h"

// Attention of one layer, by the fast kernels, over a pool of random K and V in blocks of 64 tokens
// that lie anywhere. All sums of bytes count what must move at least.

namespace cairn::gpu {
namespace {

using kernels::AttendParams;
using kernels::AttendRow;
using kernels::kTileTokens;
using kernels::RotateTile;

constexpr std::uint32_t kBlockTokens = 64;

struct Heads {
  std::uint32_t q, kv, dim;
};

// The plan, which all sets of buffers share.
struct Plan {
  std::vector<RotateTile> tiles;
  std::vector<AttendRow> rows;
};

// One request's tiles: `tokens` tokens, positions from 0 on; its slots come from `slots`.
std::uint32_t AddTiles(Plan& plan, std::uint32_t tokens, std::span<const std::uint32_t> slots) {
  const auto first = static_cast<std::uint32_t>(plan.tiles.size());
  for (std::uint32_t begin = 0; begin < tokens; begin += kTileTokens) {
    const std::uint32_t slot = slots[plan.tiles.size()];
    plan.tiles.push_back({{slot, 0, 0, 0}, std::min(kTileTokens, tokens - begin), begin});
  }
  return first;
}

std::uint32_t TilesOf(std::uint32_t tokens) { return (tokens + kTileTokens - 1) / kTileTokens; }

// The row of the token at `position`, which sees itself and all before it.
AttendRow RowAt(std::uint32_t first_tile, std::uint32_t position) {
  return {first_tile, position / kTileTokens + 1, position % kTileTokens + 1, position};
}

// Uploaded once.
struct PlanBuffers {
  PlanBuffers(Memory& memory, const Plan& plan, const Heads& heads, std::uint32_t positions)
      : tiles(memory.Upload(plan.tiles)),
        rows(memory.Upload(plan.rows)),
        counts(memory.Upload(
            std::vector<std::uint32_t>{static_cast<std::uint32_t>(plan.tiles.size()),
                                       static_cast<std::uint32_t>(plan.rows.size())})),
        table(memory.Upload(
            reference::RotaryTable({heads.dim, heads.dim, false, 500000.0}, positions))),
        positions(positions) {}
  rt::Buffer tiles, rows, counts, table;
  std::uint32_t positions;
};

// The rows of a plan, up to rows_max at a time; uploaded once.
struct QueryList {
  QueryList(Memory& memory, const Plan& plan, std::uint32_t rows_max) {
    const std::vector<kernels::QueryTile> list = kernels::PlanQueryTiles(plan.rows, 0, rows_max);
    size = static_cast<std::uint32_t>(list.size());
    tiles = memory.Upload(list);
    count = memory.Upload(std::vector<std::uint32_t>{size});
  }
  void Use(kernels::PrefillParams& params) const {
    params.query_tiles = tiles.as<kernels::QueryTile>();
    params.query_tile_count = count.as<std::uint32_t>();
    params.query_tiles_max = size;
  }
  rt::Buffer tiles, count;
  std::uint32_t size;
};

// What is rotated from run to run.
struct Set {
  rt::Buffer pool, scratch, q, out;
};

struct Bytes {
  std::size_t pool, scratch, q, out;
  std::size_t all() const { return pool + scratch + q + out; }
};
Bytes BytesOf(const Plan& plan, const Heads& heads) {
  const std::size_t tile = std::size_t{heads.kv} * kTileTokens * heads.dim * 2;
  const std::size_t row = std::size_t{heads.q} * heads.dim;
  return {plan.tiles.size() * tile * 2, plan.tiles.size() * tile, plan.rows.size() * row * 2,
          plan.rows.size() * row * 4};
}

std::vector<Set> MakeSets(Bench& bench, Memory& memory, const Plan& plan, const Heads& heads) {
  const Bytes bytes = BytesOf(plan, heads);
  std::vector<Set> sets(bench.Sets(bytes.all()));
  std::uint32_t seed = 100;
  for (Set& set : sets) {
    set.pool = memory.Random(bytes.pool, seed++);
    set.scratch = memory.Random(bytes.scratch, seed++);
    set.q = memory.Random(bytes.q, seed++);
    set.out = memory.Empty(bytes.out);
  }
  return sets;
}

AttendParams ParamsOf(const Plan& plan, const PlanBuffers& buffers, const Heads& heads,
                      const Set& set) {
  AttendParams params;
  kernels::RotateParams& keys = params.keys;
  keys.pool = set.pool.bytes();
  keys.block_bytes = std::uint64_t{2} * heads.kv * kBlockTokens * heads.dim * 2;
  keys.block_tokens = kBlockTokens;
  keys.kv_heads = heads.kv;
  keys.head_dim = keys.rotary_dim = heads.dim;
  keys.table = buffers.table.as<float>();
  keys.positions = buffers.positions;
  keys.tiles = buffers.tiles.as<RotateTile>();
  keys.tile_count = buffers.counts.as<std::uint32_t>();
  keys.tiles_max = static_cast<std::uint32_t>(plan.tiles.size());
  keys.scratch = set.scratch.as<std::uint16_t>();
  params.q = set.q.as<std::uint16_t>();
  params.out = set.out.as<float>();
  params.q_heads = heads.q;
  params.scale = 1.0f / std::sqrt(static_cast<float>(heads.dim));
  params.rows = buffers.rows.as<AttendRow>();
  params.row_count = buffers.counts.as<std::uint32_t>() + 1;
  params.rows_max = static_cast<std::uint32_t>(plan.rows.size());
  return params;
}

// The first set's output after one run.
rt::Result<std::vector<std::byte>> OutputOf(Bench& bench, const Operation& run, const Set& set) {
  Memory memory(bench);
  const rt::Buffer host = memory.Pinned(set.out.size());
  if (!memory.status().ok()) return memory.status();
  memory.Check(bench.stream().FillAsync(set.out.bytes(), 0xff, set.out.size()));
  memory.Check(run(bench.stream()));
  memory.Check(bench.stream().CopyAsync(host.bytes(), set.out.bytes(), set.out.size()));
  memory.Check(bench.stream().Synchronize());
  if (!memory.status().ok()) return memory.status();
  return std::vector<std::byte>(host.bytes(), host.bytes() + set.out.size());
}

// Whether two ways write the same bits, at a size that no emulator could do.
rt::Status CompareOutputs(Bench& bench, const std::string& group, const Variant& one,
                          const Variant& other, const Set& set) {
  rt::Result<std::vector<std::byte>> a = OutputOf(bench, one.runs[0], set);
  if (!a.ok()) return a.status();
  rt::Result<std::vector<std::byte>> b = OutputOf(bench, other.runs[0], set);
  if (!b.ok()) return b.status();
  if (*a != *b) return rt::Status(one.name + " and " + other.name + " differ in their bits");
  bench.Say(group, "bits", "same", one.name + " = " + other.name);
  return rt::Status();
}

std::string NameOf(const Heads& heads) {
  return std::to_string(heads.q) + "/" + std::to_string(heads.kv) +
         " heads, D=" + std::to_string(heads.dim);
}

}  // namespace

rt::Status TimeDecode(Bench& bench, const AttentionSize& size) {
  const Heads heads{size.q_heads, size.kv_heads, size.head_dim};
  const std::string group = "decode B=" + std::to_string(size.requests) + " x " +
                            std::to_string(size.tokens) + ", " + NameOf(heads);
  Plan plan;
  const std::vector<std::uint32_t> slots = ScatteredSlots(size.requests * TilesOf(size.tokens));
  for (std::uint32_t i = 0; i < size.requests; ++i) {
    plan.rows.push_back(RowAt(AddTiles(plan, size.tokens, slots), size.tokens - 1));
  }
  const kernels::DecodePlan items = kernels::PlanDecode(plan.rows);
  const auto item_count = static_cast<std::uint32_t>(items.items.size());
  Memory memory(bench);
  const PlanBuffers buffers(memory, plan, heads, std::max(size.tokens, kTileTokens));
  const rt::Buffer item_list = memory.Upload(items.items);
  const rt::Buffer first_items = memory.Upload(items.first_items);
  const rt::Buffer count = memory.Upload(std::vector<std::uint32_t>{item_count});
  const std::size_t partials = std::size_t{item_count} * heads.q;
  const rt::Buffer partial_out = memory.Empty(partials * heads.dim * 4);
  const rt::Buffer partial_softmax = memory.Empty(partials * 2 * 4);
  const std::vector<Set> sets = MakeSets(bench, memory, plan, heads);
  memory.Check(bench.stream().Synchronize());
  if (!memory.status().ok()) return memory.status();

  const double values = static_cast<double>(size.requests) * size.tokens * heads.kv * heads.dim;
  const Bytes bytes = BytesOf(plan, heads);
  const Work work{.read = 4 * values + static_cast<double>(bytes.q),
                  .written = static_cast<double>(bytes.out),
                  .flops = 4 * values * (heads.q / heads.kv)};
  Variant plain{.name = "plain (keys rotated before)", .work = work};
  Variant unrotated{.name = "unrotated (in registers)", .work = work};
  Variant two{.name = "rotate, then plain", .work = work};
  for (const Set& set : sets) {
    kernels::DecodeParams params;
    params.rows = ParamsOf(plan, buffers, heads, set);
    params.items = item_list.as<kernels::DecodeItem>();
    params.item_count = count.as<std::uint32_t>();
    params.first_items = first_items.as<std::uint32_t>();
    params.items_max = item_count;
    params.partial_out = partial_out.as<float>();
    params.partial_softmax = partial_softmax.as<float>();
    params.blocks = bench.facts().multiprocessors * 2;
    params.keys_from = kernels::KeysFrom::kScratch;
    plain.runs.push_back([params](rt::Stream& stream) { return AttendDecode(stream, params); });
    two.runs.push_back([params](rt::Stream& stream) {
      rt::Status status = RotateKeys(stream, params.rows.keys);
      return status.ok() ? AttendDecode(stream, params) : status;
    });
    params.keys_from = kernels::KeysFrom::kPool;
    unrotated.runs.push_back([params](rt::Stream& stream) { return AttendDecode(stream, params); });
  }
  rt::Result<std::vector<Timing>> timings = bench.Time(group, {plain, unrotated, two});
  if (!timings.ok() || timings->empty()) return timings.status();
  return CompareOutputs(bench, group, two, unrotated, sets[0]);
}

rt::Status TimePrefill(Bench& bench, const PrefillSize& size) {
  const Heads heads{size.q_heads, size.kv_heads, size.head_dim};
  const std::string group = "prefill " + std::to_string(size.new_tokens) + " of " +
                            std::to_string(size.context) + ", " + NameOf(heads);
  Plan plan;
  const std::uint32_t first = AddTiles(plan, size.context, ScatteredSlots(TilesOf(size.context)));
  double seen = 0;
  for (std::uint32_t i = size.context - size.new_tokens; i < size.context; ++i) {
    plan.rows.push_back(RowAt(first, i));
    seen += i + 1;
  }
  Memory memory(bench);
  const PlanBuffers buffers(memory, plan, heads, std::max(size.context, kTileTokens));
  const QueryList tiles(memory, plan, kernels::kQueryTileRows);
  const QueryList wgmma_tiles(memory, plan, kernels::WgmmaQueryTileRows(heads.dim));
  const std::vector<Set> sets = MakeSets(bench, memory, plan, heads);
  const Bytes bytes = BytesOf(plan, heads);
  std::vector<rt::Buffer> swizzled;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    swizzled.push_back(memory.Random(2 * bytes.scratch, static_cast<std::uint32_t>(500 + i)));
  }
  memory.Check(bench.stream().Synchronize());
  if (!memory.status().ok()) return memory.status();

  const Work work{.read = static_cast<double>(bytes.pool + bytes.q),
                  .written = static_cast<double>(bytes.out),
                  .flops = 4 * seen * heads.q * heads.dim};
  Variant alone{.name = "attention alone (keys rotated before)", .work = work};
  Variant both{.name = "rotate, then attention", .work = work};
  Variant wgmma{.name = "wgmma alone (tiles swizzled before)", .work = work};
  Variant both_wgmma{.name = "swizzle, then wgmma", .work = work};
  for (std::size_t i = 0; i < sets.size(); ++i) {
    kernels::PrefillParams params;
    params.rows = ParamsOf(plan, buffers, heads, sets[i]);
    tiles.Use(params);
    alone.runs.push_back([params](rt::Stream& stream) { return AttendPrefill(stream, params); });
    both.runs.push_back([params](rt::Stream& stream) {
      rt::Status status = RotateKeys(stream, params.rows.keys);
      return status.ok() ? AttendPrefill(stream, params) : status;
    });
    wgmma_tiles.Use(params);
    params.rows.keys.scratch = swizzled[i].as<std::uint16_t>();
    wgmma.runs.push_back(
        [params](rt::Stream& stream) { return AttendPrefillWgmma(stream, params); });
    both_wgmma.runs.push_back([params](rt::Stream& stream) {
      rt::Status status = SwizzleTiles(stream, params.rows.keys);
      return status.ok() ? AttendPrefillWgmma(stream, params) : status;
    });
  }
  return bench.Time(group, {alone, both, wgmma, both_wgmma}).status();
}

}  // namespace cairn::gpu
