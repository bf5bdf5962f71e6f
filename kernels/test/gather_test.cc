#include "kernels/copy/gather.h"

#include "kernels/sk/emu/random.h"
#include "kernels/test/device_memory.h"

namespace cairn::test {
namespace {

using kernels::GatherParams;

std::vector<std::uint8_t> RandomBytes(std::size_t size, std::uint64_t seed) {
  sk::emu::Random random(seed);
  std::vector<std::uint8_t> bytes(size);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.Next() >> 40);
  return bytes;
}

// Gathers `slots` of a random pool into a buffer with a guard behind it, and scatters them back
// into a poisoned pool.
void ThereAndBack(std::uint64_t seed, std::uint32_t block_bytes, std::uint32_t pool_slots,
                  const std::vector<std::uint32_t>& slots) {
  TestDevice device(seed);
  const std::vector<std::uint8_t> bytes = RandomBytes(std::size_t{block_bytes} * pool_slots, seed);
  const std::size_t moved = slots.size() * block_bytes;
  rt::Buffer pool = device.Make(bytes);
  rt::Buffer buffer = device.Make(std::vector<std::uint8_t>(moved + 16, 0xa5));
  rt::Buffer list = device.Make(slots);
  rt::Buffer words =
      device.Make(std::vector<std::uint32_t>{static_cast<std::uint32_t>(slots.size()), 0});
  GatherParams params;
  params.pool = pool.bytes();
  params.buffer = buffer.bytes();
  params.slots = list.as<std::uint32_t>();
  params.count = words.as<std::uint32_t>();
  params.refused = words.as<std::uint32_t>() + 1;
  params.block_bytes = block_bytes;
  params.pool_slots = pool_slots;
  params.blocks = 3;
  SK_EXPECT_EQ(kernels::GatherBlocks(device.stream(), params).message(), "");
  const std::vector<std::uint8_t> gathered = device.Read<std::uint8_t>(buffer);
  std::vector<std::uint8_t> expected(moved + 16, 0xa5);
  std::uint32_t refused = 0;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i] >= pool_slots) {
      ++refused;
      continue;
    }
    std::memcpy(expected.data() + i * block_bytes,
                bytes.data() + std::size_t{slots[i]} * block_bytes, block_bytes);
  }
  SK_EXPECT(gathered == expected);
  SK_EXPECT_EQ(device.Read<std::uint32_t>(words)[1], refused);

  std::vector<std::uint8_t> poisoned(bytes.size(), 0xff);
  rt::Buffer other = device.Make(poisoned);
  params.pool = other.bytes();
  SK_EXPECT_EQ(kernels::ScatterBlocks(device.stream(), params).message(), "");
  for (const std::uint32_t slot : slots) {
    if (slot >= pool_slots) continue;
    std::memcpy(poisoned.data() + std::size_t{slot} * block_bytes,
                bytes.data() + std::size_t{slot} * block_bytes, block_bytes);
  }
  SK_EXPECT(device.Read<std::uint8_t>(other) == poisoned);
}

SK_TEST(BlocksGoThereAndBackWhateverTheirSize) {
  for (const std::uint64_t seed : Seeds(3)) {
    ThereAndBack(seed, 16, 5, {4, 0, 2});
    ThereAndBack(seed, 4096, 6, {5, 1, 0, 3});
    ThereAndBack(seed, 16384, 3, {2, 0});
    ThereAndBack(seed, 16384 + 48, 4, {1, 3, 0});
    ThereAndBack(seed, 2 * 16384 + 4096, 3, {1});
  }
}

SK_TEST(ASlotBeyondThePoolIsLeftOutAndCounted) { ThereAndBack(1, 20480, 3, {2, 3, 0, 0xffffffff}); }

SK_TEST(NothingToGatherIsNothing) {
  TestDevice device(1);
  rt::Buffer pool = device.Make(std::vector<std::uint8_t>(64, 1));
  rt::Buffer buffer = device.Make(std::vector<std::uint8_t>(64, 2));
  rt::Buffer words = device.Make(std::vector<std::uint32_t>{0, 0});
  GatherParams params;
  params.pool = pool.bytes();
  params.buffer = buffer.bytes();
  params.slots = params.count = words.as<std::uint32_t>();
  params.refused = words.as<std::uint32_t>() + 1;
  params.block_bytes = 64;
  params.pool_slots = 1;
  SK_EXPECT_EQ(kernels::GatherBlocks(device.stream(), params).message(), "");
  SK_EXPECT(device.Read<std::uint8_t>(buffer) == std::vector<std::uint8_t>(64, 2));
}

SK_TEST(GatherSaysWhichParameterIsWrong) {
  GatherParams params;
  params.block_bytes = 24;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "block_bytes is 24");
  params.block_bytes = 32;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "a pointer is null");
  params.pool = reinterpret_cast<std::byte*>(24);
  SK_EXPECT_CONTAINS(kernels::Validate(params), "16-byte aligned");
}

}  // namespace
}  // namespace cairn::test
