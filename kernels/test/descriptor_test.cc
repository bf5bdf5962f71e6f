#include "kernels/sk/descriptor.h"

#include "kernels/test/harness.h"

// The fields as the PTX manual numbers them ("Matrix Descriptor Format"), written out here once
// more by hand: a mistake in descriptor.h must not agree with the test.

namespace cairn::test {
namespace {

using sk::Describe;
using sk::Swizzle;

SK_TEST(StartAddressIsBits0To13InUnitsOf16) {
  SK_EXPECT_EQ(Describe({.start = 0x400}).bits, 0x40ull);
  SK_EXPECT_EQ(Describe({.start = 0x38ff0}).bits, 0x38ffull);
  SK_EXPECT_EQ(Describe({.start = 0x40010}).bits, 0x1ull);  // 18 bits count
}

SK_TEST(LeadingByteOffsetIsBits16To29) {
  SK_EXPECT_EQ(Describe({.leading_bytes = 16}).bits, 1ull << 16);
  SK_EXPECT_EQ(Describe({.leading_bytes = 0x3fff0}).bits, 0x3fffull << 16);
}

SK_TEST(StrideByteOffsetIsBits32To45) {
  SK_EXPECT_EQ(Describe({.stride_bytes = 1024}).bits, 64ull << 32);
  SK_EXPECT_EQ(Describe({.stride_bytes = 0x3fff0}).bits, 0x3fffull << 32);
}

SK_TEST(BaseOffsetIsBits49To51) {
  SK_EXPECT_EQ(Describe({.base_offset = 1}).bits, 1ull << 49);
  SK_EXPECT_EQ(Describe({.base_offset = 7}).bits, 7ull << 49);
}

SK_TEST(SwizzleModeIsBits62And63) {
  SK_EXPECT_EQ(Describe({.swizzle = Swizzle::kNone}).bits, 0ull);
  SK_EXPECT_EQ(Describe({.swizzle = Swizzle::k128}).bits, 1ull << 62);
  SK_EXPECT_EQ(Describe({.swizzle = Swizzle::k64}).bits, 2ull << 62);
  SK_EXPECT_EQ(Describe({.swizzle = Swizzle::k32}).bits, 3ull << 62);
}

SK_TEST(FieldsDoNotRunIntoEachOther) {
  const std::uint64_t bits = Describe({.start = 0x3fff0,
                                       .leading_bytes = 0x3fff0,
                                       .stride_bytes = 0x3fff0,
                                       .base_offset = 7,
                                       .swizzle = Swizzle::k32})
                                 .bits;
  SK_EXPECT_EQ(bits, 0xc00e3fff3fff3fffull);
}

// A tile of 64 rows of 128 bytes in the usual mode, as a value that any other tool would give.
SK_TEST(AUsual128ByteTileHasTheUsualBits) {
  const sk::MatrixDescriptor tile = Describe(
      {.start = 0x2400, .leading_bytes = 16, .stride_bytes = 1024, .swizzle = Swizzle::k128});
  SK_EXPECT_EQ(tile.bits, 0x4000004000010240ull);
  SK_EXPECT_EQ(sk::Advance(tile, 32).bits, 0x4000004000010242ull);
}

// The manual's picture of the 128-byte swizzle: in row r of 8, chunk c lies where c ^ r would.
SK_TEST(SwizzlesMoveChunksAsTheManualDraws) {
  for (std::uint32_t row = 0; row < 16; ++row) {
    for (std::uint32_t chunk = 0; chunk < 8; ++chunk) {
      const std::uint32_t address = row * 128 + chunk * 16 + 5;
      SK_EXPECT_EQ(sk::SwizzleAddress(address, Swizzle::k128),
                   row * 128 + (chunk ^ row % 8) * 16 + 5);
    }
  }
  // Rows of 64 bytes: two to a line of 128, four lines to a pattern; rows of 32: four, two.
  for (std::uint32_t row = 0; row < 16; ++row) {
    for (std::uint32_t chunk = 0; chunk < 4; ++chunk) {
      SK_EXPECT_EQ(sk::SwizzleAddress(row * 64 + chunk * 16, Swizzle::k64),
                   row * 64 + (chunk ^ row / 2 % 4) * 16);
    }
    for (std::uint32_t chunk = 0; chunk < 2; ++chunk) {
      SK_EXPECT_EQ(sk::SwizzleAddress(row * 32 + chunk * 16, Swizzle::k32),
                   row * 32 + (chunk ^ row / 4 % 2) * 16);
    }
  }
  SK_EXPECT_EQ(sk::SwizzleAddress(777, Swizzle::kNone), 777u);
  SK_EXPECT_EQ(sk::PatternBytes(Swizzle::k128), 1024u);
  SK_EXPECT_EQ(sk::PatternBytes(Swizzle::k64), 512u);
  SK_EXPECT_EQ(sk::PatternBytes(Swizzle::k32), 256u);
}

}  // namespace
}  // namespace cairn::test
