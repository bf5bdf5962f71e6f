#include "libs/placement/rate_stack.h"

#include "libs/base/check.h"

namespace cairn::placement {

void RateStack::Add(const RateTable& table, double prior_exposures) {
  CAIRN_CHECK(count_ < kLevelsMax);
  levels_[count_++] = {.table = &table, .prior_exposures = prior_exposures};
  end_ = first_;  // no bin is at hand
}

void RateStack::Enter(std::uint32_t distance) {
  const std::uint32_t bin = DistanceBin(distance);
  first_ = DistanceBinStart(bin);
  end_ = DistanceBinStart(bin + 1);
  for (std::size_t i = 0; i < count_; ++i) {
    Level& level = levels_[i];
    const bool is_there = bin < level.table->bins();
    level.claims = is_there ? level.table->ClaimsIn(bin) : 0;
    level.exposures = (is_there ? level.table->PositionsIn(bin) : 0) + level.prior_exposures;
  }
}

double RateStack::Rate(std::uint32_t distance, double prior) {
  if (distance < first_ || distance >= end_) Enter(distance);
  for (std::size_t i = 0; i < count_; ++i) {
    prior = (levels_[i].claims + levels_[i].prior_exposures * prior) / levels_[i].exposures;
  }
  return prior;
}

}  // namespace cairn::placement
