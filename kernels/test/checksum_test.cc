#include "kernels/copy/checksum.h"

#include "kernels/test/device_memory.h"

namespace cairn::test {
namespace {

// Made by xxHash 0.8.1's XXH3_64bits: byte k of the data is the upper byte of s after k + 1 steps
// of s = s * 6364136223846793005 + 1442695040888963407 from s = size.
struct Golden {
  std::uint32_t size;
  std::uint64_t first_piece;  // of the first 4096 bytes, or of all
  std::uint64_t checksum;     // of the sums of all pieces
};
const Golden kGolden[] = {
    {8, 0xed94c0f0480fbf27, 0x3fb67135580bba88},
    {16, 0xd01fa69d2dba6d55, 0xbd677f2bbb7df947},
    {24, 0x829bc59ead930df1, 0x311d57433961dc63},
    {32, 0x8385adf8fa3d0412, 0xb60dc19ec7a0b881},
    {40, 0x11ccaf52a08622e1, 0xae555f592e326e97},
    {64, 0x2d4d77faeb295a07, 0xa0514d3d1610b50c},
    {72, 0x1e25b79da61476a9, 0xeb182a23409251c9},
    {96, 0x5375afc07b955a0a, 0x1d3e2293bb158c15},
    {104, 0xb6b66a212adb5395, 0xadec1f34f1fc16bd},
    {128, 0x6c0dc8384848196c, 0x21d25c03bafaac55},
    {136, 0xf47c0dcf577819b4, 0x8e8ff59eb35c2751},
    {200, 0x2e633929d7ad6a7d, 0x9bed5c216dff8fad},
    {240, 0x4ec60530b8127659, 0xfc863b722d4a4ceb},
    {248, 0xac686f1461f22ae3, 0x7beb192621598115},
    {256, 0x5557cf0c70b7f142, 0x74e392b3ba6b3b2b},
    {1024, 0x5b63567e2de83c64, 0x9bfd79ba2f39b6ad},
    {1032, 0x5696091c6e447db3, 0xf1b4783e06c2c897},
    {4088, 0x3eeb94ceb47d2f06, 0x81c35c0768fba5ee},
    {4096, 0x8171299fa21f6794, 0x6016ea8e01caa1a8},
    {4104, 0xdbc2ef1a8295d7c3, 0x76d8027bc84478e4},
    {8192, 0x02f02239c4d3da7e, 0xcae6a0a1e657406f},
    {12296, 0xfbb052da9905836d, 0x25457062a8da1c05},
    {122880, 0xc0b6a30d06bbb252, 0xdd653608e045565a},
    {131136, 0x27c9e1ba724f3379, 0x37530499bea0ae7d},
};

std::vector<std::uint8_t> DataOf(std::uint32_t size) {
  std::uint64_t state = size;
  std::vector<std::uint8_t> bytes(size);
  for (std::uint8_t& byte : bytes) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    byte = static_cast<std::uint8_t>(state >> 56);
  }
  return bytes;
}

SK_TEST(ChecksumsAreXxHashs) {
  for (const Golden& golden : kGolden) {
    TestDevice device(golden.size);
    // The block in question, behind one that nobody asks for, and asked for twice.
    std::vector<std::uint8_t> bytes(golden.size, 0xff);
    const std::vector<std::uint8_t> data = DataOf(golden.size);
    bytes.insert(bytes.end(), data.begin(), data.end());
    rt::Buffer pool = device.Make(bytes);
    rt::Buffer slots = device.Make(std::vector<std::uint32_t>{1, 2, 1, 0xdead});
    rt::Buffer count = device.Make(std::vector<std::uint32_t>{3});
    const std::uint32_t pieces = kernels::Pieces(golden.size);
    rt::Buffer sums = device.Make(std::vector<std::uint64_t>(4 * pieces, ~0ull));
    rt::Buffer checksums = device.Make(std::vector<std::uint64_t>(4, ~0ull));
    kernels::ChecksumParams params;
    params.pool = pool.bytes();
    params.slots = slots.as<std::uint32_t>();
    params.count = count.as<std::uint32_t>();
    params.count_max = 4;
    params.pool_slots = 2;
    params.block_bytes = golden.size;
    params.sums = sums.as<std::uint64_t>();
    params.checksums = checksums.as<std::uint64_t>();
    SK_EXPECT_EQ(kernels::ChecksumBlocks(device.stream(), params).message(), "");
    const std::vector<std::uint64_t> got = device.Read<std::uint64_t>(checksums);
    SK_EXPECT_EQ(device.Read<std::uint64_t>(sums)[0], golden.first_piece);
    SK_EXPECT_EQ(got[0], golden.checksum);
    SK_EXPECT_EQ(got[1], 0ull);  // slot 2 is not of this pool
    SK_EXPECT_EQ(got[2], golden.checksum);
    SK_EXPECT_EQ(got[3], ~0ull);  // beyond the count
  }
}

SK_TEST(ChecksumSaysWhichParameterIsWrong) {
  kernels::ChecksumParams params;
  params.block_bytes = 4100;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "block_bytes is 4100");
  params.block_bytes = 4096;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "count_max is 0");
  params.count_max = 1;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "a pointer is null");
}

}  // namespace
}  // namespace cairn::test
