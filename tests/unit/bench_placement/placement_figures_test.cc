#include "tools/bench/placement/placement_figures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json/value.hpp>
#include <boost/json/value_to.hpp>
#include <sstream>

#include "absl/strings/match.h"
#include "tests/unit/bench_placement/random_trace.h"
#include "tools/bench/placement/progress_bar.h"

namespace cairn::bench {
namespace {

ReplayTrace RandomTrace() {
  Rng rng(11);
  return {.name = "a trace",
          .note = "of a test",
          .block_tokens = 512,
          .requests = RandomRequests(rng, 400, 8)};
}

TEST(PlacementFiguresTest, TheJsonHasTheFormThatTheReadmeStates) {
  const ReplayTrace trace = RandomTrace();
  const TraceFigures figures =
      MeasureTrace(trace, 300, {.budgets = {1, 2}}, [](double) { return true; }).value();
  const boost::json::object found = JsonOf(trace, figures, 1000);
  EXPECT_EQ(found.at("trace"), "a trace");
  EXPECT_EQ(found.at("service_strategy"), kServiceStrategy);
  EXPECT_EQ(found.at("requests"), 300u);
  const double ceiling = found.at("ceiling_tokens").to_number<double>();
  EXPECT_EQ(ceiling, static_cast<double>(figures.ceiling * 512));
  std::size_t services = 0;
  for (const boost::json::value& one : found.at("strategies").as_array()) {
    services += one.at("strategy") == kServiceStrategy ? 1 : 0;
    const double saved = one.at("tokens_saved").to_number<double>();
    const double states = one.at("states_per_request").to_number<double>();
    EXPECT_DOUBLE_EQ(one.at("share_of_ceiling").to_number<double>(), saved / ceiling);
    EXPECT_LE(states, one.at("budget").to_number<double>());
    EXPECT_DOUBLE_EQ(one.at("bytes_per_request").to_number<double>(), states * 1000);
    EXPECT_DOUBLE_EQ(one.at("regret_share").to_number<double>(),
                     one.at("regret_tokens").to_number<double>() / ceiling);
    EXPECT_GE(one.at("solver_s").to_number<double>(), 0);
  }
  EXPECT_EQ(services, 2u);  // one a budget
  ASSERT_EQ(found.at("optimum").as_array().size(), 3u);
  EXPECT_EQ(found.at("optimum").at(0).at("states_per_request"), 0.1);
  EXPECT_EQ(found.at("optimum").at(0).at("states_max"), 30u);
  for (const boost::json::value& point : found.at("optimum").as_array()) {
    EXPECT_LE(point.at("share_reached").to_number<double>(),
              point.at("share_bound").to_number<double>());
  }
}

TEST(PlacementFiguresTest, NoRunBeatsTheOptimumOfAsManyStates) {
  const ReplayTrace trace = RandomTrace();
  const TraceFigures figures =
      MeasureTrace(trace, trace.requests.size(), {.budgets = {1, 4}}, [](double) {
        return true;
      }).value();
  Hindsight hindsight(trace.requests);
  for (const BudgetFigures& budget : figures.budgets) {
    EXPECT_EQ(budget.ceiling, hindsight.ceiling());
    for (const StrategyFigures& one : budget.strategies) {
      EXPECT_LE(one.saved, hindsight.At(one.states).bound) << one.strategy;
    }
  }
}

TEST(PlacementFiguresTest, ThePublishedMethodsRunsStandApartFromOtherRules) {
  const std::vector<PlanCheck> checks = {
      {.set = "s", .rule = "balanced", .budget = 5, .requests = 4, .equal = 4},
      {.set = "s", .rule = "dp", .budget = 1, .requests = 4, .equal = 3}};
  const std::vector<FifoReport> replays = {
      {.set = "s",
       .entries_max = 20,
       .budget = 1,
       .requests = 4,
       .matched_tokens = 500,
       .ceiling_tokens = 400,
       .strategies = {{.strategy = kServiceStrategy, .tokens_saved = 300, .states = 2}}}};
  const boost::json::object found = JsonOf(checks, replays, 10);
  ASSERT_EQ(found.at("runs").as_array().size(), 1u);
  EXPECT_EQ(found.at("runs").at(0).at("budget"), 1u);
  EXPECT_EQ(found.at("runs").at(0).at("requests"), 4u);
  EXPECT_EQ(found.at("runs").at(0).at("equal"), 3u);
  ASSERT_EQ(found.at("rules").as_array().size(), 1u);
  const boost::json::value& replay = found.at("replays").at(0);
  EXPECT_EQ(replay.at("strategies").at(0).at("share_of_ceiling"), 0.75);
  EXPECT_EQ(replay.at("strategies").at(0).at("bytes_per_request"), 5.0);
}

TEST(PlacementFiguresTest, APlotHasALineAStrategyAndTheBound) {
  const ReplayTrace trace = RandomTrace();
  const TraceQuestion question{.budgets = {1, 2}, .is_plotted = true};
  const TraceFigures figures =
      MeasureTrace(trace, 300, question, [](double) { return true; }).value();
  const SvgPlot plot = PlotOf(trace, figures);
  ASSERT_EQ(plot.series.size(), figures.budgets[0].strategies.size() + 1);
  EXPECT_TRUE(plot.series[0].is_dashed);
  for (std::size_t s = 1; s < plot.series.size(); ++s) EXPECT_EQ(plot.series[s].points.size(), 2u);
}

TEST(SvgPlotTest, IsWellFormedWhateverTheNames) {
  const SvgPlot plot{
      .title = "<a> & \"b\"\x01",
      .x_name = "x",
      .y_name = "y",
      .series = {{.name = "one<", .points = {{0, 0}, {2, 0.5}, {-1, 3}}},
                 {.name = "none", .points = {}},
                 {.name = "bound", .points = {{1, 1}, {0.0 / 0.0, 1}}, .is_dashed = true}}};
  const std::string svg = SvgOf(plot);
  EXPECT_TRUE(absl::StartsWith(svg, "<svg "));
  EXPECT_TRUE(absl::EndsWith(svg, "</svg>\n"));
  EXPECT_TRUE(absl::StrContains(svg, "&lt;a&gt; &amp; &quot;b&quot;<"));
  EXPECT_TRUE(absl::StrContains(svg, ">one&lt;<"));
  EXPECT_FALSE(absl::StrContains(svg, "nan"));
  EXPECT_EQ(std::count(svg.begin(), svg.end(), '\x01'), 0);
  std::size_t circles = 0;
  for (std::size_t at = svg.find("<circle"); at != std::string::npos;
       at = svg.find("<circle", at + 1)) {
    ++circles;
  }
  EXPECT_EQ(circles, 2u);
  EXPECT_EQ(SvgOf(plot), svg);
}

TEST(SvgPlotTest, APointStandsWhereItsValuesSay) {
  const std::string svg = SvgOf({.series = {{.name = "s", .points = {{0, 0}, {10, 1}, {5, 0.5}}}}});
  EXPECT_TRUE(absl::StrContains(svg, "points=\"80.0,490.0 680.0,50.0 380.0,270.0\"")) << svg;
}

TEST(ProgressBarTest, DrawsOnATerminalOnlyAndLeavesNothingBehind) {
  std::ostringstream file;
  std::ostringstream terminal;
  {
    ProgressBar quiet(file, false);
    ProgressBar bar(terminal, true);
    for (const double share : {0.0, 0.5, 0.5001, 2.0}) {
      quiet.Show("replaying", share);
      bar.Show("replaying", share);
    }
  }
  EXPECT_EQ(file.str(), "");
  const std::string drawn = terminal.str();
  EXPECT_TRUE(absl::StrContains(drawn, "50 % replaying"));
  EXPECT_TRUE(absl::StrContains(drawn, "100 % replaying"));
  EXPECT_EQ(drawn.find("50 %"), drawn.rfind("50 %"));  // what looks the same is drawn once
  EXPECT_TRUE(absl::EndsWith(drawn, "\r\x1b[K"));
}

}  // namespace
}  // namespace cairn::bench
