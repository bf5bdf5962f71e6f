#ifndef CAIRN_LIBS_PLACEMENT_BASELINES_H_
#define CAIRN_LIBS_PLACEMENT_BASELINES_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "libs/placement/expert.h"
#include "libs/placement/plan_query.h"

namespace cairn::placement {

// The rules to compare with, none of which learns. Depths in blocks, ascending.

// The optimum for uniform claims on 1..end: position k of M is k (end + 1) / (M + 1), rounded to
// nearest. Positions that coincide are given once.
std::vector<std::uint32_t> BalancedPlan(std::uint32_t end, std::uint32_t states);
// Every `step`-th block; step 0 gives nothing.
std::vector<std::uint32_t> BlockPlan(std::uint32_t end, std::uint32_t step);
// Every floor(sqrt(end))-th block: as many states as blocks between them.
std::vector<std::uint32_t> SqrtPlan(std::uint32_t end);
// 1, 2, 4, 8, ...
std::vector<std::uint32_t> DyadicPlan(std::uint32_t end);

// Adds a state where the request parted from what was stored, if it did and there is none: beside
// `plan` while that has less than states_max, else in place of the nearest depth (of two as near,
// the shallower goes). `plan` is ascending and stays so.
std::vector<std::uint32_t> WithBranchAtom(std::vector<std::uint32_t> plan, const PlanQuery& query);

// A rule as an expert.
class BaselineExpert : public Expert {
 public:
  using Rule = std::vector<std::uint32_t> (*)(const PlanQuery& query);
  BaselineExpert(std::string_view name, Rule rule) : name_(name), rule_(rule) {}
  std::string_view name() const override { return name_; }
  std::vector<std::uint32_t> Plan(const PlanQuery& query) const override { return rule_(query); }

 private:
  std::string_view name_;
  Rule rule_;
};

// none, balanced, block8, sqrt, dyadic, last (full block), dense (the ceiling), and marconi: the
// branch point, else the last full block (Marconi, arXiv 2411.19379).
struct NamedRule {
  std::string_view name;
  BaselineExpert::Rule rule;
};
const std::vector<NamedRule>& BaselineRules();

}  // namespace cairn::placement
#endif  // CAIRN_LIBS_PLACEMENT_BASELINES_H_
