#include "libs/placement/family_rates.h"

namespace cairn::placement {

FamilyRates::Table& FamilyRates::Touch(const Key& key) {
  const auto found = tables_.find(key);
  if (found != tables_.end()) {
    uses_.splice(uses_.end(), uses_, found->second.use);
    return found->second;
  }
  if (tables_.size() >= tables_max_ && !uses_.empty()) {
    tables_.erase(uses_.front());
    uses_.pop_front();
  }
  uses_.push_back(key);
  Table table;
  table.use = std::prev(uses_.end());
  return tables_.emplace(key, std::move(table)).first->second;
}

bool FamilyRates::Claim(std::uint64_t family, std::uint32_t entry_class, std::uint32_t distance) {
  if (family == 0 || tables_max_ == 0) return true;
  Table& table = Touch({family, entry_class});
  table.rates.Claim(distance);
  // Claims and exposures stop together: one without the other would bend the pooled rates.
  if (!table.MayTeach()) return false;
  if (table.pooled_claims >= kClaimsPerExposureMax * table.pooled_exposures) return false;
  ++table.pooled_claims;
  return true;
}

bool FamilyRates::Expose(std::uint64_t family, std::uint32_t entry_class, std::uint32_t positions) {
  if (family == 0 || tables_max_ == 0) return true;
  Table& table = Touch({family, entry_class});
  table.rates.Expose(positions);
  if (!table.MayTeach()) return false;
  ++table.pooled_exposures;
  return true;
}

bool FamilyRates::MayTeach(std::uint64_t family, std::uint32_t entry_class) const {
  const auto found = tables_.find(Key{family, entry_class});
  return found == tables_.end() || found->second.MayTeach();
}

const AdaptiveRates* FamilyRates::Find(std::uint64_t family, std::uint32_t entry_class) const {
  const auto found = tables_.find(Key{family, entry_class});
  return found == tables_.end() ? nullptr : &found->second.rates;
}

}  // namespace cairn::placement
