#include "libs/base/checksum.h"

#include "libs/base/check.h"
#include "libs/base/checksum_tier.h"

namespace cairn {
namespace {

checksum_internal::SumFunction ChosenTier() {
  static const checksum_internal::SumFunction chosen =
      __builtin_cpu_supports("avx2") ? checksum_internal::SumAvx2 : checksum_internal::SumPlain;
  return chosen;
}

}  // namespace

Checksum ChecksumOf(absl::Span<const std::byte> bytes) {
  // Equal pointers mean "no copy": the tier only reads.
  const auto* from = reinterpret_cast<const unsigned char*>(bytes.data());
  return Checksum(ChosenTier()(const_cast<unsigned char*>(from), from, bytes.size()));
}

Checksum CopyAndChecksum(absl::Span<std::byte> target, absl::Span<const std::byte> source) {
  CAIRN_CHECK(target.size() == source.size()) << target.size() << " != " << source.size();
  return Checksum(ChosenTier()(reinterpret_cast<unsigned char*>(target.data()),
                               reinterpret_cast<const unsigned char*>(source.data()),
                               source.size()));
}

}  // namespace cairn
