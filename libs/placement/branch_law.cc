#include "libs/placement/branch_law.h"

#include <algorithm>
#include <cstddef>

#include "libs/placement/saved_counts.h"

namespace cairn::placement {
namespace {

constexpr std::uint32_t kShortlyBefore = 8;
constexpr double kPriorPoints = 10;  // what all points together weigh in a class

std::size_t ClassOf(std::uint32_t parted_before_end) {
  if (parted_before_end == 0) return 0;
  return parted_before_end <= kShortlyBefore ? 1 : 2;
}

}  // namespace

void BranchLaw::Count(Counts& counts, std::uint32_t claims, double weight) {
  const std::uint32_t seen = std::min(claims, kClaimsMax);
  for (std::uint32_t k = 1; k <= seen; ++k) counts.further[k] += weight;
  counts.reached[std::min(seen + 1, kClaimsMax)] += weight;
}

void BranchLaw::Observe(std::uint32_t claims, std::uint32_t parted_before_end, double weight) {
  Count(all_, claims, weight);
  Count(classes_[ClassOf(parted_before_end)], claims, weight);
}

double BranchLaw::Expected(std::uint32_t claims, std::uint32_t parted_before_end) const {
  const std::uint32_t k = std::min(std::max(claims, 1u), kClaimsMax);
  const Counts& counts = classes_[ClassOf(parted_before_end)];
  const double pooled = (all_.further[k] + 1) / (all_.reached[k] + 1);
  return (counts.further[k] + kPriorPoints * pooled) / (counts.reached[k] + kPriorPoints);
}

void BranchLaw::Save(const Counts& counts, ByteWriter& out) {
  for (const double count : counts.further) PutCount(out, count);
  for (const double count : counts.reached) PutCount(out, count);
}

void BranchLaw::Load(ByteReader& in, Counts& counts) {
  for (double& count : counts.further) count = GetSavedCount(in);
  for (double& count : counts.reached) count = GetSavedCount(in);
}

void BranchLaw::Save(ByteWriter& out) const {
  Save(all_, out);
  for (const Counts& counts : classes_) Save(counts, out);
}

void BranchLaw::Load(ByteReader& in) {
  Load(in, all_);
  for (Counts& counts : classes_) Load(in, counts);
}

}  // namespace cairn::placement
