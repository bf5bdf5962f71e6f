#include "libs/placement/default_experts.h"

#include <string_view>

#include "libs/placement/baselines.h"
#include "libs/placement/law_expert.h"

namespace cairn::placement {

namespace {

constexpr double kStatePrice = 0.02;  // blocks saved over its life

std::unique_ptr<Expert> MakeLaw(std::string_view name, LawExpert::Options options) {
  options.price = kStatePrice;
  return std::make_unique<LawExpert>(name, options);
}

}  // namespace

std::vector<std::unique_ptr<Expert>> DefaultExperts() {
  std::vector<std::unique_ptr<Expert>> experts;
  experts.push_back(MakeLaw("law", {}));
  experts.push_back(MakeLaw("law_pooled", {.is_pooled = true}));
  experts.push_back(MakeLaw("law_both_ends", {.is_from_both_ends = true}));
  for (const NamedRule& rule : BaselineRules()) {
    if (rule.name != "marconi") continue;
    experts.push_back(std::make_unique<BaselineExpert>(rule.name, rule.rule));
  }
  return experts;
}

}  // namespace cairn::placement
