#include "libs/base/checksum.h"

#include <algorithm>

#include "libs/base/check.h"
#include "libs/base/checksum_pieces.h"
#include "libs/base/checksum_tier.h"
#include "libs/base/units.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace cairn {
namespace {

constexpr std::size_t kBatchPieces = 64;  // piece sums gathered before they are fed on
constexpr std::size_t kBatchBytes = kBatchPieces * kPieceBytes;

checksum_internal::SumFunction ChosenTier() {
  static const checksum_internal::SumFunction chosen =
      __builtin_cpu_supports("avx2") ? checksum_internal::SumAvx2 : checksum_internal::SumPlain;
  return chosen;
}

// Equal pointers mean "no copy": the tier only reads.
Checksum Run(unsigned char* target, const unsigned char* source, std::size_t bytes) {
  XXH3_state_t outer;
  XXH3_64bits_reset(&outer);
  std::uint64_t sums[kBatchPieces];
  for (std::size_t at = 0; at < bytes; at += kBatchBytes) {
    const std::size_t batch = std::min(bytes - at, kBatchBytes);
    ChosenTier()(target + at, source + at, batch, sums);
    // Little-endian machine, as the form asks.
    XXH3_64bits_update(&outer, sums, CeilDiv(batch, kPieceBytes) * sizeof sums[0]);
  }
  return Checksum(XXH3_64bits_digest(&outer));
}

const unsigned char* Chars(absl::Span<const std::byte> bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

}  // namespace

Checksum ChecksumOf(absl::Span<const std::byte> bytes) {
  return Run(const_cast<unsigned char*>(Chars(bytes)), Chars(bytes), bytes.size());
}

Checksum CopyAndChecksum(absl::Span<std::byte> target, absl::Span<const std::byte> source) {
  CAIRN_CHECK(target.size() == source.size()) << target.size() << " != " << source.size();
  return Run(reinterpret_cast<unsigned char*>(target.data()), Chars(source), source.size());
}

void SumPieces(absl::Span<const std::byte> bytes, absl::Span<std::uint64_t> sums) {
  CAIRN_CHECK(sums.size() == CeilDiv(bytes.size(), kPieceBytes)) << sums.size();
  ChosenTier()(const_cast<unsigned char*>(Chars(bytes)), Chars(bytes), bytes.size(), sums.data());
}

void CopyAndSumPieces(absl::Span<std::byte> target, absl::Span<const std::byte> source,
                      absl::Span<std::uint64_t> sums) {
  CAIRN_CHECK(target.size() == source.size()) << target.size() << " != " << source.size();
  CAIRN_CHECK(sums.size() == CeilDiv(source.size(), kPieceBytes)) << sums.size();
  ChosenTier()(reinterpret_cast<unsigned char*>(target.data()), Chars(source), source.size(),
               sums.data());
}

Checksum ChecksumOfSums(absl::Span<const std::uint64_t> sums) {
  return Checksum(XXH3_64bits(sums.data(), sums.size() * sizeof sums[0]));
}

}  // namespace cairn
