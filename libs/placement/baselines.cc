#include "libs/placement/baselines.h"

#include <algorithm>
#include <cstddef>

namespace cairn::placement {
namespace {

constexpr std::uint32_t kBlockStep = 8;  // 4,096 tokens in blocks of 512

std::uint32_t Distance(std::uint32_t a, std::uint32_t b) { return a < b ? b - a : a - b; }

std::vector<std::uint32_t> LastPlan(std::uint32_t end) {
  return end == 0 ? std::vector<std::uint32_t>{} : std::vector<std::uint32_t>{end};
}

std::uint32_t FloorSqrt(std::uint32_t value) {
  std::uint64_t root = 0;
  while ((root + 1) * (root + 1) <= value) ++root;
  return static_cast<std::uint32_t>(root);
}

}  // namespace

std::vector<std::uint32_t> BalancedPlan(std::uint32_t end, std::uint32_t states) {
  std::vector<std::uint32_t> plan;
  const std::uint64_t stretches = std::uint64_t{std::min(states, end)} + 1;
  for (std::uint64_t k = 1; k < stretches; ++k) {
    const std::uint64_t twice = 2 * k * (std::uint64_t{end} + 1) + stretches;
    const std::uint32_t depth = static_cast<std::uint32_t>(twice / (2 * stretches));
    if (plan.empty() || plan.back() != depth) plan.push_back(depth);
  }
  return plan;
}

std::vector<std::uint32_t> BlockPlan(std::uint32_t end, std::uint32_t step) {
  std::vector<std::uint32_t> plan;
  if (step == 0) return plan;
  for (std::uint64_t depth = step; depth <= end; depth += step) {
    plan.push_back(static_cast<std::uint32_t>(depth));
  }
  return plan;
}

std::vector<std::uint32_t> SqrtPlan(std::uint32_t end) { return BlockPlan(end, FloorSqrt(end)); }

std::vector<std::uint32_t> DyadicPlan(std::uint32_t end) {
  std::vector<std::uint32_t> plan;
  for (std::uint64_t depth = 1; depth <= end; depth *= 2) {
    plan.push_back(static_cast<std::uint32_t>(depth));
  }
  return plan;
}

std::vector<std::uint32_t> WithBranchAtom(std::vector<std::uint32_t> plan, const PlanQuery& query) {
  const std::uint32_t branch = query.shape.shared;
  if (branch <= query.shape.resume || branch > query.shape.end || query.states_max == 0) {
    return plan;  // nothing parted here, or a state stands there
  }
  const auto at = std::lower_bound(plan.begin(), plan.end(), branch);
  if (at != plan.end() && *at == branch) return plan;
  if (plan.size() < query.states_max) {
    plan.insert(at, branch);
    return plan;
  }
  const auto nearest = std::min_element(
      plan.begin(), plan.end(),
      [&](std::uint32_t a, std::uint32_t b) { return Distance(a, branch) < Distance(b, branch); });
  *nearest = branch;  // no other depth lies between the two, so the order stays
  return plan;
}

const std::vector<NamedRule>& BaselineRules() {
  static const std::vector<NamedRule>* const rules = new std::vector<NamedRule>{
      {"none", [](const PlanQuery&) { return std::vector<std::uint32_t>(); }},
      {"balanced", [](const PlanQuery& q) { return BalancedPlan(q.shape.end, q.states_max); }},
      {"block8", [](const PlanQuery& q) { return BlockPlan(q.shape.end, kBlockStep); }},
      {"sqrt", [](const PlanQuery& q) { return SqrtPlan(q.shape.end); }},
      {"dyadic", [](const PlanQuery& q) { return DyadicPlan(q.shape.end); }},
      {"last", [](const PlanQuery& q) { return LastPlan(q.shape.end); }},
      {"dense", [](const PlanQuery& q) { return BlockPlan(q.shape.end, 1); }},
      {"marconi", [](const PlanQuery& q) { return WithBranchAtom(LastPlan(q.shape.end), q); }},
  };
  return *rules;
}

}  // namespace cairn::placement
