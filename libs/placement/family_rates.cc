#include "libs/placement/family_rates.h"

#include "libs/placement/limits.h"

namespace cairn::placement {

FamilyRates::Table* FamilyRates::Lookup(const Key& key) {
  if (last_ != nullptr && last_key_ == key) return last_;
  const auto found = tables_.find(key);
  if (found == tables_.end()) return nullptr;
  last_key_ = key;
  last_ = &found->second;
  return last_;
}

FamilyRates::Table& FamilyRates::Touch(const Key& key) {
  if (Table* const found = Lookup(key)) {
    uses_.splice(uses_.end(), uses_, found->use);
    return *found;
  }
  last_ = nullptr;  // tables are about to move
  Table table;
  if (tables_.size() >= tables_max_ && !uses_.empty()) {
    const auto oldest = tables_.find(uses_.front());
    table = std::move(oldest->second);  // its memory serves again
    tables_.erase(oldest);
    table.rates.Clear();
    table.pooled_claims = 0;
    table.pooled_exposures = 0;
    *table.use = key;
    uses_.splice(uses_.end(), uses_, table.use);
  } else {
    uses_.push_back(key);
    table.use = std::prev(uses_.end());
  }
  return tables_.emplace(key, std::move(table)).first->second;
}

bool FamilyRates::Claim(std::uint64_t family, std::uint32_t entry_class, std::uint32_t distance,
                        std::uint32_t weight) {
  if (family == 0 || tables_max_ == 0) return true;
  Table& table = Touch({family, entry_class});
  table.rates.Claim(distance, weight);
  // Claims and exposures stop together: one without the other would bend the pooled rates.
  if (!table.MayTeach()) return false;
  if (table.pooled_claims >= kClaimsPerExposureMax * table.pooled_exposures) return false;
  table.pooled_claims += weight;
  return true;
}

bool FamilyRates::Expose(std::uint64_t family, std::uint32_t entry_class, std::uint32_t positions,
                         std::uint32_t weight) {
  if (family == 0 || tables_max_ == 0) return true;
  Table& table = Touch({family, entry_class});
  table.rates.Expose(positions, weight);
  if (!table.MayTeach()) return false;
  table.pooled_exposures += weight;
  return true;
}

bool FamilyRates::MayTeach(std::uint64_t family, std::uint32_t entry_class) {
  const Table* const found = Lookup(Key{family, entry_class});
  return found == nullptr || found->MayTeach();
}

const AdaptiveRates* FamilyRates::Find(std::uint64_t family, std::uint32_t entry_class) const {
  const auto found = tables_.find(Key{family, entry_class});
  return found == tables_.end() ? nullptr : &found->second.rates;
}

bool FamilyRates::IsEstablished(std::uint64_t family, std::uint32_t entry_class) const {
  const auto found = tables_.find(Key{family, entry_class});
  return found != tables_.end() && !found->second.MayTeach();
}

void FamilyRates::Save(ByteWriter& out) const {
  out.Put(static_cast<std::uint32_t>(uses_.size()));
  for (const Key& key : uses_) {
    const Table& table = tables_.find(key)->second;
    out.Put(key.first);
    out.Put(key.second);
    out.Put(table.pooled_claims);
    out.Put(table.pooled_exposures);
    table.rates.Save(out);
  }
}

void FamilyRates::Load(ByteReader& in) {
  constexpr std::size_t kTableBytesMin = 20;
  tables_.clear();
  last_ = nullptr;
  uses_.clear();
  std::uint32_t left = in.GetCount(limits::kFamilyTablesMax, kTableBytesMin);
  for (; left > 0 && in.ok(); --left) {
    const std::uint64_t family = in.Get<std::uint64_t>();
    const Key key{family, in.Get<std::uint32_t>()};
    if (family == 0 || tables_.contains(key)) in.MarkBad();
    Table read;
    read.pooled_claims = in.Get<std::uint32_t>();
    read.pooled_exposures = in.Get<std::uint32_t>();
    read.rates.Load(in);
    if (left > tables_max_ || !in.ok()) continue;
    Table& table = Touch(key);
    read.use = table.use;
    table = std::move(read);
  }
}

}  // namespace cairn::placement
