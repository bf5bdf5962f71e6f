#include "libs/placement/replay.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "libs/base/rng.h"
#include "libs/placement/baselines.h"
#include "libs/placement/default_experts.h"
#include "libs/placement/limits.h"
#include "libs/placement/paper_expert.h"

namespace cairn::placement {
namespace {

// Sessions that go on from their last request or start anew from a common head; a block's name is
// that of the path to it.
std::vector<TraceRequest> RandomTrace(Rng& rng, std::size_t requests) {
  std::vector<TraceRequest> trace;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> names;
  std::vector<std::vector<std::uint64_t>> texts;
  while (trace.size() < requests) {
    std::vector<std::uint64_t> text;
    if (!texts.empty() && rng.Chance(4, 5)) {
      text = texts[rng.Below(texts.size())];
      text.resize(rng.Chance(1, 2) ? text.size() : rng.Below(text.size() + 1));
    }
    for (std::uint64_t more = rng.Below(6); more > 0 || text.empty(); more -= more > 0 ? 1 : 0) {
      text.push_back(rng.Below(3));
    }
    TraceRequest request;
    std::uint64_t name = 0;
    for (const std::uint64_t word : text) {
      name = names.try_emplace({name, word}, names.size() + 1).first->second;
      request.blocks.push_back(name);
    }
    request.full_blocks = static_cast<std::uint32_t>(text.size() - rng.Below(2));
    texts.push_back(text);
    trace.push_back(std::move(request));
  }
  return trace;
}

// The rules R1 to R5 and R7 in the plainest way, for rules that learn nothing.
ReplayLine PlainReplay(const std::vector<TraceRequest>& trace, BaselineExpert::Rule rule,
                       std::uint32_t states_max) {
  ReplayLine line;
  std::set<std::uint64_t> seen;
  std::set<std::uint64_t> states;
  for (const TraceRequest& request : trace) {
    std::uint32_t t = 0;
    while (t < request.blocks.size() && seen.contains(request.blocks[t])) ++t;
    const auto cap = std::min(t, static_cast<std::uint32_t>(request.blocks.size()) - 1);
    std::uint32_t resume = cap;
    while (resume > 0 && !states.contains(request.blocks[resume - 1])) --resume;
    line.saved += resume;
    line.ceiling += cap;
    ++line.requests;
    std::vector<std::uint32_t> plan =
        rule({.shape = {.end = request.full_blocks, .resume = resume, .shared = cap},
              .branches = {},
              .held = {},
              .states_max = states_max});
    std::reverse(plan.begin(), plan.end());
    std::uint32_t placed = 0;
    for (const std::uint32_t depth : plan) {
      if (placed == states_max || depth <= resume || depth > request.full_blocks) continue;
      placed += states.insert(request.blocks[depth - 1]).second ? 1 : 0;
    }
    line.states += placed;
    seen.insert(request.blocks.begin(), request.blocks.end());
  }
  return line;
}

TEST(ReplayTest, RulesThatLearnNothingGiveWhatThePlainReplayGives) {
  Rng rng(60);
  for (int round = 0; round < 40; ++round) {
    const std::vector<TraceRequest> trace = RandomTrace(rng, 150);
    for (const NamedRule& rule : BaselineRules()) {
      const std::uint32_t states_max = 1 + static_cast<std::uint32_t>(rng.Below(3));
      std::vector<std::unique_ptr<Expert>> experts;
      experts.push_back(std::make_unique<BaselineExpert>(rule.name, rule.rule));
      const ReplayReport report = Replay(trace, std::move(experts), states_max).value();
      const ReplayLine plain = PlainReplay(trace, rule.rule, states_max);
      ASSERT_EQ(report.followed.ceiling, plain.ceiling) << rule.name << " round " << round;
      ASSERT_EQ(report.followed.saved, plain.saved) << rule.name << " round " << round;
      ASSERT_EQ(report.followed.states, plain.states) << rule.name << " round " << round;
      ASSERT_EQ(report.experts[0].saved, plain.saved);
      ASSERT_EQ(report.experts[0].states, plain.states);
    }
  }
}

TEST(ReplayTest, IsTheSameEveryTime) {
  Rng rng(61);
  const std::vector<TraceRequest> trace = RandomTrace(rng, 500);
  const ReplayReport a = Replay(trace, DefaultExperts(), 2).value();
  const ReplayReport b = Replay(trace, DefaultExperts(), 2).value();
  EXPECT_EQ(a.followed.saved, b.followed.saved);
  EXPECT_EQ(a.followed.states, b.followed.states);
  EXPECT_EQ(a.last_leader, b.last_leader);
}

TEST(ReplayTest, TellsOfEveryRequestAndStopsWhenToldTo) {
  Rng rng(63);
  const std::vector<TraceRequest> trace = RandomTrace(rng, 50);
  std::size_t told = 0;
  ASSERT_TRUE(
      Replay(trace, DefaultExperts(), 1, [&](std::size_t done) { return done == ++told; }).ok());
  EXPECT_EQ(told, 50u);
  const absl::Status status =
      Replay(trace, DefaultExperts(), 1, [](std::size_t done) { return done < 7; }).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(status.message(), "replay ended after 7 requests");
}

TEST(ReplayTest, NothingSavesMoreThanTheCeilingOrPlacesMoreThanAllowed) {
  Rng rng(62);
  const std::vector<TraceRequest> trace = RandomTrace(rng, 1000);
  std::vector<std::unique_ptr<Expert>> experts = DefaultExperts();
  experts.push_back(std::make_unique<PaperExpert>());
  const ReplayReport report = Replay(trace, std::move(experts), 2).value();
  EXPECT_EQ(report.experts.back().strategy, "paper");
  for (const ReplayLine& line : report.experts) {
    EXPECT_LE(line.saved, line.ceiling) << line.strategy;
    EXPECT_LE(line.StatesPerRequest(), 2) << line.strategy;
    EXPECT_GT(line.Share(), 0.1) << line.strategy;
  }
}

// Sessions of two requests with private text, the second one going on `cut` blocks before the end
// of the first one's full blocks.
void AddSessions(std::vector<TraceRequest>& trace, std::uint64_t& name, int sessions,
                 std::size_t cut) {
  for (int session = 0; session < sessions; ++session) {
    TraceRequest first;
    for (int i = 0; i < 40; ++i) first.blocks.push_back(name++);
    first.full_blocks = 39;
    TraceRequest second = first;
    second.blocks.resize(39 - cut);
    for (int i = 0; i < 10; ++i) second.blocks.push_back(name++);
    second.full_blocks = static_cast<std::uint32_t>(second.blocks.size() - 1);
    trace.push_back(first);
    trace.push_back(second);
  }
}

TEST(ReplayTest, TheDefaultExpertsFindALawThatFixedRulesMiss) {
  std::vector<TraceRequest> trace;
  std::uint64_t name = 1;
  AddSessions(trace, name, 100, 3);
  const ReplayReport report = Replay(trace, DefaultExperts(), 1).value();
  EXPECT_GT(report.followed.Share(), 0.9);
  for (const ReplayLine& line : report.experts) {
    if (line.strategy != "marconi") continue;
    EXPECT_LT(line.Share(), 0.1);
  }
}

TEST(ReplayTest, ALawThatJumpsIsFollowedWithinTwoHundredObservations) {
  std::vector<TraceRequest> trace;
  std::uint64_t name = 1;
  AddSessions(trace, name, 3000, 0);
  AddSessions(trace, name, 200, 4);
  const ReplayLine before = Replay(trace, DefaultExperts(), 1)->followed;
  AddSessions(trace, name, 100, 4);
  const ReplayLine after = Replay(trace, DefaultExperts(), 1)->followed;
  EXPECT_GT(static_cast<double>(after.saved - before.saved),
            0.9 * static_cast<double>(after.ceiling - before.ceiling));
}

TEST(ReplayTest, RefusesARequestBeyondTheLimitsAndNamesIt) {
  std::vector<TraceRequest> trace(2);
  trace[0].blocks = {1, 2};
  trace[1].blocks = {1};
  trace[1].full_blocks = 2;
  const absl::Status status = Replay(trace, DefaultExperts(), 1).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(std::string(status.message()).find("request 1"), std::string::npos);
}

TEST(ReplayTest, AnEmptyTraceHasAnEmptyReport) {
  const ReplayReport report = Replay({}, DefaultExperts(), 1).value();
  EXPECT_EQ(report.followed.requests, 0u);
  EXPECT_DOUBLE_EQ(report.followed.Share(), 0);
  EXPECT_DOUBLE_EQ(report.followed.StatesPerRequest(), 0);
}

}  // namespace
}  // namespace cairn::placement
