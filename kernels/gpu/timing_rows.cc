#include <algorithm>
#include <cmath>

#include "kernels/copy/exchange.h"
#include "kernels/gpu/timing.h"
#include "kernels/rows/elements.h"
#include "kernels/rows/embed.h"
#include "kernels/rows/kv_rows.h"
#include "kernels/rows/norm.h"
#include "kernels/rows/sample.h"

// The rest of a step: what works on rows of a hidden state, of keys and values, of logits; and the
// exchange of blocks with an engine that holds rotated keys.

namespace cairn::gpu {
namespace {

std::string GroupOf(std::uint32_t rows) { return std::to_string(rows) + " rows"; }

// Kernels from one buffer into another: a variant whose sets of both are rotated.
struct InOut {
  std::string name;
  std::uint64_t in_bytes, out_bytes;  // of a set
  double read, written;
};
using RunOn = std::function<rt::Status(rt::Stream&, const rt::Buffer& in, const rt::Buffer& out,
                                       std::uint32_t set)>;

rt::Status TimeInOut(Bench& bench, std::uint32_t rows, const InOut& sizes, const RunOn& run) {
  Memory memory(bench);
  std::vector<std::pair<rt::Buffer, rt::Buffer>> sets(bench.Sets(sizes.in_bytes + sizes.out_bytes));
  std::uint32_t seed = 800;
  for (auto& [in, out] : sets) {
    in = memory.Random(sizes.in_bytes, seed++);
    out = memory.Empty(sizes.out_bytes);
  }
  memory.Check(bench.stream().Synchronize());
  if (!memory.status().ok()) return memory.status();
  Variant variant{.name = sizes.name, .work = {.read = sizes.read, .written = sizes.written}};
  for (std::uint32_t i = 0; i < sets.size(); ++i) {
    variant.runs.push_back([&run, &set = sets[i], i](rt::Stream& stream) {
      return run(stream, set.first, set.second, i);
    });
  }
  return bench.Time(GroupOf(rows), {variant}).status();
}

rt::Status TimeHidden(Bench& bench, const RowSizes& sizes, std::uint32_t rows) {
  Memory memory(bench);
  const rt::Buffer count = memory.Upload(std::vector<std::uint32_t>{rows});
  const rt::Buffer weight = memory.Random(std::size_t{sizes.hidden} * 4, 790);
  memory.Check(bench.stream().Synchronize());
  if (!memory.status().ok()) return memory.status();
  const std::uint64_t values = std::uint64_t{rows} * sizes.hidden;
  const std::uint64_t gated = std::uint64_t{rows} * sizes.intermediate;
  const InOut norm{"norm, " + std::to_string(sizes.hidden) + " wide", values * 4, values * 2,
                   static_cast<double>((values + sizes.hidden) * 4),
                   static_cast<double>(values * 2)};
  rt::Status status = TimeInOut(
      bench, rows, norm,
      [&](rt::Stream& stream, const rt::Buffer& in, const rt::Buffer& out, std::uint32_t) {
        kernels::NormParams params;
        params.x = in.as<float>();
        params.weight = weight.as<float>();
        params.y = out.as<std::uint16_t>();
        params.width = sizes.hidden;
        params.epsilon = 1e-5f;
        params.row_count = count.as<std::uint32_t>();
        params.rows_max = rows;
        return NormRows(stream, params);
      });
  if (!status.ok()) return status;
  const InOut swiglu{"SwiGLU, " + std::to_string(sizes.intermediate) + " wide", gated * 8,
                     gated * 2, static_cast<double>(gated * 8), static_cast<double>(gated * 2)};
  return TimeInOut(
      bench, rows, swiglu,
      [&](rt::Stream& stream, const rt::Buffer& in, const rt::Buffer& out, std::uint32_t) {
        kernels::ElementsParams params;
        params.x = in.as<float>();
        params.y = out.as<std::uint16_t>();
        params.width = sizes.intermediate;
        params.row_count = count.as<std::uint32_t>();
        params.rows_max = rows;
        return SwigluRows(stream, params);
      });
}

// Tokens from all over the vocabulary, and their logits.
rt::Status TimeTokens(Bench& bench, const RowSizes& sizes, std::uint32_t rows) {
  Memory memory(bench);
  const std::uint64_t values = std::uint64_t{rows} * sizes.hidden;
  const rt::Buffer count = memory.Upload(std::vector<std::uint32_t>{rows});
  const rt::Buffer table = memory.Random(std::size_t{sizes.vocabulary} * sizes.hidden * 2, 791);
  const std::vector<std::uint32_t> scattered = ScatteredSlots(sizes.vocabulary);
  const rt::Buffer tokens = memory.Upload(scattered);
  memory.Check(bench.stream().Synchronize());
  if (!memory.status().ok()) return memory.status();
  // Its input is the table: of a set's own, 4 bytes that nobody reads.
  const InOut embed{"embed, " + std::to_string(sizes.hidden) + " wide", 4, values * 4,
                    static_cast<double>(values * 2), static_cast<double>(values * 4)};
  rt::Status status = TimeInOut(
      bench, rows, embed,
      [&](rt::Stream& stream, const rt::Buffer&, const rt::Buffer& out, std::uint32_t set) {
        kernels::EmbedParams params;
        params.table = table.as<std::uint16_t>();
        params.tokens =
            tokens.as<std::uint32_t>() + std::uint64_t{set} * rows % (sizes.vocabulary - rows + 1);
        params.x = out.as<float>();
        params.width = sizes.hidden;
        params.row_count = count.as<std::uint32_t>();
        params.rows_max = rows;
        return EmbedRows(stream, params);
      });
  if (!status.ok()) return status;
  const std::uint64_t logits = std::uint64_t{rows} * sizes.vocabulary;
  const std::uint64_t summaries = std::uint64_t{rows} * sizeof(kernels::LogitSummary);
  const InOut sample{"sample, of " + std::to_string(sizes.vocabulary), logits * 4, summaries,
                     static_cast<double>(logits * 4), static_cast<double>(summaries)};
  return TimeInOut(
      bench, rows, sample,
      [&](rt::Stream& stream, const rt::Buffer& in, const rt::Buffer& out, std::uint32_t) {
        kernels::SampleParams params;
        params.logits = in.as<float>();
        params.summaries = out.as<kernels::LogitSummary>();
        params.vocabulary = sizes.vocabulary;
        params.row_count = count.as<std::uint32_t>();
        params.rows_max = rows;
        return SummarizeLogits(stream, params);
      });
}

kernels::KvBlocks BlocksOf(const RowSizes& sizes, const rt::Buffer& pool) {
  kernels::KvBlocks blocks;
  blocks.pool = pool.bytes();
  blocks.block_tokens = sizes.block_tokens;
  blocks.kv_heads = sizes.kv_heads;
  blocks.head_dim = sizes.head_dim;
  blocks.layers = sizes.layers;
  blocks.block_bytes =
      std::uint64_t{sizes.layers} * 2 * sizes.kv_heads * sizes.block_tokens * sizes.head_dim * 2;
  return blocks;
}

std::uint32_t BlockCount(const RowSizes& sizes, std::uint32_t rows) {
  return (rows + sizes.block_tokens - 1) / sizes.block_tokens;
}

// New keys and values: a layer's into the pool, and all layers' from there to pinned memory.
rt::Status TimeKv(Bench& bench, const RowSizes& sizes, std::uint32_t rows) {
  Memory memory(bench);
  const std::uint64_t row_bytes = std::uint64_t{2} * sizes.kv_heads * sizes.head_dim * 2;
  const std::uint64_t bytes = rows * row_bytes;  // of a layer
  // Each set is a layer of one of so many pools, each of which has the rows' blocks.
  const std::uint32_t set_count = bench.Sets(2 * bytes);
  const std::uint32_t pools = (set_count + sizes.layers - 1) / sizes.layers;
  const std::uint32_t blocks = BlockCount(sizes, rows), slots = blocks * pools;
  const std::uint64_t block_bytes = row_bytes * sizes.layers * sizes.block_tokens;
  const rt::Buffer pool = memory.Random(slots * block_bytes, 792);
  const rt::Buffer kv = memory.Random(set_count * bytes, 793);
  const rt::Buffer host = memory.Pinned(blocks * block_bytes);
  const std::vector<std::uint32_t> scattered = ScatteredSlots(slots);
  std::vector<kernels::TokenPlace> places;  // [pool][row]
  std::vector<std::byte*> host_blocks;
  for (std::uint32_t i = 0; i < pools * rows; ++i) {
    const std::uint32_t block = i % rows / sizes.block_tokens;
    places.push_back({scattered[i / rows * blocks + block], i % rows % sizes.block_tokens});
    if (i < rows) host_blocks.push_back(host.bytes() + block * block_bytes);
  }
  const rt::Buffer place_list = memory.Upload(places);
  const rt::Buffer host_list = memory.Upload(host_blocks);
  const rt::Buffer count = memory.Upload(std::vector<std::uint32_t>{rows});
  if (!memory.status().ok()) return memory.status();

  const Work work{.read = static_cast<double>(bytes), .written = static_cast<double>(bytes)};
  Variant store{.name = "StoreKv, a layer", .work = work};
  for (std::uint32_t set = 0; set < set_count; ++set) {
    kernels::StoreKvParams params;
    params.blocks = BlocksOf(sizes, pool);
    params.kv = kv.as<std::uint16_t>() + set * bytes / 2;
    params.places = place_list.as<kernels::TokenPlace>() + set / sizes.layers * rows;
    params.layer = set % sizes.layers;
    params.row_count = count.as<std::uint32_t>();
    params.rows_max = rows;
    store.runs.push_back([params](rt::Stream& stream) { return StoreKv(stream, params); });
  }
  rt::Status status = bench.Time(GroupOf(rows), {store}).status();
  if (!status.ok()) return status;

  const double moved = static_cast<double>(bytes * sizes.layers);
  Variant to_blocks{.name = "TakeKv, all layers to blocks of the host", .moved = moved};
  Variant to_rows{.name = "TakeKv, all layers to rows of the host", .moved = moved};
  for (std::uint32_t i = 0; i < pools; ++i) {
    kernels::TakeKvParams params;
    params.blocks = BlocksOf(sizes, pool);
    params.places = place_list.as<kernels::TokenPlace>() + i * rows;
    params.row_count = count.as<std::uint32_t>();
    params.rows_max = rows;
    params.host_blocks = host_list.as<std::byte*>();
    to_blocks.runs.push_back([params](rt::Stream& stream) { return TakeKv(stream, params); });
    params.host_blocks = nullptr;
    params.rows = host.as<std::uint16_t>();
    to_rows.runs.push_back([params](rt::Stream& stream) { return TakeKv(stream, params); });
  }
  return bench.Time(GroupOf(rows), {to_blocks, to_rows}).status();
}

struct Engine {
  rt::Buffer memory, keys, values;
  kernels::EngineCache cache;
};

// Token-major, K and V of a layer each on their own, as many tokens as `blocks` blocks.
Engine MakeEngine(Memory& memory, const RowSizes& sizes, std::uint32_t blocks) {
  Engine engine;
  engine.cache.layer_count = sizes.layers;
  engine.cache.block_tokens = sizes.block_tokens;
  engine.cache.tokens = blocks * sizes.block_tokens;
  engine.cache.strides = kernels::TokenMajor(sizes.block_tokens, sizes.kv_heads, sizes.head_dim);
  engine.cache.is_aligned = true;
  const std::uint64_t plane = engine.cache.strides.token * engine.cache.tokens;
  engine.memory = memory.Random(plane * 2 * sizes.layers, 794);
  std::vector<std::byte*> keys, values;
  for (std::uint32_t layer = 0; layer < sizes.layers; ++layer) {
    keys.push_back(engine.memory.bytes() + plane * 2 * layer);
    values.push_back(keys.back() + plane);
  }
  engine.keys = memory.Upload(keys);
  engine.values = memory.Upload(values);
  engine.cache.keys = engine.keys.as<std::byte*>();
  engine.cache.values = engine.values.as<std::byte*>();
  return engine;
}

// [position][pair][cos, sin]: real turns, so that keys keep their size on all their ways.
std::vector<float> TableOf(std::uint32_t positions, std::uint32_t rotary_dim) {
  std::vector<float> table;
  for (std::uint32_t i = 0; i < positions * rotary_dim / 2; ++i) {
    const std::uint32_t position = i / (rotary_dim / 2), pair = i % (rotary_dim / 2);
    const double angle = position * std::pow(5e5, -2.0 * pair / rotary_dim);
    table.push_back(static_cast<float>(std::cos(angle)));
    table.push_back(static_cast<float>(std::sin(angle)));
  }
  return table;
}

rt::Status TimeExchange(Bench& bench, const RowSizes& sizes, std::uint32_t rows) {
  Memory memory(bench);
  const std::uint32_t tokens = sizes.block_tokens, blocks = BlockCount(sizes, rows);
  const std::uint64_t row_bytes =
      std::uint64_t{2} * sizes.layers * sizes.kv_heads * sizes.head_dim * 2;
  const std::uint32_t set_count = bench.Sets(2 * blocks * tokens * row_bytes);
  const std::uint32_t slots = blocks * set_count, positions = std::max(64u, blocks * tokens);
  const rt::Buffer pool = memory.Random(slots * tokens * row_bytes, 795);
  const rt::Buffer table = memory.Upload(TableOf(positions, sizes.head_dim));
  const Engine engine = MakeEngine(memory, sizes, slots);
  const std::vector<std::uint32_t> scattered = ScatteredSlots(slots);
  std::vector<kernels::ExchangeBlock> list;  // [set][block]
  std::vector<std::uint32_t> places;         // the engine's blocks lie in another order
  for (std::uint32_t i = 0; i < slots; ++i) {
    const std::uint32_t first = i % blocks * tokens;
    list.push_back({scattered[i], std::min(tokens, rows - first), first / 64 * 64, first % 64});
    for (std::uint32_t t = 0; t < tokens; ++t) {
      places.push_back(scattered[slots - 1 - i] * tokens + t);
    }
  }
  const rt::Buffer block_list = memory.Upload(list), place_list = memory.Upload(places);
  const rt::Buffer words = memory.Upload(std::vector<std::uint32_t>{blocks, 0});
  memory.Check(bench.stream().Synchronize());
  if (!memory.status().ok()) return memory.status();
  const double bytes = static_cast<double>(rows * row_bytes);
  std::vector<Variant> variants;
  for (const std::uint32_t grid : {8u, bench.facts().multiprocessors * 4}) {
    for (const bool is_import : {true, false}) {
      Variant variant{.name = std::string(is_import ? "import" : "export") + " of rotated keys, " +
                              "grid of " + std::to_string(grid),
                      .work = {.read = bytes, .written = bytes}};
      for (std::uint32_t set = 0; set < set_count; ++set) {
        kernels::ExchangeParams params;
        params.blocks = BlocksOf(sizes, pool);
        params.pool_slots = slots;
        params.engine = engine.cache;
        params.rotary_dim = sizes.head_dim;
        params.table = table.as<float>();
        params.positions = positions;
        params.list = block_list.as<kernels::ExchangeBlock>() + set * blocks;
        params.engine_tokens = place_list.as<std::uint32_t>() + std::size_t{set} * blocks * tokens;
        params.count = words.as<std::uint32_t>();
        params.refused = words.as<std::uint32_t>() + 1;
        params.grid = grid;
        variant.runs.push_back([params, is_import](rt::Stream& stream) {
          return is_import ? ImportBlocks(stream, params) : ExportBlocks(stream, params);
        });
      }
      variants.push_back(std::move(variant));
    }
  }
  rt::Status status = bench.Time(GroupOf(rows), variants).status();
  if (!status.ok()) return status;
  const rt::Buffer host = memory.Pinned(8);
  memory.Check(bench.stream().CopyAsync(host.bytes(), words.bytes(), 8));
  memory.Check(bench.stream().Synchronize());
  if (!memory.status().ok()) return memory.status();
  const std::uint32_t refused = host.as<std::uint32_t>()[1];
  return refused == 0 ? rt::Status()
                      : rt::Status("exchange: " + std::to_string(refused) + " blocks refused");
}

}  // namespace

rt::Status TimeRows(Bench& bench, const RowSizes& sizes) {
  for (const std::uint32_t rows : sizes.rows) {
    for (rt::Status (*time)(Bench&, const RowSizes&, std::uint32_t) :
         {TimeHidden, TimeTokens, TimeKv, TimeExchange}) {
      if (rt::Status status = time(bench, sizes, rows); !status.ok()) return status;
    }
  }
  return rt::Status();
}

}  // namespace cairn::gpu
