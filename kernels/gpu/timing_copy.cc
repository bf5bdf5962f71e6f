#include <algorithm>

#include "kernels/copy/checksum.h"
#include "kernels/copy/gather.h"
#include "kernels/gpu/timing.h"

namespace cairn::gpu {
namespace {

std::string SizeName(std::uint64_t bytes) {
  return bytes % (1 << 20) == 0 ? std::to_string(bytes >> 20) + " MiB"
                                : std::to_string(bytes >> 10) + " KiB";
}

rt::Status TimeChecksum(Bench& bench, const Sizes& sizes) {
  const auto block = static_cast<std::uint32_t>(sizes.checksum_block);
  Memory memory(bench);
  // Four times the L2 or more, picked in an order that is not memory's.
  const std::uint64_t bytes = std::max(sizes.stream_bytes, std::uint64_t{block});
  const auto count = static_cast<std::uint32_t>(bytes / block);
  const rt::Buffer pool = memory.Random(std::size_t{count} * block, 500);
  const rt::Buffer slots = memory.Upload(ScatteredSlots(count));
  const rt::Buffer word = memory.Upload(std::vector<std::uint32_t>{count});
  const rt::Buffer sums = memory.Empty(std::size_t{count} * kernels::Pieces(block) * 8);
  const rt::Buffer checksums = memory.Empty(std::size_t{count} * 8);
  if (!memory.status().ok()) return memory.status();
  kernels::ChecksumParams params;
  params.pool = pool.bytes();
  params.slots = slots.as<std::uint32_t>();
  params.count = word.as<std::uint32_t>();
  params.count_max = params.pool_slots = count;
  params.block_bytes = block;
  params.sums = sums.as<std::uint64_t>();
  params.checksums = checksums.as<std::uint64_t>();
  const Variant variant{
      .name = "blocks of " + SizeName(block) + ", " + SizeName(bytes),
      .runs = {[params](rt::Stream& stream) { return ChecksumBlocks(stream, params); }},
      .work = {.read = static_cast<double>(bytes)}};
  return bench.Time("checksum", {variant}).status();
}

// Pool in device memory, or in pinned host memory: what the copy engine does badly in small pieces.
rt::Status TimeGather(Bench& bench, const Sizes& sizes, std::uint32_t block, bool is_from_host) {
  Memory memory(bench);
  const std::uint64_t moved = sizes.gather_bytes;
  const auto count = static_cast<std::uint32_t>(moved / block);
  const std::uint32_t set_count = is_from_host ? 1 : bench.Sets(2 * moved);
  const auto pool_slots = count * set_count;
  const std::size_t pool_bytes = std::size_t{pool_slots} * block;
  const rt::Buffer pool = is_from_host ? memory.Pinned(pool_bytes) : memory.Random(pool_bytes, 600);
  const rt::Buffer buffer = memory.Empty(pool_bytes);
  const rt::Buffer slots = memory.Upload(ScatteredSlots(pool_slots));
  const rt::Buffer words = memory.Upload(std::vector<std::uint32_t>{count, 0});
  if (is_from_host && memory.status().ok()) {
    const rt::Buffer random = memory.Random(pool_bytes, 601);
    if (memory.status().ok()) {
      memory.Check(bench.stream().CopyAsync(pool.bytes(), random.bytes(), pool_bytes));
    }
    memory.Check(bench.stream().Synchronize());
  }
  if (!memory.status().ok()) return memory.status();
  const double bytes = static_cast<double>(moved);
  const Work work = is_from_host ? Work{} : Work{.read = bytes, .written = bytes};
  std::vector<Variant> variants;
  for (const std::uint32_t blocks : {8u, bench.facts().multiprocessors}) {
    for (const bool is_gather : {true, false}) {
      Variant variant{.name = std::string(is_gather ? "gather" : "scatter") + ", grid of " +
                              std::to_string(blocks),
                      .work = work,
                      .moved = is_from_host ? bytes : 0};
      for (std::uint32_t i = 0; i < set_count; ++i) {
        kernels::GatherParams params;
        params.pool = pool.bytes();
        params.buffer = buffer.bytes() + std::uint64_t{i} * moved;
        params.slots = slots.as<std::uint32_t>() + std::size_t{i} * count;
        params.count = words.as<std::uint32_t>();
        params.refused = words.as<std::uint32_t>() + 1;
        params.block_bytes = block;
        params.pool_slots = pool_slots;
        params.blocks = blocks;
        variant.runs.push_back([params, is_gather](rt::Stream& stream) {
          return is_gather ? GatherBlocks(stream, params) : ScatterBlocks(stream, params);
        });
      }
      variants.push_back(std::move(variant));
    }
  }
  const std::string group = std::string(is_from_host ? "host pool, " : "device pool, ") +
                            SizeName(moved) + " in blocks of " + SizeName(block);
  return bench.Time(group, variants).status();
}

}  // namespace

rt::Status TimeCopies(Bench& bench, const Sizes& sizes) {
  if (rt::Status status = TimeChecksum(bench, sizes); !status.ok()) return status;
  for (const bool is_from_host : {false, true}) {
    for (const std::uint32_t block : sizes.gather_blocks) {
      rt::Status status = TimeGather(bench, sizes, block, is_from_host);
      if (!status.ok()) return status;
    }
  }
  return rt::Status();
}

rt::Status TimeHostCopies(Bench& bench, const Sizes& sizes) {
  Memory memory(bench);
  constexpr std::uint32_t kCopiesMin = 16;  // queued one behind the other, to places of their own
  const std::uint64_t most = *std::max_element(sizes.copies.begin(), sizes.copies.end());
  const std::uint64_t room = 4 * most;
  const rt::Buffer host = memory.Pinned(room), device = memory.Random(room, 700);
  if (!memory.status().ok()) return memory.status();
  memory.Check(bench.stream().CopyAsync(host.bytes(), device.bytes(), room));  // random, and there
  memory.Check(bench.stream().Synchronize());
  if (!memory.status().ok()) return memory.status();
  for (const std::uint64_t bytes : sizes.copies) {
    const std::string name = SizeName(bytes);
    Variant in{
        .name = name + " host to device", .moved = static_cast<double>(bytes), .is_graph = false};
    Variant out{
        .name = name + " device to host", .moved = static_cast<double>(bytes), .is_graph = false};
    const std::uint64_t places = room / bytes;
    const std::uint64_t copies = std::min<std::uint64_t>(places, kCopiesMin);
    for (std::uint64_t i = 0; i < copies; ++i) {
      const std::uint64_t at = i * (places / copies) * bytes;
      in.runs.push_back([&, at, bytes](rt::Stream& stream) {
        return stream.CopyAsync(device.bytes() + at, host.bytes() + at, bytes);
      });
      out.runs.push_back([&, at, bytes](rt::Stream& stream) {
        return stream.CopyAsync(host.bytes() + at, device.bytes() + at, bytes);
      });
    }
    rt::Result<std::vector<Timing>> timings = bench.Time("host copy, pinned", {in, out});
    if (!timings.ok()) return timings.status();
  }
  return rt::Status();
}

}  // namespace cairn::gpu
