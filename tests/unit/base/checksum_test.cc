#include "libs/base/checksum.h"

#include <gtest/gtest.h>

#include <vector>

#include "libs/base/checksum_tier.h"
#include "libs/base/rng.h"
#include "libs/base/units.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace cairn {
namespace {

std::vector<std::byte> RandomBlock(std::size_t bytes) {
  Rng rng(bytes + 1);
  std::vector<std::byte> out(bytes);
  for (std::byte& b : out) b = static_cast<std::byte>(rng.Next());
  return out;
}

// The definition, written plainly.
std::uint64_t Reference(const std::vector<std::byte>& bytes) {
  std::vector<std::uint64_t> sums;
  for (std::size_t at = 0; at < bytes.size(); at += kPieceBytes) {
    sums.push_back(
        XXH3_64bits(bytes.data() + at, std::min<std::size_t>(kPieceBytes, bytes.size() - at)));
  }
  return XXH3_64bits(sums.data(), sums.size() * 8);
}

TEST(ChecksumTest, EqualsTheDefinitionAtEverySizeClass) {
  for (const std::size_t bytes :
       {0u, 1u, 4095u, 4096u, 4097u, 8192u, 368640u, 1048576u, 1048583u}) {
    const auto block = RandomBlock(bytes);
    EXPECT_EQ(ChecksumOf(block).value(), Reference(block)) << bytes;
  }
}

TEST(ChecksumTest, TiersThatThisMachineRunsAgree) {
  if (!__builtin_cpu_supports("avx2")) GTEST_SKIP() << "no AVX2 here";
  const auto block = RandomBlock(100'003);
  const auto* from = reinterpret_cast<const unsigned char*>(block.data());
  auto* same = const_cast<unsigned char*>(from);
  EXPECT_EQ(checksum_internal::SumPlain(same, from, block.size()),
            checksum_internal::SumAvx2(same, from, block.size()));
}

TEST(ChecksumTest, EveryFlippedBitOfAPieceChangesIt) {
  auto block = RandomBlock(4096);
  const Checksum before = ChecksumOf(block);
  for (std::size_t at = 0; at < block.size(); at += 13) {
    block[at] ^= std::byte{0x10};
    EXPECT_NE(ChecksumOf(block), before) << at;
    block[at] ^= std::byte{0x10};
  }
}

TEST(ChecksumTest, CopyGivesTheSameBytesAndSum) {
  const auto source = RandomBlock(10'000);
  std::vector<std::byte> target(source.size());
  EXPECT_EQ(CopyAndChecksum(absl::MakeSpan(target), source), ChecksumOf(source));
  EXPECT_EQ(target, source);
}

}  // namespace
}  // namespace cairn
