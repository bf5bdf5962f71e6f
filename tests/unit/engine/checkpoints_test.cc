#include <gtest/gtest.h>

#include "tests/unit/engine/engine_world.h"

// What an engine tells the cache of a prompt, and whom it asks where the prompt's states are
// wanted.
namespace cairn {
namespace {

using Positions = std::vector<std::uint64_t>;

class CheckpointsTest : public testing::Test {
 protected:
  CheckpointsTest() : world_({.has_cache = true, .has_plans = true}) {}
  // One request, whose plan is held back until it has been asked for.
  Answer* Run(const std::vector<PromptSegment>& segments, CheckpointPlan plan = {}) {
    Answer* const answer = world_.Submit(segments, 3);
    while (!answer->is_finished) {
      world_.engine->RunStep();
      for (HeldPlans::Asked& asked : world_.plans.asked) {
        questions_.push_back(asked.question);
        asked.done(plan);
      }
      world_.plans.asked.clear();
    }
    world_.RunAll();
    return answer;
  }

  Rng rng_{11};
  EngineWorld world_;
  std::vector<CheckpointQuestion> questions_;
};

TEST_F(CheckpointsTest, TheCacheLearnsThePromptsLengthAndItsBlocksEnds) {
  Run({Prefix(RandomTokens(rng_, 20)), Span(RandomTokens(rng_, 10)),
       Dependent(RandomTokens(rng_, 17))});
  ASSERT_EQ(world_.cache->wanted.size(), 1u);
  const WantedBlocks& wanted = world_.cache->wanted[0];
  EXPECT_EQ(wanted.prompt_tokens, 47u);
  EXPECT_EQ(wanted.ends, (std::vector<std::uint32_t>{16, 20, 30, 46, 47}));
  EXPECT_EQ(wanted.keys.size(), 5u);
}

TEST_F(CheckpointsTest, OnlyTheFirstLookupOfARequestTells) {
  const std::vector<Token> tokens = RandomTokens(rng_, 40);
  Run({Prefix(tokens)});
  world_.cache->leave_by = world_.cache->void_at = world_.loop.Now();  // over when it is here
  Run({Prefix(tokens)});
  ASSERT_EQ(world_.engine->stats().requests_acquired_again, 1u);
  ASSERT_EQ(world_.cache->wanted.size(), 3u);
  EXPECT_EQ(world_.cache->wanted[1].prompt_tokens, 40u);
  EXPECT_EQ(world_.cache->wanted[2].prompt_tokens, 0u);
  EXPECT_TRUE(world_.cache->wanted[2].ends.empty());
}

TEST_F(CheckpointsTest, AsksForWhatIsComputedAndTellsWithTheAnswer) {
  const std::vector<Token> tokens = RandomTokens(rng_, 70);
  const Answer* const first =
      Run({Prefix(tokens)}, {.positions = {32, 64}, .origin = PlanOrigin::kService});
  ASSERT_EQ(questions_.size(), 1u);
  EXPECT_NE(questions_[0].family, 0u);
  EXPECT_EQ(questions_[0].length, 70u);
  EXPECT_EQ(questions_[0].resume_depth, 0u);
  EXPECT_EQ(questions_[0].shared_depth, 0u);
  ASSERT_TRUE(first->usage.checkpoints.has_value());
  EXPECT_EQ(first->usage.checkpoints->positions, (Positions{32, 64}));
  EXPECT_EQ(first->usage.checkpoints->origin, PlanOrigin::kService);
  EXPECT_EQ(first->usage.overlap_depth, 0u);

  std::vector<Token> longer(tokens.begin(), tokens.begin() + 66);
  for (const Token token : RandomTokens(rng_, 30)) longer.push_back(token);
  longer[66] = (tokens[66] + 1) % 90;
  const Answer* const second = Run({Prefix(longer)}, {.origin = PlanOrigin::kCached});
  ASSERT_EQ(questions_.size(), 2u);
  EXPECT_EQ(questions_[1].family, questions_[0].family);
  EXPECT_EQ(questions_[1].resume_depth, 64u);
  EXPECT_EQ(questions_[1].shared_depth, 64u);
  EXPECT_EQ(second->usage.overlap_depth, 64u);
  Run({Prefix(RandomTokens(rng_, 20))}, {.origin = PlanOrigin::kBalanced});
  const EngineStats stats = world_.engine->stats();
  EXPECT_EQ(stats.plans_by_service, 1u);
  EXPECT_EQ(stats.plans_cached, 1u);
  EXPECT_EQ(stats.plans_balanced, 1u);
}

TEST_F(CheckpointsTest, AHoleEndsWhatIsResumed) {
  const std::vector<Token> tokens = RandomTokens(rng_, 70);
  Run({Prefix(tokens)});
  world_.cache->SetHoles(2, 3);
  Run({Prefix(tokens)});
  ASSERT_EQ(questions_.size(), 2u);
  EXPECT_EQ(questions_[1].shared_depth, 70u) << "what is stored changes no overlap";
  EXPECT_LT(questions_[1].resume_depth, 70u);
  EXPECT_EQ(questions_[1].resume_depth % 16, 0u);
}

TEST_F(CheckpointsTest, APromptThatWasFoundWholeNeedsNoStates) {
  const std::vector<Token> tokens = RandomTokens(rng_, 64);
  Run({Prefix(tokens)});
  const Answer* const again = Run({Prefix(tokens)});
  EXPECT_EQ(again->usage.tokens_reused, 64u);
  EXPECT_EQ(questions_.size(), 1u);
  EXPECT_EQ(again->usage.checkpoints, std::nullopt);
}

TEST_F(CheckpointsTest, NobodyWaitsForAPlanButTheEngineForItsEnd) {
  Answer* const answer = world_.Submit({Prefix(RandomTokens(rng_, 40))}, 3);
  while (!answer->is_finished) world_.engine->RunStep();
  EXPECT_EQ(answer->usage.checkpoints, std::nullopt);
  bool is_drained = false;
  world_.engine->Close([&] { is_drained = true; });
  while (world_.engine->RunStep()) {
  }
  EXPECT_TRUE(is_drained) << "a plan holds nobody";
  EXPECT_FALSE(world_.engine->is_idle()) << "the answer is still to come";
  ASSERT_EQ(world_.plans.asked.size(), 1u);
  world_.plans.asked[0].done({});
  world_.RunAll();
  EXPECT_EQ(world_.engine->stats().plans_balanced, 1u);
}

TEST(CheckpointsWithoutCacheTest, AreAskedForAsWell) {
  EngineWorld world({.has_plans = true});
  Rng rng(3);
  Answer* const answer = world.Submit({Prefix(RandomTokens(rng, 40))}, 2);
  world.engine->RunStep();
  ASSERT_EQ(world.plans.asked.size(), 1u);
  EXPECT_EQ(world.plans.asked[0].question.length, 40u);
  EXPECT_EQ(world.plans.asked[0].question.family, 0u);
  world.plans.asked[0].done({.positions = {16}});
  world.RunAll();
  ASSERT_TRUE(answer->usage.checkpoints.has_value());
  EXPECT_EQ(answer->usage.checkpoints->positions, Positions{16});
}

}  // namespace
}  // namespace cairn
