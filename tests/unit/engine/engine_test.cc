#include "libs/engine/engine.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "libs/base/limits.h"
#include "tests/unit/engine/engine_world.h"

namespace cairn {
namespace {

TEST(EngineTest, AnswerEndsAtMaxTokens) {
  EngineWorld world({});
  Rng rng(1);
  Answer* answer = world.Submit({Prefix(RandomTokens(rng, 10))}, 5);
  world.RunAll();
  ASSERT_TRUE(answer->is_finished);
  EXPECT_LE(answer->tokens.size(), 5u);
  EXPECT_EQ(answer->usage.prompt_tokens, 10u);
  EXPECT_EQ(answer->usage.completion_tokens, answer->tokens.size());
  EXPECT_EQ(answer->usage.tokens_computed, 10u);
}

TEST(EngineTest, GreedyTokensAreTheSameWithoutLogits) {
  EngineWorld with({}), without({.wants_logits = false});
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Rng rng(seed);
    const std::vector<PromptSegment> prompt = {Prefix(RandomTokens(rng, 10 * seed))};
    const std::vector<PromptSegment> other = {Prefix(RandomTokens(rng, 40))};
    // In one step with an answer that is drawn, and so needs its logits.
    std::vector<Answer*> answers;
    for (EngineWorld* world : {&with, &without}) {
      answers.push_back(world->Submit(prompt, 8));
      answers.push_back(world->Submit(other, 8, {.temperature = 1, .seed = seed}));
      answers.push_back(world->Submit(other, 8));
      world->RunAll();
    }
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(answers[i]->tokens, answers[i + 3]->tokens) << i;
    EXPECT_EQ(answers[0]->logits.size(), answers[0]->tokens.size());
    EXPECT_TRUE(answers[3]->logits.empty());
  }
}

TEST(EngineTest, StopStringEndsTheAnswerAndIsNotShown) {
  EngineWorld world({});
  Rng rng(1);
  const std::vector<PromptSegment> prompt = {Prefix(RandomTokens(rng, 10))};
  Answer* whole = world.Submit(prompt, 8);
  world.RunAll();
  ASSERT_GE(whole->text.size(), 3u);
  const std::string stop = whole->text.substr(1, 2);
  Answer* stopped = world.Submit(prompt, 8, {}, {stop});
  world.RunAll();
  EXPECT_EQ(stopped->reason, FinishReason::kStop);
  EXPECT_EQ(stopped->text, whole->text.substr(0, whole->text.find(stop)));
}

TEST(EngineTest, PrefillOnlyStoresAndAnswersNothing) {
  EngineWorld world({.has_cache = true});
  Rng rng(1);
  Answer* answer = world.Submit({Span(RandomTokens(rng, 40))}, 0);
  world.RunAll();
  ASSERT_TRUE(answer->is_finished);
  EXPECT_TRUE(answer->tokens.empty());
  EXPECT_EQ(world.cache->stored(), 3u);  // the ragged end of a closing span too (keys.md rule 3)
}

TEST(EngineTest, BlocksComputedBeforeTheCacheOpensAreOfferedOnceItDoes) {
  EngineWorld world({.has_cache = true});
  Rng rng(1);
  world.cache->is_open = false;
  Answer* answer = world.Submit({Span(RandomTokens(rng, 40)), Dependent({1})}, 4);
  world.RunAll([&] {
    EXPECT_EQ(world.cache->stored() > 0, world.cache->is_open && answer->tokens.size() > 1);
    world.cache->is_open = !answer->tokens.empty();
  });
  ASSERT_GT(answer->tokens.size(), 1u);
  EXPECT_EQ(world.cache->stored(), 3u);
}

TEST(EngineTest, SpanIsReusedAtAnotherOffset) {
  EngineWorld world({.has_cache = true});
  Rng rng(1);
  const std::vector<Token> passage = RandomTokens(rng, 50);
  world.Submit({Span(passage), Dependent(RandomTokens(rng, 4))}, 2);
  world.RunAll();
  Answer* answer = world.Submit({Prefix(RandomTokens(rng, 7)), Span(RandomTokens(rng, 33)),
                                 Span(passage), Dependent(RandomTokens(rng, 5))},
                                2);
  world.RunAll();
  ASSERT_EQ(answer->usage.spans.size(), 2u);
  EXPECT_EQ(answer->usage.spans[0].tokens_reused, 0u);
  EXPECT_EQ(answer->usage.spans[1].tokens_reused, 50u);
  EXPECT_EQ(answer->usage.tokens_computed, 7u + 33u + 5u);
}

TEST(EngineTest, RepeatedSpanIsComputedOnce) {
  EngineWorld world({});
  Rng rng(1);
  const std::vector<Token> passage = RandomTokens(rng, 50);
  Answer* answer = world.Submit({Span(passage), Span(passage), Dependent({3})}, 1);
  world.RunAll();
  EXPECT_EQ(answer->usage.tokens_computed, 51u);
}

TEST(EngineTest, WholePromptHitStillComputesItsLastToken) {
  EngineWorld world({.has_cache = true});
  Rng rng(1);
  const std::vector<PromptSegment> prompt = {Prefix(RandomTokens(rng, 32))};
  Answer* cold = world.Submit(prompt, 3);
  world.RunAll();
  Answer* warm = world.Submit(prompt, 3);
  world.RunAll();
  EXPECT_EQ(warm->tokens, cold->tokens);
  EXPECT_EQ(warm->usage.tokens_reused, 32u);
  EXPECT_EQ(warm->usage.tokens_computed, 1u);
}

TEST(EngineTest, NextTurnReusesWhatDecodingProduced) {
  EngineWorld world({.has_cache = true});
  Rng rng(1);
  std::vector<Token> chat;
  Answer* first = nullptr;
  do {  // the tiny model may end an answer early
    chat = RandomTokens(rng, 16);
    first = world.Submit({Prefix(chat)}, 18, {.temperature = 1, .seed = rng.Next()});
    world.RunAll();
  } while (first->tokens.size() < 18);
  chat.insert(chat.end(), first->tokens.begin(), first->tokens.end());
  chat.push_back(4);
  Answer* second = world.Submit({Prefix(chat)}, 2);
  world.RunAll();
  // 16 + 17 fed-back tokens make two full blocks; the last sampled token belongs to no block.
  EXPECT_EQ(second->usage.tokens_reused, 32u);
}

TEST(EngineTest, WhatCanNeverRunIsRefusedWithBothNumbers) {
  EngineWorld world({.pool_blocks = 4});
  Rng rng(1);
  const absl::Status too_many_blocks = world.SubmitStatus({Prefix(RandomTokens(rng, 90))}, 1);
  EXPECT_EQ(too_many_blocks.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(too_many_blocks.message().find("6 KV blocks"), absl::string_view::npos)
      << too_many_blocks;
  const absl::Status too_long = world.SubmitStatus({Prefix(RandomTokens(rng, 20))}, 500);
  EXPECT_NE(too_long.message().find("512 positions"), absl::string_view::npos) << too_long;
  EXPECT_EQ(world.SubmitStatus({}, 1).code(), absl::StatusCode::kInvalidArgument);
}

TEST(EngineTest, PinsShorterThanAStepDoNotKeepARequestWaiting) {
  EngineWorld world({.has_cache = true});
  Rng rng(1);
  const std::vector<Token> prompt = RandomTokens(rng, 40);
  Answer* const cold = world.Submit({Prefix(prompt)}, 3);
  world.RunAll();
  world.cache->leave_by = world.cache->void_at = world.loop.Now();  // over when the answer is here
  Answer* const warm = world.Submit({Prefix(prompt)}, 3);
  world.RunAll();
  EXPECT_EQ(warm->logits, cold->logits);
  EXPECT_EQ(warm->usage.tokens_reused, 32u);
  EXPECT_EQ(world.engine->stats().requests_acquired_again, 1u);
  EXPECT_EQ(world.engine->stats().requests_moved_off_arena, 1u);
}

// Bases that go back let a prompt have more tokens than the model has positions, and spans that
// repeat share their blocks: neither limit holds it.
TEST(EngineTest, APromptAndItsAnswerAreWithinTheLimitOfTokens) {
  EngineWorld world({});
  Rng rng(1);
  const std::vector<Token> passage = RandomTokens(rng, 512);
  std::vector<PromptSegment> prompt;
  for (std::size_t left = limits::kPromptTokensMax - 4; left > 0;) {
    const std::size_t count = std::min(left, passage.size());
    prompt.push_back(Span({passage.begin(), passage.begin() + static_cast<std::ptrdiff_t>(count)}));
    prompt.back().head.base = 0;
    left -= count;
  }
  prompt.push_back(Dependent({4, 5, 6, 7}));
  prompt.back().head.base = 0;
  const absl::Status status = world.SubmitStatus(prompt, 2);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find(absl::StrCat(limits::kPromptTokensMax)), absl::string_view::npos)
      << status;
}

TEST(EngineTest, RequestsThatDoNotFitTogetherRunOneAfterTheOther) {
  EngineWorld world({.pool_blocks = 6});
  Rng rng(1);
  std::vector<Answer*> answers;
  for (int i = 0; i < 4; ++i) answers.push_back(world.Submit({Prefix(RandomTokens(rng, 60))}, 4));
  world.RunAll();
  for (const Answer* answer : answers) EXPECT_TRUE(answer->is_finished);
}

TEST(EngineTest, TooManyRequestsAreRefusedAndCounted) {
  EngineWorld world({.engine = {.step_rows_max = 32, .running_max = 1, .requests_max = 2}});
  Rng rng(1);
  world.Submit({Prefix({1, 2})}, 1);
  world.Submit({Prefix({1, 2})}, 1);
  EXPECT_EQ(world.SubmitStatus({Prefix({1, 2})}, 1).code(), absl::StatusCode::kResourceExhausted);
  world.RunAll();
  EXPECT_TRUE(world.SubmitStatus({Prefix({1, 2})}, 1).ok());
  world.RunAll();
  EXPECT_EQ(world.engine->stats().requests_refused, 1u);
}

TEST(EngineTest, CancelledRequestFreesItsBlocks) {
  EngineWorld world({});
  Rng rng(1);
  Answer* answer = nullptr;
  {
    answer = world.Submit({Prefix(RandomTokens(rng, 40))}, 100);
    world.engine->RunStep();
    world.engine->RunStep();
    world.engine->Cancel(CompletionId(1));
    world.RunAll();
  }
  EXPECT_TRUE(answer->is_finished);
  EXPECT_EQ(answer->reason, FinishReason::kCancelled);
  EXPECT_EQ(world.engine->stats().pool_blocks_available, 64u);
}

// Clients leave, too, while a worker stops: the engine's thread has ended then.
TEST(EngineTest, ACancelBehindTheDrainChangesNothing) {
  EngineWorld world({});
  Answer* answer = world.Submit({Prefix({1, 2, 3})}, 100);
  world.engine->RunStep();
  world.engine->Drain();
  world.RunAll();
  EXPECT_TRUE(answer->is_finished);
  world.engine->Cancel(CompletionId(1));
  EXPECT_TRUE(world.engine->is_idle());
}

TEST(EngineTest, ClosedEngineAnswersWhatItHasAndThenSaysSo) {
  EngineWorld world({});
  Rng rng(1);
  Answer* running = world.Submit({Prefix(RandomTokens(rng, 40))}, 5);
  world.engine->RunStep();
  Answer* waiting = world.Submit({Prefix(RandomTokens(rng, 40))}, 5);
  int told = 0;
  world.engine->Close([&] {
    ++told;
    EXPECT_TRUE(running->is_finished && waiting->is_finished);
  });
  EXPECT_EQ(world.SubmitStatus({Prefix({1})}, 1).code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(world.engine->stats().is_closed);
  world.RunAll();
  EXPECT_EQ(told, 1);
  EXPECT_EQ(running->tokens.size(), 5u);
  EXPECT_EQ(waiting->tokens.size(), 5u);
}

TEST(EngineTest, ClosedEngineIsIdleOnlyWhenItsOffersHaveComeBack) {
  EngineWorld world({.has_cache = true});
  Rng rng(1);
  world.cache->keeps_offers = true;
  Answer* answer = world.Submit({Prefix(RandomTokens(rng, 40))}, 1);
  while (!answer->is_finished) world.engine->RunStep();
  ASSERT_FALSE(world.cache->kept.empty());
  bool is_idle = false;
  world.engine->Close([&] { is_idle = true; });
  while (world.engine->RunStep()) {
  }
  EXPECT_FALSE(is_idle) << "its blocks are being read";
  for (auto& done : world.cache->kept) done();
  world.RunAll();
  EXPECT_TRUE(is_idle);
}

TEST(EngineTest, EngineWithoutRequestsClosesAtOnce) {
  EngineWorld world({});
  int told = 0;
  world.engine->Close([&] { ++told; });
  world.RunAll();
  EXPECT_EQ(told, 1);
}

TEST(EngineTest, DrainRefusesNewRequestsAndEndsOthers) {
  EngineWorld world({});
  Rng rng(1);
  Answer* answer = world.Submit({Prefix(RandomTokens(rng, 40))}, 100);
  world.engine->RunStep();
  world.engine->Drain();
  EXPECT_EQ(world.SubmitStatus({Prefix({1})}, 1).code(), absl::StatusCode::kUnavailable);
  world.RunAll();
  EXPECT_TRUE(answer->is_finished);
  EXPECT_TRUE(world.engine->is_idle());
}

}  // namespace
}  // namespace cairn
