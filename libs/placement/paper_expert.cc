#include "libs/placement/paper_expert.h"

#include "libs/base/check.h"
#include "libs/placement/baselines.h"
#include "libs/placement/limits.h"
#include "libs/placement/line_solver.h"

namespace cairn::placement {
namespace {

constexpr double kHistoryMin = 2;  // observations, faded

}  // namespace

PaperExpert::PaperExpert(double decay)
    : histogram_(OverlapHistogram::Create(
                     {.grid = 1, .bins_max = limits::kEntryPositionsMax + 1, .decay = decay})
                     .value()) {}

void PaperExpert::Observe(const Claim& claim) {
  const absl::Status status = histogram_.Observe(claim.depth);
  CAIRN_CHECK(status.ok()) << status.ToString();
}

std::vector<std::uint32_t> PaperExpert::Plan(const PlanQuery& query) const {
  if (histogram_.Total() < kHistoryMin) return BalancedPlan(query.shape.end, query.states_max);
  LineProblem line = histogram_.Line();
  while (!line.atoms.empty() && line.atoms.back().depth > query.shape.end) line.atoms.pop_back();
  const absl::StatusOr<LinePlan> plan = SolveLine(line, query.states_max);
  CAIRN_CHECK(plan.ok()) << plan.status().ToString();
  return plan->depths;
}

}  // namespace cairn::placement
