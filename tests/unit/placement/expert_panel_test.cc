#include "libs/placement/expert_panel.h"

#include <gtest/gtest.h>

#include <utility>

#include "libs/placement/baselines.h"
#include "libs/placement/default_experts.h"
#include "libs/placement/limits.h"

namespace cairn::placement {
namespace {

using Depths = std::vector<std::uint32_t>;

std::vector<std::unique_ptr<Expert>> Rules(const std::vector<std::string_view>& names) {
  std::vector<std::unique_ptr<Expert>> experts;
  for (const std::string_view name : names) {
    for (const NamedRule& rule : BaselineRules()) {
      if (rule.name == name) {
        experts.push_back(std::make_unique<BaselineExpert>(rule.name, rule.rule));
      }
    }
  }
  return experts;
}

std::unique_ptr<ExpertPanel> Panel(const std::vector<std::string_view>& names) {
  return ExpertPanel::Create(Rules(names), 100).value();
}

TEST(ExpertPanelTest, ARequestResumesAtTheStatesThatWerePlaced) {
  const auto panel = Panel({"last"});
  const auto first = panel->Arrive({.length = 10, .end = 9, .states_max = 1}).value();
  EXPECT_EQ(first.worlds[0].placed, 1u);
  EXPECT_EQ(first.worlds[0].resumed, 0u);
  const auto second = panel
                          ->Arrive({.matched = first.entry,
                                    .agreed = 9,
                                    .shared = 9,
                                    .length = 14,
                                    .end = 13,
                                    .states_max = 1})
                          .value();
  EXPECT_EQ(second.worlds[0].resumed, 9u);
  EXPECT_EQ(second.worlds[0].placed, 1u);
  EXPECT_EQ(panel->Ceiling(), 9u);
  EXPECT_EQ(panel->ScoreOf(0).saved, 9u);
  EXPECT_EQ(panel->ScoreOf(0).states, 2u);
}

TEST(ExpertPanelTest, TheLeaderIsWhoWouldHaveSavedMostInItsOwnWorld) {
  const auto panel = Panel({"none", "last"});
  auto outcome = panel->Arrive({.length = 10, .end = 9, .states_max = 1}).value();
  EXPECT_EQ(panel->Leader(), 0u);
  EXPECT_EQ(outcome.worlds[0].placed, 0u);
  EXPECT_EQ(outcome.worlds[1].placed, 1u);
  outcome = panel
                ->Arrive({.matched = outcome.entry,
                          .agreed = 9,
                          .shared = 9,
                          .length = 10,
                          .end = 9,
                          .states_max = 1})
                .value();
  EXPECT_EQ(panel->Leader(), 1u);
  EXPECT_EQ(outcome.worlds[0].resumed, 0u);
  EXPECT_EQ(outcome.worlds[1].resumed, 9u);
  EXPECT_EQ(panel->ScoreOf(1).states, 1u);
}

TEST(ExpertPanelTest, AnArrivalThatWeighsCountsAsSoManyButIsOneEntry) {
  const auto panel = Panel({"last"});
  const auto first = panel->Arrive({.length = 10, .end = 9, .states_max = 1, .weight = 5}).value();
  ASSERT_TRUE(panel
                  ->Arrive({.matched = first.entry,
                            .agreed = 9,
                            .shared = 9,
                            .length = 14,
                            .end = 13,
                            .states_max = 1,
                            .weight = 3})
                  .ok());
  EXPECT_EQ(panel->Requests(), 8u);
  EXPECT_EQ(panel->Ceiling(), 27u);
  EXPECT_EQ(panel->ScoreOf(0).saved, 27u);
  EXPECT_EQ(panel->ScoreOf(0).states, 2u);
  EXPECT_EQ(panel->entries(), 2u);
}

// Plans one way, sketches another, and remembers how much it was told.
class Teller : public Expert {
 public:
  explicit Teller(std::uint64_t& told) : told_(told) {}
  std::string_view name() const override { return "teller"; }
  void Observe(const Claim& claim) override { told_ += claim.weight; }
  void Expose(const EntryShape&, std::uint32_t weight) override { told_ += 1000 * weight; }
  Depths Plan(const PlanQuery&) const override { return {1}; }
  Depths Sketch(const PlanQuery&) const override { return {7}; }

 private:
  std::uint64_t& told_;
};

TEST(ExpertPanelTest, WorldsLiveOnSketchesAndExpertsAreToldWhatAnArrivalWeighs) {
  std::uint64_t told = 0;
  std::vector<std::unique_ptr<Expert>> experts;
  experts.push_back(std::make_unique<Teller>(told));
  const auto panel = ExpertPanel::Create(std::move(experts), 100).value();
  const auto first = panel->Arrive({.length = 10, .end = 9, .states_max = 1, .weight = 4}).value();
  EXPECT_EQ(told, 4000u);
  const auto second = panel
                          ->Arrive({.matched = first.entry,
                                    .agreed = 8,
                                    .shared = 8,
                                    .length = 10,
                                    .end = 9,
                                    .states_max = 1,
                                    .weight = 2})
                          .value();
  EXPECT_EQ(told, 6002u);
  EXPECT_EQ(second.worlds[0].resumed, 7u);
}

TEST(ExpertPanelTest, RefusesArrivalsThatContradictThemselvesAndCountsNothing) {
  const auto panel = Panel({"last"});
  ASSERT_TRUE(panel->Arrive({.length = 10, .end = 9, .states_max = 1}).ok());
  const ExpertPanel::Arrival bad[] = {
      {.length = 10, .end = 11},
      {.length = limits::kEntryPositionsMax + 1},
      {.length = 10, .end = 9, .states_max = limits::kEntryStatesMax + 1},
      {.agreed = 4, .shared = 4, .length = 10},                // with nothing
      {.matched = 1, .agreed = 4, .shared = 4, .length = 10},  // no such entry
      {.matched = 0, .agreed = 11, .shared = 4, .length = 12},
      {.matched = 0, .agreed = 4, .shared = 5, .length = 10},
      {.matched = 0, .agreed = 5, .shared = 4, .length = 4},
      {.matched = 0, .agreed = 5, .shared = 5, .length = 5},  // the last block always runs
      {.length = 10, .end = 9, .weight = 0},
      {.length = 10, .end = 9, .weight = limits::kArrivalWeightMax + 1},
  };
  for (const ExpertPanel::Arrival& arrival : bad) {
    EXPECT_EQ(panel->Arrive(arrival).status().code(), absl::StatusCode::kInvalidArgument)
        << arrival.length << " " << arrival.agreed << " " << arrival.shared;
  }
  EXPECT_EQ(panel->Requests(), 1u);
  EXPECT_EQ(panel->Ceiling(), 0u);
}

TEST(ExpertPanelTest, AtItsEntriesItRefusesUntilRestartedAndKeepsTheScores) {
  const auto panel = ExpertPanel::Create(Rules({"last"}), 2).value();
  const auto first = panel->Arrive({.length = 10, .end = 9, .states_max = 1}).value();
  ASSERT_TRUE(panel
                  ->Arrive({.matched = first.entry,
                            .agreed = 9,
                            .shared = 9,
                            .length = 10,
                            .end = 9,
                            .states_max = 1})
                  .ok());
  EXPECT_EQ(panel->Arrive({.length = 3}).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(panel->Restart().tree.size(), 2u);
  EXPECT_EQ(panel->entries(), 0u);
  EXPECT_FALSE(panel->Arrive({.matched = first.entry, .agreed = 1, .length = 3}).ok());
  EXPECT_TRUE(panel->Arrive({.length = 3}).ok());
  EXPECT_EQ(panel->ScoreOf(0).saved, 9u);
}

TEST(ExpertPanelTest, RefusesNoExpertsTooManyAndNoEntries) {
  EXPECT_FALSE(ExpertPanel::Create({}, 10).ok());
  EXPECT_FALSE(ExpertPanel::Create(Rules({"last"}), 0).ok());
  EXPECT_FALSE(ExpertPanel::Create(
                   Rules({"last", "last", "last", "last", "last", "last", "last", "last"}), 10)
                   .ok());
}

TEST(ExpertPanelTest, APanelThatWasLoadedHasTheScoresAndLawsButNoEntries) {
  const auto panel = ExpertPanel::Create(DefaultExperts(), 1000).value();
  auto outcome = panel->Arrive({.family = 5, .length = 30, .end = 29, .states_max = 2}).value();
  for (int i = 0; i < 50; ++i) {
    outcome = panel
                  ->Arrive({.family = 5,
                            .matched = outcome.entry,
                            .agreed = 20,
                            .shared = 20,
                            .length = 30,
                            .end = 29,
                            .states_max = 2})
                  .value();
  }
  ByteWriter out;
  panel->Save(out);
  const std::string bytes = std::move(out).Take();
  const auto read = ExpertPanel::Create(DefaultExperts(), 1000).value();
  ByteReader in(bytes);
  ASSERT_TRUE(read->Load(in).ok());
  EXPECT_TRUE(in.at_end());
  EXPECT_EQ(read->entries(), 0u);
  EXPECT_EQ(read->Leader(), panel->Leader());
  EXPECT_EQ(read->Requests(), 51u);
  EXPECT_EQ(read->Ceiling(), panel->Ceiling());
  const PlanQuery query{.shape = {.family = 5, .end = 40}, .states_max = 3};
  for (std::size_t e = 0; e < panel->experts(); ++e) {
    EXPECT_EQ(read->ScoreOf(e).saved, panel->ScoreOf(e).saved);
    EXPECT_EQ(read->ExpertAt(e).Plan(query), panel->ExpertAt(e).Plan(query));
  }
  for (std::size_t size = 0; size < bytes.size(); size += 97) {
    const auto other = ExpertPanel::Create(DefaultExperts(), 1000).value();
    ByteReader cut(absl::string_view(bytes).substr(0, size));
    EXPECT_FALSE(other->Load(cut).ok()) << size;
  }
  ByteReader again(bytes);
  EXPECT_EQ(Panel({"none"})->Load(again).code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace cairn::placement
