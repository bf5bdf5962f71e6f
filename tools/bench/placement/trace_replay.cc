#include "tools/bench/placement/trace_replay.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "libs/base/status_macros.h"
#include "libs/placement/baselines.h"
#include "libs/placement/default_experts.h"
#include "libs/placement/limits.h"
#include "libs/placement/paper_expert.h"
#include "libs/planner/limits.h"
#include "tools/bench/placement/fifo_replay.h"
#include "tools/bench/placement/service_replay.h"
#include "tools/bench/placement/stopwatch.h"

namespace cairn::bench {
namespace {

using placement::Expert;
using Experts = std::vector<std::unique_ptr<Expert>>;

// Of the replays through a planner: the service at ease, and at its strongest thinning.
constexpr std::uint32_t kThinnings[] = {1, planner::limits::kThinningMax};

struct PlanTime {
  double seconds = 0;
  std::uint64_t plans = 0;
};

// An expert whose plans are timed.
class TimedExpert : public Expert {
 public:
  TimedExpert(std::unique_ptr<Expert> expert, PlanTime& time)
      : expert_(std::move(expert)), time_(time) {}
  std::string_view name() const override { return expert_->name(); }
  void Observe(const placement::Claim& claim) override { expert_->Observe(claim); }
  void Expose(const placement::EntryShape& entry, std::uint32_t weight) override {
    expert_->Expose(entry, weight);
  }
  std::vector<std::uint32_t> Plan(const placement::PlanQuery& query) const override {
    const Stopwatch watch;
    std::vector<std::uint32_t> plan = expert_->Plan(query);
    time_.seconds += watch.Seconds();
    ++time_.plans;
    return plan;
  }
  std::vector<std::uint32_t> Sketch(const placement::PlanQuery& query) const override {
    return expert_->Sketch(query);
  }

 private:
  std::unique_ptr<Expert> expert_;
  PlanTime& time_;
};

// The service's panel first; then what it is compared with, as many at a time as a panel takes.
std::vector<Experts> Panels() {
  std::vector<Experts> panels;
  panels.push_back(placement::DefaultExperts());
  Experts others;
  others.push_back(std::make_unique<placement::PaperExpert>());
  for (const placement::NamedRule& rule : placement::BaselineRules()) {
    const bool is_there = std::any_of(panels[0].begin(), panels[0].end(),
                                      [&](const auto& one) { return one->name() == rule.name; });
    if (is_there) continue;
    others.push_back(std::make_unique<placement::BaselineExpert>(rule.name, rule.rule));
    if (others.size() < placement::limits::kExpertsMax) continue;
    panels.push_back(std::move(others));
    others.clear();
  }
  if (!others.empty()) panels.push_back(std::move(others));
  return panels;
}

StrategyFigures FiguresOf(const placement::ReplayLine& line, std::uint32_t budget,
                          const PlanTime& time) {
  const double mean_s = time.plans == 0 ? 0 : time.seconds / static_cast<double>(time.plans);
  return {.strategy = line.strategy,
          .budget = budget,
          .saved = line.saved,
          .states = line.states,
          .regret = 0,
          .solver_s = mean_s * static_cast<double>(line.requests),
          .plan_us = mean_s * 1e6};
}

void AddPanel(const placement::ReplayReport& report, absl::Span<const PlanTime> times,
              bool is_service, BudgetFigures& figures) {
  if (is_service) {
    PlanTime all;
    for (const PlanTime& time : times) {
      all.seconds += time.seconds;
      all.plans += time.plans;
    }
    StrategyFigures followed = FiguresOf(report.followed, figures.budget, all);
    followed.strategy = kServiceStrategy;
    followed.solver_s = all.seconds;
    figures.strategies.push_back(std::move(followed));
    figures.last_leader = report.last_leader;
    figures.requests = report.followed.requests;
    figures.ceiling = report.followed.ceiling;
  }
  for (std::size_t e = 0; e < report.experts.size(); ++e) {
    figures.strategies.push_back(FiguresOf(report.experts[e], figures.budget, times[e]));
  }
}

void CountRegret(BudgetFigures& figures) {
  const auto best =
      std::max_element(figures.strategies.begin() + 1, figures.strategies.end(),
                       [](const auto& a, const auto& b) { return a.saved < b.saved; });
  figures.best_single = best->strategy;
  for (std::vector<StrategyFigures>* const list : {&figures.strategies, &figures.planners}) {
    for (StrategyFigures& one : *list) {
      one.regret = static_cast<std::int64_t>(best->saved) - static_cast<std::int64_t>(one.saved);
    }
  }
}

}  // namespace

absl::StatusOr<BudgetFigures> ReplayStrategies(absl::Span<const placement::TraceRequest> trace,
                                               std::uint32_t budget, ReplayProgress progress) {
  BudgetFigures figures{.budget = budget,
                        .requests = 0,
                        .ceiling = 0,
                        .strategies = {},
                        .planners = {},
                        .best_single = {},
                        .last_leader = {}};
  std::vector<Experts> panels = Panels();
  const std::size_t replays = panels.size() + std::size(kThinnings);
  const auto tell = [&](std::size_t replay, std::size_t done) {
    return progress(static_cast<double>(replay * trace.size() + done) /
                    static_cast<double>(trace.size() * replays));
  };
  for (std::size_t p = 0; p < panels.size(); ++p) {
    std::vector<PlanTime> times(panels[p].size());
    Experts timed;
    for (std::size_t e = 0; e < times.size(); ++e) {
      timed.push_back(std::make_unique<TimedExpert>(std::move(panels[p][e]), times[e]));
    }
    const absl::StatusOr<placement::ReplayReport> report = placement::Replay(
        trace, std::move(timed), budget, [&](std::size_t done) { return tell(p, done); });
    if (absl::IsCancelled(report.status())) return absl::CancelledError("interrupted");
    CAIRN_RETURN_IF_ERROR(report.status());
    AddPanel(*report, times, p == 0, figures);
  }
  for (std::size_t i = 0; i < std::size(kThinnings); ++i) {
    const Stopwatch watch;
    CAIRN_ASSIGN_OR_RETURN(placement::ReplayLine line,
                           ReplayService(trace, budget, kThinnings[i], [&](std::size_t done) {
                             return tell(panels.size() + i, done);
                           }));
    line.strategy = absl::StrCat("planner_thinned_by_", kThinnings[i]);
    figures.planners.push_back(
        FiguresOf(line, budget, {.seconds = watch.Seconds(), .plans = line.requests}));
  }
  CountRegret(figures);
  return figures;
}

}  // namespace cairn::bench
