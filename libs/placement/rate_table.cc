#include "libs/placement/rate_table.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "libs/placement/limits.h"
#include "libs/placement/saved_counts.h"

namespace cairn::placement {
namespace {

constexpr double kUnitMax = 1e100;
constexpr std::uint32_t kExactDistances = 8;
constexpr double kBinGrowth = 1.3;
constexpr std::uint32_t kDistanceMax = 4294967295u;

std::vector<std::uint32_t> MakeBinStarts() {
  std::vector<std::uint32_t> starts;
  for (std::uint32_t d = 0; d < kExactDistances; ++d) starts.push_back(d);
  double width = 1;
  for (double start = kExactDistances; start < kDistanceMax; start += std::floor(width)) {
    starts.push_back(static_cast<std::uint32_t>(start));
    width *= kBinGrowth;
  }
  return starts;
}

// Starts of all bins, up to the largest distance there is.
const std::vector<std::uint32_t>& BinStarts() {
  static const auto* const starts = new std::vector<std::uint32_t>(MakeBinStarts());
  return *starts;
}

}  // namespace

std::uint32_t DistanceBin(std::uint32_t distance) {
  if (distance < kExactDistances) return distance;
  const auto& starts = BinStarts();
  return static_cast<std::uint32_t>(std::upper_bound(starts.begin(), starts.end(), distance) -
                                    starts.begin() - 1);
}

std::uint32_t DistanceBinStart(std::uint32_t bin) {
  const auto& starts = BinStarts();
  return bin < starts.size() ? starts[bin] : kDistanceMax;
}

void RateTable::Claim(std::uint32_t distance) {
  unit_ /= decay_;
  const std::uint32_t bin = DistanceBin(distance);
  if (bin >= bins_.size()) bins_.resize(bin + std::size_t{1});
  bins_[bin].claims += unit_;
  claims_total_ += unit_;
  claims_squared_ += unit_ * unit_;
  if (unit_ > kUnitMax) Rescale();
}

void RateTable::Expose(std::uint32_t positions) {
  if (positions == 0) return;
  exposed_ += unit_;
  const std::uint32_t last = DistanceBin(positions - 1);
  if (last >= bins_.size()) bins_.resize(last + std::size_t{1});
  for (std::uint32_t bin = 0; bin <= last; ++bin) {
    const std::uint32_t end = bin == last ? positions : DistanceBinStart(bin + 1);
    bins_[bin].positions += unit_ * (end - DistanceBinStart(bin));
  }
}

void RateTable::Rescale() {
  for (Bin& bin : bins_) {
    bin.claims /= unit_;
    bin.positions /= unit_;
  }
  claims_total_ /= unit_;
  claims_squared_ /= unit_ * unit_;
  exposed_ /= unit_;
  unit_ = 1;
}

double RateTable::EffectiveClaims() const {
  return claims_squared_ > 0 ? claims_total_ * claims_total_ / claims_squared_ : 0;
}

double RateTable::LargestGap(const RateTable& other) const {
  if (claims_total_ <= 0 || other.claims_total_ <= 0) return 0;
  double gap = 0;
  double sum = 0;
  for (std::size_t bin = 0; bin < std::max(bins_.size(), other.bins_.size()); ++bin) {
    if (bin < bins_.size()) sum += bins_[bin].claims / claims_total_;
    if (bin < other.bins_.size()) sum -= other.bins_[bin].claims / other.claims_total_;
    gap = std::max(gap, std::abs(sum));
  }
  return gap;
}

RateTable RateTable::WithoutDecay() const {
  RateTable table = *this;
  table.Rescale();
  table.decay_ = 1;
  return table;
}

void RateTable::Save(ByteWriter& out) const {
  out.Put(static_cast<std::uint32_t>(bins_.size()));
  for (const Bin& bin : bins_) {
    PutCount(out, bin.claims / unit_);
    PutCount(out, bin.positions / unit_);
  }
  PutCount(out, claims_squared_ / unit_ / unit_);
  PutCount(out, exposed_ / unit_);
}

void RateTable::Load(ByteReader& in) {
  // Places counted from both ends lie a little beyond the longest entry.
  const std::size_t bins_max = DistanceBin(2 * limits::kEntryPositionsMax) + std::size_t{1};
  bins_.resize(in.GetCount(bins_max, 2 * sizeof(double)));
  unit_ = 1;
  claims_total_ = 0;
  for (Bin& bin : bins_) {
    bin.claims = GetSavedCount(in);
    bin.positions = GetSavedCount(in);
    claims_total_ += bin.claims;
  }
  claims_squared_ = GetSavedCount(in);
  exposed_ = GetSavedCount(in);
  if ((claims_total_ > 0) != (claims_squared_ > 0)) in.MarkBad();
}

double RateTable::Rate(std::uint32_t distance, double prior, double prior_exposures) const {
  const std::uint32_t index = DistanceBin(distance);
  const Bin bin = index < bins_.size() ? bins_[index] : Bin();
  return (bin.claims / unit_ + prior_exposures * prior) / (bin.positions / unit_ + prior_exposures);
}

}  // namespace cairn::placement
