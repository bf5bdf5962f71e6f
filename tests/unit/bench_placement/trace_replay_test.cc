#include "tools/bench/placement/trace_replay.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "libs/placement/baselines.h"
#include "libs/placement/default_experts.h"
#include "tests/unit/bench_placement/random_trace.h"
#include "tools/bench/placement/fifo_replay.h"

namespace cairn::bench {
namespace {

bool GoOn(double) { return true; }

TEST(TraceReplayTest, TheServiceAndEveryRuleHaveTheirFigures) {
  Rng rng(3);
  const std::vector<placement::TraceRequest> trace = RandomRequests(rng, 400, 8);
  const BudgetFigures figures = ReplayStrategies(trace, 2, GoOn).value();
  EXPECT_EQ(figures.requests, 400u);
  std::set<std::string> names;
  for (const StrategyFigures& one : figures.strategies) {
    EXPECT_TRUE(names.insert(one.strategy).second) << one.strategy;
    EXPECT_EQ(one.budget, 2u);
    EXPECT_LE(one.saved, figures.ceiling);
    EXPECT_LE(one.states, 2 * figures.requests);
  }
  EXPECT_EQ(figures.strategies[0].strategy, kServiceStrategy);
  EXPECT_TRUE(names.contains("paper"));
  for (const placement::NamedRule& rule : placement::BaselineRules()) {
    EXPECT_TRUE(names.contains(std::string(rule.name))) << rule.name;
  }
  for (const auto& expert : placement::DefaultExperts()) {
    EXPECT_TRUE(names.contains(std::string(expert->name()))) << expert->name();
  }
}

TEST(TraceReplayTest, TheServiceIsThePanelOfTheDefaultExperts) {
  Rng rng(4);
  const std::vector<placement::TraceRequest> trace = RandomRequests(rng, 500, 8);
  const BudgetFigures figures = ReplayStrategies(trace, 1, GoOn).value();
  const placement::ReplayReport report =
      placement::Replay(trace, placement::DefaultExperts(), 1).value();
  EXPECT_EQ(figures.strategies[0].saved, report.followed.saved);
  EXPECT_EQ(figures.strategies[0].states, report.followed.states);
  EXPECT_EQ(figures.ceiling, report.followed.ceiling);
  EXPECT_EQ(figures.last_leader, report.last_leader);
  EXPECT_GT(figures.strategies[0].solver_s, 0);
}

TEST(TraceReplayTest, ThroughAPlannerItComesToTheSameAndThinnedItStillSaves) {
  Rng rng(7);
  const std::vector<placement::TraceRequest> trace = RandomRequests(rng, 3000, 8);
  const BudgetFigures figures = ReplayStrategies(trace, 2, GoOn).value();
  ASSERT_EQ(figures.planners.size(), 2u);
  EXPECT_EQ(figures.planners[0].strategy, "planner_thinned_by_1");
  EXPECT_EQ(figures.planners[1].strategy, "planner_thinned_by_16");
  const auto followed = static_cast<double>(figures.strategies[0].saved);
  EXPECT_NEAR(static_cast<double>(figures.planners[0].saved), followed, 0.02 * followed);
  EXPECT_GT(static_cast<double>(figures.planners[1].saved), 0.8 * followed);
  EXPECT_NE(figures.planners[1].saved, figures.planners[0].saved);
}

TEST(TraceReplayTest, RegretIsAgainstTheBestSingleOne) {
  Rng rng(5);
  const std::vector<placement::TraceRequest> trace = RandomRequests(rng, 300, 8);
  const BudgetFigures figures = ReplayStrategies(trace, 1, GoOn).value();
  std::uint64_t best = 0;
  for (std::size_t i = 1; i < figures.strategies.size(); ++i) {
    best = std::max(best, figures.strategies[i].saved);
  }
  ASSERT_GT(best, 0u);
  for (const StrategyFigures& one : figures.strategies) {
    EXPECT_EQ(one.regret + static_cast<std::int64_t>(one.saved), static_cast<std::int64_t>(best));
    EXPECT_TRUE(one.strategy != figures.best_single || one.regret == 0);
  }
}

TEST(TraceReplayTest, TellsHowFarItIsAndStopsWhenToldTo) {
  Rng rng(6);
  const std::vector<placement::TraceRequest> trace = RandomRequests(rng, 100, 8);
  double last = 0;
  ASSERT_TRUE(ReplayStrategies(trace, 1, [&](double share) {
                EXPECT_GE(share, last);
                last = share;
                return true;
              }).ok());
  EXPECT_DOUBLE_EQ(last, 1);
  const absl::Status status =
      ReplayStrategies(trace, 1, [](double share) { return share < 0.5; }).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace cairn::bench
