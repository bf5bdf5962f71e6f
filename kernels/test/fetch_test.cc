#include "kernels/copy/fetch.h"

#include <algorithm>
#include <cstring>

#include "kernels/sk/emu/random.h"
#include "kernels/test/device_memory.h"

namespace cairn::test {
namespace {

using kernels::FetchItem;
using kernels::FetchParams;

// Random blocks, each in the middle of memory of its own, to the slots of a pool with a guard.
void FetchTo(std::uint64_t seed, std::uint32_t block_bytes, std::uint32_t pool_slots,
             const std::vector<std::uint32_t>& slots, std::uint32_t blocks) {
  TestDevice device(seed);
  sk::emu::Random random(seed);
  std::vector<rt::Buffer> sources;
  std::vector<FetchItem> items;
  std::vector<std::uint8_t> expected(std::size_t{block_bytes} * pool_slots + 16, 0xa5);
  rt::Buffer pool = device.Make(expected);
  for (const std::uint32_t slot : slots) {
    std::vector<std::uint8_t> bytes(block_bytes + 32, 0xff);
    for (std::size_t i = 16; i < 16 + block_bytes; ++i) {
      bytes[i] = static_cast<std::uint8_t>(random.Next() >> 40);
    }
    std::copy_n(bytes.data() + 16, block_bytes, expected.data() + std::size_t{slot} * block_bytes);
    sources.push_back(device.Make(bytes));
    items.push_back({sources.back().bytes() + 16, slot, 0});
  }
  rt::Buffer list = device.Make(items);
  const FetchParams params{.pool = pool.bytes(),
                           .items = list.as<FetchItem>(),
                           .count = static_cast<std::uint32_t>(slots.size()),
                           .block_bytes = block_bytes,
                           .blocks = blocks};
  SK_EXPECT_EQ(kernels::FetchBlocks(device.stream(), params).message(), "");
  SK_EXPECT(device.Read<std::uint8_t>(pool) == expected);
}

SK_TEST(BlocksAreFetchedFromWhereverTheyAre) {
  for (const std::uint64_t seed : Seeds(3)) {
    FetchTo(seed, 16, 5, {4, 0, 2}, 3);
    FetchTo(seed, 4096, 6, {5, 1, 0, 3}, 2);
    FetchTo(seed, 16384, 3, {2, 0}, 16);
    FetchTo(seed, 16384 + 48, 4, {1, 3, 0}, 5);
    FetchTo(seed, 2 * 16384 + 4096, 3, {1}, 1);
  }
}

SK_TEST(NothingToFetchIsNothing) {
  TestDevice device(1);
  rt::Buffer pool = device.Make(std::vector<std::uint8_t>(64, 1));
  const FetchParams params{
      .pool = pool.bytes(), .items = pool.as<FetchItem>(), .count = 0, .block_bytes = 64};
  SK_EXPECT_EQ(kernels::FetchBlocks(device.stream(), params).message(), "");
  SK_EXPECT(device.Read<std::uint8_t>(pool) == std::vector<std::uint8_t>(64, 1));
}

SK_TEST(FetchSaysWhichParameterIsWrong) {
  FetchParams params;
  params.block_bytes = 24;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "block_bytes is 24");
  params.block_bytes = (1u << 30) + 16;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "over 2^30");
  params.block_bytes = 32;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "a pointer is null");
  params.pool = reinterpret_cast<std::byte*>(32);
  params.items = reinterpret_cast<FetchItem*>(24);
  SK_EXPECT_CONTAINS(kernels::Validate(params), "16-byte aligned");
  params.items = reinterpret_cast<FetchItem*>(32);
  params.blocks = 0;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "0 blocks");
}

}  // namespace
}  // namespace cairn::test
