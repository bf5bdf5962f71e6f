#include "tools/bench/placement/placement_figures.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "libs/base/status_macros.h"

namespace cairn::bench {
namespace {

namespace json = boost::json;

// States a request, in thousandths: what the optimum is asked for, and what it is plotted at.
constexpr std::uint64_t kAsked[] = {100, 200, 300};
constexpr std::uint64_t kPlotted[] = {5, 10, 20, 50, 75, 100, 150, 200, 300, 500, 1000, 2000};

// Of the replays of several logs, that share one plot.
constexpr const char* kPlottedOfLogs[] = {kServiceStrategy, "branch_else_half",
                                          "branch_else_last64", "paper", "balanced"};

double Ratio(double part, std::uint64_t whole) {
  return whole == 0 ? 0 : part / static_cast<double>(whole);
}
double Ratio(std::uint64_t part, std::uint64_t whole) {
  return Ratio(static_cast<double>(part), whole);
}

json::object JsonOf(const StrategyFigures& one, const TraceFigures& figures,
                    std::uint64_t state_bytes) {
  const double states = Ratio(one.states, figures.requests);
  return {{"strategy", one.strategy},
          {"budget", one.budget},
          {"share_of_ceiling", Ratio(one.saved, figures.ceiling)},
          {"tokens_saved", one.saved * figures.block_tokens},
          {"states", one.states},
          {"states_per_request", states},
          {"bytes_per_request", states * static_cast<double>(state_bytes)},
          {"regret_tokens", one.regret * static_cast<std::int64_t>(figures.block_tokens)},
          {"regret_share", Ratio(static_cast<double>(one.regret), figures.ceiling)},
          {"solver_s", one.solver_s},
          {"plan_us", one.plan_us}};
}

json::object JsonOf(const OptimumFigures& optimum, const TraceFigures& figures) {
  const HindsightPoint& point = optimum.found;
  return {{"states_per_request", Ratio(optimum.thousandths, 1000)},
          {"states_max", point.states_max},
          {"share_bound", Ratio(point.bound, figures.ceiling)},
          {"share_reached", Ratio(point.reached, figures.ceiling)},
          {"tokens_saved_bound", point.bound * figures.block_tokens},
          {"tokens_saved_reached", point.reached * figures.block_tokens}};
}

json::object JsonOf(const FifoReport& replay, std::uint64_t state_bytes) {
  json::array strategies;
  for (const FifoFigures& one : replay.strategies) {
    const double states = Ratio(one.states, replay.requests);
    strategies.push_back(
        json::object{{"strategy", one.strategy},
                     {"share_of_ceiling", Ratio(one.tokens_saved, replay.ceiling_tokens)},
                     {"tokens_saved", one.tokens_saved},
                     {"states", one.states},
                     {"states_per_request", states},
                     {"bytes_per_request", states * static_cast<double>(state_bytes)},
                     {"regret_tokens", one.regret},
                     {"solver_s", one.solver_s}});
  }
  return {{"set", replay.set},
          {"entries_max", replay.entries_max},
          {"budget", replay.budget},
          {"requests", replay.requests},
          {"matched_tokens", replay.matched_tokens},
          {"ceiling_tokens", replay.ceiling_tokens},
          {"service_strategy", kServiceStrategy},
          {"strategies", std::move(strategies)}};
}

}  // namespace

absl::StatusOr<TraceFigures> MeasureTrace(const ReplayTrace& trace, std::size_t requests,
                                          const TraceQuestion& question, ReplayProgress progress) {
  const absl::Span<const placement::TraceRequest> part =
      absl::MakeConstSpan(trace.requests).first(std::min(requests, trace.requests.size()));
  TraceFigures figures{.requests = part.size(),
                       .block_tokens = trace.block_tokens,
                       .ceiling = 0,
                       .budgets = {},
                       .optimum = {},
                       .states_for_all = 0};
  std::vector<std::uint64_t> asked(std::begin(kAsked), std::end(kAsked));
  if (question.is_plotted) asked.assign(std::begin(kPlotted), std::end(kPlotted));
  const double steps = static_cast<double>(question.budgets.size() + asked.size());
  double done = 0;
  for (const std::uint32_t budget : question.budgets) {
    CAIRN_ASSIGN_OR_RETURN(BudgetFigures replayed,
                           ReplayStrategies(part, budget, [&](double share) {
                             return progress((done + share) / steps);
                           }));
    figures.budgets.push_back(std::move(replayed));
    ++done;
  }
  Hindsight hindsight(part);
  figures.ceiling = hindsight.ceiling();
  figures.states_for_all = hindsight.states_for_all();
  for (const std::uint64_t thousandths : asked) {
    figures.optimum.push_back(
        {.thousandths = thousandths, .found = hindsight.At(part.size() * thousandths / 1000)});
    if (!progress(++done / steps)) return absl::CancelledError("interrupted");
  }
  return figures;
}

json::object JsonOf(const ReplayTrace& trace, const TraceFigures& figures,
                    std::uint64_t state_bytes) {
  json::array planners;
  json::array strategies;
  json::array best;
  for (const BudgetFigures& budget : figures.budgets) {
    for (const StrategyFigures& one : budget.strategies) {
      strategies.push_back(JsonOf(one, figures, state_bytes));
    }
    for (const StrategyFigures& one : budget.planners) {
      planners.push_back(JsonOf(one, figures, state_bytes));
    }
    best.push_back(json::object{{"budget", budget.budget},
                                {"strategy", budget.best_single},
                                {"last_leader", budget.last_leader}});
  }
  json::array optimum;
  for (const OptimumFigures& point : figures.optimum) optimum.push_back(JsonOf(point, figures));
  return {{"trace", trace.name},
          {"service_strategy", kServiceStrategy},
          {"strategies", std::move(strategies)},
          {"planners", std::move(planners)},
          {"requests", figures.requests},
          {"block_tokens", figures.block_tokens},
          {"note", trace.note},
          {"ceiling_tokens", figures.ceiling * figures.block_tokens},
          {"state_bytes", state_bytes},
          {"best_single", std::move(best)},
          {"optimum", std::move(optimum)},
          {"states_for_all_per_request", Ratio(figures.states_for_all, figures.requests)}};
}

json::object JsonOf(const std::vector<PlanCheck>& checks, const std::vector<FifoReport>& replays,
                    std::uint64_t state_bytes) {
  json::array runs;
  json::array rules;
  for (const PlanCheck& check : checks) {
    (check.rule == "dp" ? runs : rules)
        .push_back(json::object{{"set", check.set},
                                {"rule", check.rule},
                                {"budget", check.budget},
                                {"requests", check.requests},
                                {"equal", check.equal},
                                {"solver_s", check.solver_s},
                                {"first_difference", check.first_difference}});
  }
  json::array logs;
  for (const FifoReport& replay : replays) logs.push_back(JsonOf(replay, state_bytes));
  return {{"runs", std::move(runs)}, {"rules", std::move(rules)}, {"replays", std::move(logs)}};
}

SvgPlot PlotOf(const ReplayTrace& trace, const TraceFigures& figures) {
  SvgPlot plot{.title = absl::StrCat(trace.name, ", ", figures.requests, " requests"),
               .x_name = "states a request",
               .y_name = "share of what dense states would save",
               .series = {}};
  SvgSeries bound{.name = "knows the future (bound)", .points = {{0, 0}}, .is_dashed = true};
  for (const OptimumFigures& point : figures.optimum) {
    bound.points.push_back({Ratio(point.found.states_max, figures.requests),
                            Ratio(point.found.bound, figures.ceiling)});
  }
  plot.series.push_back(std::move(bound));
  for (const BudgetFigures& budget : figures.budgets) {
    for (const StrategyFigures& one : budget.strategies) {
      const auto found =
          std::find_if(plot.series.begin(), plot.series.end(),
                       [&](const SvgSeries& series) { return series.name == one.strategy; });
      const SvgSeries::Point point{Ratio(one.states, figures.requests),
                                   Ratio(one.saved, figures.ceiling)};
      if (found != plot.series.end()) {
        found->points.push_back(point);
      } else {
        plot.series.push_back({.name = one.strategy, .points = {point}});
      }
    }
  }
  return plot;
}

SvgPlot PlotOf(const std::vector<FifoReport>& replays) {
  SvgPlot plot{.title = "published logs, replayed",
               .x_name = "states placed",
               .y_name = "tokens saved",
               .series = {}};
  for (const FifoReport& replay : replays) {
    for (const FifoFigures& one : replay.strategies) {
      if (std::find(std::begin(kPlottedOfLogs), std::end(kPlottedOfLogs), one.strategy) ==
          std::end(kPlottedOfLogs)) {
        continue;
      }
      const std::string name = absl::StrCat(replay.set, ": ", one.strategy);
      const auto found = std::find_if(plot.series.begin(), plot.series.end(),
                                      [&](const SvgSeries& series) { return series.name == name; });
      const SvgSeries::Point point{static_cast<double>(one.states),
                                   static_cast<double>(one.tokens_saved)};
      if (found != plot.series.end()) {
        found->points.push_back(point);
      } else {
        plot.series.push_back({.name = name, .points = {point}});
      }
    }
  }
  return plot;
}

}  // namespace cairn::bench
