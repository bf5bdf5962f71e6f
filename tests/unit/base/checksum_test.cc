#include "libs/base/checksum.h"

#include <gtest/gtest.h>

#include <vector>

#include "libs/base/checksum_pieces.h"
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
  std::vector<std::uint64_t> plain(CeilDiv(block.size(), kPieceBytes));
  std::vector<std::uint64_t> avx2(plain.size());
  checksum_internal::SumPlain(same, from, block.size(), plain.data());
  checksum_internal::SumAvx2(same, from, block.size(), avx2.data());
  EXPECT_EQ(plain, avx2);
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

TEST(ChecksumTest, PartsOfABlockMakeTheSameChecksum) {
  for (const std::size_t bytes : {0u, 1u, 4096u, 10'000u, 300'001u}) {
    const auto source = RandomBlock(bytes);
    std::vector<std::byte> target(bytes);
    std::vector<std::uint64_t> sums(CeilDiv(bytes, kPieceBytes));
    const std::size_t half = std::min<std::size_t>(bytes, sums.size() / 2 * kPieceBytes);
    const auto first = absl::MakeSpan(sums).first(half / kPieceBytes);
    const auto rest = absl::MakeSpan(sums).subspan(first.size());
    CopyAndSumPieces(absl::MakeSpan(target).first(half), absl::MakeConstSpan(source).first(half),
                     first);
    CopyAndSumPieces(absl::MakeSpan(target).subspan(half),
                     absl::MakeConstSpan(source).subspan(half), rest);
    EXPECT_EQ(target, source) << bytes;
    EXPECT_EQ(ChecksumOfSums(sums), ChecksumOf(source)) << bytes;
    std::vector<std::uint64_t> in_place(sums.size());
    SumPieces(source, absl::MakeSpan(in_place));
    EXPECT_EQ(in_place, sums) << bytes;
  }
}

}  // namespace
}  // namespace cairn
