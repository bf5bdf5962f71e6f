#include "libs/placement_rpc/plan_cache.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "libs/placement/baselines.h"

namespace cairn {

PlanCache::Kind PlanCache::KindOf(const CheckpointQuestion& question) {
  return {question.family, std::bit_width(question.length), question.resume_depth > 0,
          question.shared_depth > question.resume_depth};
}

void PlanCache::Remember(const CheckpointQuestion& question, std::uint64_t grid,
                         const std::vector<std::uint64_t>& positions) {
  Plan plan{.kind = KindOf(question), .from_end = {}};
  const std::uint64_t end = question.length / grid, branch = question.shared_depth / grid;
  for (const std::uint64_t position : positions) {
    const std::uint64_t at = position / grid;
    if (at == branch) {
      plan.is_at_branch = true;
    } else {
      plan.from_end.push_back(end - std::min(end, at));
    }
  }
  if (const auto known = plans_.find(plan.kind); known != plans_.end()) {
    uses_.erase(known->second);
    plans_.erase(known);
  }
  const Kind kind = plan.kind;
  plans_[kind] = uses_.insert(uses_.end(), std::move(plan));
  if (uses_.size() <= plans_max_) return;
  plans_.erase(uses_.front().kind);
  uses_.pop_front();
}

std::optional<std::vector<std::uint64_t>> PlanCache::Recall(const CheckpointQuestion& question,
                                                            std::uint64_t grid) {
  const auto known = plans_.find(KindOf(question));
  if (known == plans_.end()) return std::nullopt;
  uses_.splice(uses_.end(), uses_, known->second);
  const Plan& plan = *known->second;
  const std::uint64_t end = question.length / grid;
  std::vector<std::uint64_t> positions;
  for (const std::uint64_t steps : plan.from_end) {
    if (steps < end) positions.push_back((end - steps) * grid);
  }
  if (plan.is_at_branch) positions.push_back(question.shared_depth / grid * grid);
  std::sort(positions.begin(), positions.end());
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
  positions.erase(positions.begin(),
                  std::upper_bound(positions.begin(), positions.end(), question.resume_depth));
  return positions;
}

std::vector<std::uint64_t> BalancedPositions(const CheckpointQuestion& question, std::uint64_t grid,
                                             std::uint32_t states) {
  const std::uint64_t resume = question.resume_depth / grid, end = question.length / grid;
  std::vector<std::uint64_t> positions;
  if (end <= resume) return positions;
  for (const std::uint32_t at :
       placement::BalancedPlan(static_cast<std::uint32_t>(end - resume), states)) {
    const std::uint64_t position = (resume + at) * grid;
    if (position > question.resume_depth) positions.push_back(position);
  }
  return positions;
}

}  // namespace cairn
