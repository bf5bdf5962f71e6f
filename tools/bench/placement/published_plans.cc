#include "tools/bench/placement/published_plans.h"

#include <functional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "libs/base/status_macros.h"
#include "libs/placement/line_solver.h"
#include "tools/bench/placement/stopwatch.h"

namespace cairn::bench {
namespace {

using Positions = std::vector<std::uint32_t>;

constexpr std::uint64_t kObservationsPerPlan = 10;

// The published method, from the state that its log begins with.
class PublishedMethod {
 public:
  PublishedMethod(FirstHistogram first, std::uint32_t states)
      : observations_(first.observations),
        histogram_(std::move(first.histogram)),
        states_(states) {}

  absl::Status Solve() {
    const Stopwatch watch;
    CAIRN_ASSIGN_OR_RETURN(const placement::LinePlan plan,
                           placement::SolveLine(histogram_.Line(), states_));
    plan_ = plan.depths;
    solver_s_ += watch.Seconds();
    return absl::OkStatus();
  }
  absl::StatusOr<Positions> Plan(const LogRequest& request) {
    CAIRN_RETURN_IF_ERROR(histogram_.Observe(request.match));
    if (++observations_ % kObservationsPerPlan == 0) CAIRN_RETURN_IF_ERROR(Solve());
    Positions kept;
    for (const std::uint32_t depth : plan_) {
      if (depth * kLogGrid <= request.length) kept.push_back(depth * kLogGrid);
    }
    return kept;
  }
  double solver_s() const { return solver_s_; }

 private:
  std::uint64_t observations_;
  placement::OverlapHistogram histogram_;
  std::uint32_t states_;
  Positions plan_;
  double solver_s_ = 0;
};

Positions BalancedPositions(std::uint32_t length, std::uint32_t states) {
  Positions positions;
  const std::uint32_t step = length / (states + 1);
  if (step == 0) return positions;
  for (std::uint32_t k = 1; k <= states; ++k) {
    const std::uint32_t position = k * step / kLogGrid * kLogGrid;
    if (position > 0 && (positions.empty() || position > positions.back())) {
      positions.push_back(position);
    }
  }
  return positions;
}

Positions BlockPositions(std::uint32_t length, std::uint32_t step) {
  Positions positions;
  for (std::uint64_t position = step; position <= length; position += step) {
    positions.push_back(static_cast<std::uint32_t>(position));
  }
  return positions;
}

using Planned = std::function<absl::StatusOr<Positions>(const LogRequest&)>;

absl::Status Compare(const PublishedRun& run, const Planned& plan, PlanCheck& check) {
  for (const LogRequest& request : run.requests) {
    ++check.requests;
    const absl::StatusOr<Positions> planned = plan(request);
    if (!planned.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(run.path, ": request ", check.requests, ": ", planned.status().message()));
    }
    if (*planned == request.positions) {
      ++check.equal;
    } else if (check.first_difference.empty()) {
      check.first_difference = absl::StrCat(run.path, ": request ", check.requests, ": [",
                                            absl::StrJoin(request.positions, " "), "] published, [",
                                            absl::StrJoin(*planned, " "), "] planned");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckRun(const PublishedRun& run, const std::optional<FirstHistogram>& first,
                      PlanCheck& check) {
  const std::uint32_t number = run.number;
  if (run.rule != "dp") {
    return Compare(
        run,
        [&](const LogRequest& request) -> absl::StatusOr<Positions> {
          return run.rule == "balanced" ? BalancedPositions(request.length, number)
                                        : BlockPositions(request.length, number);
        },
        check);
  }
  if (!first.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat(run.path, ": no histogram to begin with beside it (..._histograms.json)"));
  }
  PublishedMethod method(*first, number);
  CAIRN_RETURN_IF_ERROR(method.Solve());
  CAIRN_RETURN_IF_ERROR(Compare(
      run, [&](const LogRequest& request) { return method.Plan(request); }, check));
  check.solver_s = method.solver_s();
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<PlanCheck>> CheckPublishedPlans(const PublishedSet& set) {
  std::vector<PlanCheck> checks;
  for (std::size_t r = 0; r < set.runs.size(); ++r) {
    const PublishedRun& run = set.runs[r];
    if (run.rule == "no_cache") continue;
    PlanCheck check{.set = set.name, .rule = run.rule, .budget = run.number};
    CAIRN_RETURN_IF_ERROR(CheckRun(run, set.first[r], check));
    checks.push_back(std::move(check));
  }
  return checks;
}

}  // namespace cairn::bench
