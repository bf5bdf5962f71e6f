// Promise 4: reuse never changes the answer. Random prompts with spans, bases, repeated spans and
// questions run cold, then with the cache on under every disturbance, mixed in batches and cut into
// other chunks; tokens and logits must be equal bit for bit.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "tests/unit/engine/engine_world.h"

namespace cairn {
namespace {

struct Job {
  std::vector<PromptSegment> segments;
  std::uint32_t max_tokens = 0;
  SamplingOptions sampling;
};

// Passages that several prompts share, of lengths around the borders of blocks and tiles.
std::vector<std::vector<Token>> Passages(Rng& rng) {
  std::vector<std::vector<Token>> passages;
  for (const std::size_t length : {1u, 15u, 16u, 17u, 40u, 64u, 65u, 90u}) {
    passages.push_back(RandomTokens(rng, length));
  }
  return passages;
}

Job RandomJob(Rng& rng, const std::vector<std::vector<Token>>& passages) {
  Job job;
  if (rng.Chance(1, 2)) job.segments.push_back(Prefix(RandomTokens(rng, rng.Between(1, 20))));
  const std::uint64_t spans = rng.Below(4);
  for (std::uint64_t i = 0; i < spans; ++i) {
    job.segments.push_back(Span(passages[rng.Below(passages.size())]));
    if (rng.Chance(1, 5)) job.segments.push_back(job.segments.back());  // the same one again
    if (rng.Chance(1, 5)) job.segments.push_back(Dependent(RandomTokens(rng, rng.Between(1, 9))));
  }
  PromptSegment question = Dependent(RandomTokens(rng, rng.Between(1, 30)));
  if (rng.Chance(1, 5)) question.head.base = rng.Below(300);
  job.segments.push_back(std::move(question));
  job.max_tokens = static_cast<std::uint32_t>(rng.Between(1, 24));
  if (rng.Chance(1, 2)) job.sampling = {.temperature = 0.9f, .seed = rng.Next()};
  return job;
}

void ExpectEqual(const Answer& cold, const Answer& other, std::uint64_t seed, std::size_t job) {
  ASSERT_TRUE(other.is_finished) << "seed " << seed << " job " << job;
  ASSERT_EQ(cold.tokens, other.tokens) << "seed " << seed << " job " << job;
  ASSERT_EQ(cold.text, other.text);
  ASSERT_EQ(cold.logits.size(), other.logits.size());
  for (std::size_t i = 0; i < cold.logits.size(); ++i) {
    ASSERT_EQ(std::memcmp(cold.logits[i].data(), other.logits[i].data(),
                          cold.logits[i].size() * sizeof(float)),
              0)
        << "seed " << seed << " job " << job << ": logits of token " << i << " differ in bits";
  }
}

class CacheOnOffTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (host::SelectHostOps(GetParam()) == nullptr) {
      GTEST_SKIP() << "this CPU lacks " << GetParam();
    }
  }
};

TEST_P(CacheOnOffTest, AnswersAreBitEqual) {
  EngineStats seen;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    Rng rng(seed);
    const auto passages = Passages(rng);
    std::vector<Job> jobs;
    for (int i = 0; i < 6; ++i) jobs.push_back(RandomJob(rng, passages));

    EngineWorld alone({.engine = {.step_rows_max = 256}, .tier = GetParam()});
    std::vector<Answer*> cold;
    for (const Job& job : jobs) {
      cold.push_back(alone.Submit(job.segments, job.max_tokens, job.sampling));
      alone.RunAll();
    }
    EngineWorld shared({.engine = {.step_rows_max = static_cast<std::uint32_t>(rng.Between(1, 70))},
                        .tier = GetParam(),
                        .block_tokens = 16,
                        .pool_blocks = 48,
                        .has_cache = true,
                        .cache_slots = 40});
    for (int round = 0; round < 3;
         ++round) {  // fills, then hits, with blocks taken back in between
      if (round > 0) shared.cache->SetHoles(rng.Between(2, 6), seed);
      std::vector<Answer*> warm;
      for (const Job& job : jobs) {
        warm.push_back(shared.Submit(job.segments, job.max_tokens, job.sampling));
      }
      shared.RunAll([&] {
        if (round == 2 && rng.Chance(1, 4)) shared.cache->TakeBack(rng, 3);
        shared.cache->leave_by = rng.Chance(1, 6) ? Instant() : Instant::Infinite();
        shared.cache->void_at = rng.Chance(1, 3) ? Instant() : Instant::Infinite();
      });
      for (std::size_t i = 0; i < jobs.size(); ++i) ExpectEqual(*cold[i], *warm[i], seed, i);
    }
    EXPECT_EQ(shared.cache->conflicts(), 0u) << "one key, two contents; seed " << seed;
    const EngineStats stats = shared.engine->stats();
    seen.tokens_reused += stats.tokens_reused;
    seen.steps_thrown_away += stats.steps_thrown_away;
    seen.requests_moved_off_arena += stats.requests_moved_off_arena;
    seen.requests_acquired_again += stats.requests_acquired_again;
  }
  // The disturbances really happened.
  EXPECT_GT(seen.tokens_reused, 0u);
  EXPECT_GT(seen.steps_thrown_away, 0u);
  EXPECT_GT(seen.requests_moved_off_arena, 0u);
  EXPECT_GT(seen.requests_acquired_again, 0u);
}

INSTANTIATE_TEST_SUITE_P(Tiers, CacheOnOffTest, testing::Values("plain", "avx2"));

TEST(CacheOnOffBlockSizeTest, BitsDoNotDependOnTheBlockSize) {
  Rng rng(3);
  const auto passages = Passages(rng);
  const Job job = RandomJob(rng, passages);
  EngineWorld small({.block_tokens = 16});
  Answer* a = small.Submit(job.segments, job.max_tokens, job.sampling);
  small.RunAll();
  EngineWorld large({.block_tokens = 64});
  Answer* b = large.Submit(job.segments, job.max_tokens, job.sampling);
  large.RunAll();
  ExpectEqual(*a, *b, 3, 0);
}

}  // namespace
}  // namespace cairn
