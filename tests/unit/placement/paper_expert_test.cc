#include "libs/placement/paper_expert.h"

#include <gtest/gtest.h>

#include "libs/placement/baselines.h"

namespace cairn::placement {
namespace {

TEST(PaperExpertTest, PlansByAbsoluteDepthWhateverTheEntry) {
  PaperExpert expert;
  const PlanQuery query{.shape = {.end = 100}, .branches = {}, .held = {}, .states_max = 2};
  EXPECT_EQ(expert.Plan(query), BalancedPlan(100, 2));  // nothing is known
  for (int i = 0; i < 300; ++i) {
    expert.Observe({.entry = {.end = 20}, .depth = 7});
    expert.Observe({.entry = {.end = 90}, .depth = 12});
  }
  EXPECT_EQ(expert.Plan(query), (std::vector<std::uint32_t>{7, 12}));
}

TEST(PaperExpertTest, ForgetsClaimsFromBeyondTheEntrysEnd) {
  PaperExpert expert;
  expert.Observe({.entry = {.end = 90}, .depth = 5});
  for (int i = 0; i < 300; ++i) expert.Observe({.entry = {.end = 90}, .depth = 50});
  const PlanQuery query{.shape = {.end = 40}, .branches = {}, .held = {}, .states_max = 1};
  EXPECT_EQ(expert.Plan(query), (std::vector<std::uint32_t>{5}));
}

TEST(PaperExpertTest, ForgetsByItsDecay) {
  PaperExpert expert(0.9);
  const PlanQuery query{.shape = {.end = 100}, .branches = {}, .held = {}, .states_max = 1};
  for (int i = 0; i < 1000; ++i) expert.Observe({.entry = {.end = 90}, .depth = 80});
  for (int i = 0; i < 60; ++i) expert.Observe({.entry = {.end = 90}, .depth = 5});
  EXPECT_EQ(expert.Plan(query), (std::vector<std::uint32_t>{5}));
}

}  // namespace
}  // namespace cairn::placement
