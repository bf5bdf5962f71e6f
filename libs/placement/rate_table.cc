#include "libs/placement/rate_table.h"

#include <algorithm>
#include <array>
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
constexpr std::size_t kLookedUp = 2048;  // distances whose bin is found without a search

// All bins, up to the largest distance there is.
struct Bins {
  std::vector<std::uint32_t> starts;
  std::vector<double> widths;
  std::array<std::uint8_t, kLookedUp> of_distance;
};

Bins MakeBins() {
  Bins bins;
  for (std::uint32_t d = 0; d < kExactDistances; ++d) bins.starts.push_back(d);
  double width = 1;
  for (double start = kExactDistances; start < kDistanceMax; start += std::floor(width)) {
    bins.starts.push_back(static_cast<std::uint32_t>(start));
    width *= kBinGrowth;
  }
  for (std::size_t bin = 0; bin < bins.starts.size(); ++bin) {
    const bool is_last = bin + 1 == bins.starts.size();
    bins.widths.push_back((is_last ? kDistanceMax : bins.starts[bin + 1]) - bins.starts[bin]);
  }
  std::uint8_t bin = 0;
  for (std::uint32_t distance = 0; distance < kLookedUp; ++distance) {
    while (bins.starts[bin + std::size_t{1}] <= distance) ++bin;
    bins.of_distance[distance] = bin;
  }
  return bins;
}

const Bins& AllBins() {
  static const auto* const bins = new Bins(MakeBins());
  return *bins;
}

}  // namespace

std::uint32_t DistanceBin(std::uint32_t distance) {
  const Bins& bins = AllBins();
  if (distance < kLookedUp) return bins.of_distance[distance];
  return static_cast<std::uint32_t>(
      std::upper_bound(bins.starts.begin(), bins.starts.end(), distance) - bins.starts.begin() - 1);
}

std::uint32_t DistanceBinStart(std::uint32_t bin) {
  const Bins& bins = AllBins();
  return bin < bins.starts.size() ? bins.starts[bin] : kDistanceMax;
}

void RateTable::Claim(std::uint32_t distance, double weight) {
  unit_ /= decay_;
  const double count = weight * unit_;
  const std::uint32_t bin = DistanceBin(distance);
  if (bin >= bins_.size()) bins_.resize(bin + std::size_t{1});
  bins_[bin].claims += count;
  claims_total_ += count;
  claims_squared_ += count * count;
  if (unit_ > kUnitMax) Rescale();
}

void RateTable::Expose(std::uint32_t positions, double weight) {
  if (positions == 0) return;
  const double count = weight * unit_;
  exposed_ += count;
  const std::uint32_t last = DistanceBin(positions - 1);
  if (last >= bins_.size()) bins_.resize(last + std::size_t{1});
  const Bins& all = AllBins();
  for (std::uint32_t bin = 0; bin < last; ++bin) bins_[bin].positions += count * all.widths[bin];
  bins_[last].positions += count * (positions - all.starts[last]);
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
  const double share = 1 / claims_total_;
  const double other_share = 1 / other.claims_total_;
  for (std::size_t bin = 0; bin < std::max(bins_.size(), other.bins_.size()); ++bin) {
    if (bin < bins_.size()) sum += bins_[bin].claims * share;
    if (bin < other.bins_.size()) sum -= other.bins_[bin].claims * other_share;
    gap = std::max(gap, std::abs(sum));
  }
  return gap;
}

RateTable RateTable::WithDecay(double decay) const {
  RateTable table = *this;
  table.Rescale();
  table.decay_ = decay;
  return table;
}

void RateTable::Clear() {
  unit_ = 1;
  claims_total_ = 0;
  claims_squared_ = 0;
  exposed_ = 0;
  bins_.clear();
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
