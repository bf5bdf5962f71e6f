#include "libs/index/producer_names.h"

#include "libs/base/check.h"
#include "libs/base/limits.h"

namespace cairn {

ProducerNames::ProducerNames(std::size_t names_max) : names_max_(names_max), names_{"(other)"} {
  CAIRN_CHECK(names_max > 0 && names_max <= limits::kProducersMax) << names_max;
}

ProducerId ProducerNames::NumberOf(absl::string_view name) {
  if (const auto it = numbers_.find(name); it != numbers_.end()) return it->second;
  if (numbers_.size() >= names_max_) return kOtherProducer;
  const ProducerId id(static_cast<std::uint32_t>(names_.size()));
  names_.emplace_back(name);
  numbers_.emplace(names_.back(), id);
  return id;
}

const std::string& ProducerNames::NameOf(ProducerId id) const {
  CAIRN_CHECK(id.value() < names_.size()) << id.value();
  return names_[id.value()];
}

}  // namespace cairn
