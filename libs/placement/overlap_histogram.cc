#include "libs/placement/overlap_histogram.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "libs/base/status_macros.h"
#include "libs/placement/limits.h"

namespace cairn::placement {
namespace {

constexpr double kUnitMax = 1e100;  // then everything is counted anew in the present unit

absl::Status ValidateWeight(double weight) {
  if (weight > 0 && weight <= limits::kObservationWeightMax) return absl::OkStatus();  // no NaN
  return absl::InvalidArgumentError(absl::StrCat("observation of weight ", weight,
                                                 ", which is not in (0, ",
                                                 limits::kObservationWeightMax, "]"));
}

}  // namespace

absl::StatusOr<OverlapHistogram> OverlapHistogram::Create(const Options& options) {
  if (options.grid == 0) return absl::InvalidArgumentError("overlap histogram: grid is 0");
  if (options.bins_max == 0 || options.bins_max > limits::kBinsMax) {
    return absl::InvalidArgumentError(absl::StrCat("overlap histogram: bins_max ", options.bins_max,
                                                   " is not in 1..", limits::kBinsMax));
  }
  if (!(options.decay > 0 && options.decay <= 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("overlap histogram: decay ", options.decay, " is not in (0, 1]"));
  }
  return OverlapHistogram(options);
}

absl::Status OverlapHistogram::Observe(std::uint32_t depth, double weight) {
  CAIRN_RETURN_IF_ERROR(ValidateWeight(weight));
  const std::uint32_t bin = depth / options_.grid;
  if (bin >= options_.bins_max) {
    return absl::InvalidArgumentError(absl::StrCat("observed depth ", depth, " lies beyond bin ",
                                                   options_.bins_max - 1, " of ", options_.grid));
  }
  unit_ /= options_.decay;
  Add(bin, weight);
  return absl::OkStatus();
}

absl::Status OverlapHistogram::Restore(std::uint32_t bin, double count) {
  CAIRN_RETURN_IF_ERROR(ValidateWeight(count));
  if (bin >= options_.bins_max) {
    return absl::InvalidArgumentError(
        absl::StrCat("restored bin ", bin, " lies beyond bin ", options_.bins_max - 1));
  }
  Add(bin, count - Count(bin));
  return absl::OkStatus();
}

void OverlapHistogram::Add(std::uint32_t bin, double weight) {
  if (bin >= counts_.size()) counts_.resize(bin + std::size_t{1}, 0);
  counts_[bin] += weight * unit_;
  total_ += weight * unit_;
  squares_ += weight * unit_ * weight * unit_;
  if (unit_ < kUnitMax) return;
  for (double& count : counts_) count /= unit_;
  total_ /= unit_;
  squares_ /= unit_ * unit_;
  unit_ = 1;
}

double OverlapHistogram::Count(std::uint32_t bin) const {
  return bin < counts_.size() ? counts_[bin] / unit_ : 0;
}

double OverlapHistogram::EffectiveCount() const {
  return squares_ > 0 ? total_ * total_ / squares_ : 0;
}

LineProblem OverlapHistogram::Line() const {
  LineProblem problem;
  for (std::uint32_t bin = 1; bin < bins(); ++bin) {
    const std::int64_t weight = std::llround(Count(bin) * limits::kWeightUnit);
    if (weight > 0) problem.atoms.push_back({.depth = bin, .cost = bin, .weight = weight});
  }
  return problem;
}

}  // namespace cairn::placement
