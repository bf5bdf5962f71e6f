// A whole model on emulated kernels, through the engine: the CPU worker's answers within bf16's
// error, and the cache, cuts and batches change no bit. Prompts have spans, repeated spans and
// questions; the cache has holes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "libs/device_cuda/cuda_device.h"
#include "tests/unit/device_cuda/random_llama.h"
#include "tests/unit/engine/engine_world.h"

namespace cairn {
namespace {

// Of the difference of two logits, where logits have a root mean square of 1: 5 units of bf16's
// rounding (2^-8). A choice by a larger margin is the same one.
constexpr float kMarginError = 5 * 0x1p-8f;

struct Job {
  std::vector<PromptSegment> segments;
  std::uint32_t max_tokens = 0;
};

Job RandomJob(Rng& rng, const std::vector<std::vector<Token>>& passages) {
  Job job;
  if (rng.Chance(1, 2)) job.segments.push_back(Prefix(RandomTokens(rng, rng.Between(1, 20))));
  const std::uint64_t spans = rng.Between(0, 2);
  for (std::uint64_t i = 0; i < spans; ++i) {
    job.segments.push_back(Span(passages[rng.Below(passages.size())]));
    if (rng.Chance(1, 4)) job.segments.push_back(job.segments.back());  // the same one again
    if (rng.Chance(1, 4)) job.segments.push_back(Dependent(RandomTokens(rng, rng.Between(1, 9))));
  }
  job.segments.push_back(Dependent(RandomTokens(rng, rng.Between(1, 20))));
  job.max_tokens = static_cast<std::uint32_t>(rng.Between(4, 32));
  return job;
}

std::unique_ptr<Device> MakeCuda(const GgufFile& file, std::uint32_t block_tokens, CudaMath math,
                                 std::uint64_t seed) {
  CudaDevice::Options options{.block_tokens = block_tokens, .math = math};
  options.copies = seed % 2 == 0 ? BlockCopies::kEngine : BlockCopies::kKernel;
  options.device.seed = seed;
  auto device = CudaDevice::Create(file, options);
  EXPECT_TRUE(device.ok()) << device.status();
  return *std::move(device);
}

struct Agreement {
  std::size_t positions = 0;  // compared
  std::size_t clear = 0;      // the CPU's choice is clear of the error
  std::size_t left_out = 0;   // behind a token that was not clear, and chosen otherwise
  float error = 0;            // of a margin
};

void Compare(const Answer& cpu, const Answer& device, Agreement* agreement) {
  for (std::size_t i = 0; i < cpu.logits.size(); ++i) {
    const std::vector<float>& wanted = cpu.logits[i];
    const std::vector<float>& got = device.logits[i];
    float low = INFINITY, high = -INFINITY;
    for (std::size_t t = 0; t < wanted.size(); ++t) {
      low = std::fmin(low, got[t] - wanted[t]);
      high = std::fmax(high, got[t] - wanted[t]);
    }
    EXPECT_LE(high, kMarginError);
    EXPECT_GE(low, -kMarginError);
    agreement->error = std::fmax(agreement->error, high - low);
    ++agreement->positions;
    std::vector<float> sorted = wanted;
    std::nth_element(sorted.begin(), sorted.begin() + 1, sorted.end(), std::greater<>());
    if (sorted[0] - sorted[1] > kMarginError) {
      ++agreement->clear;
      EXPECT_EQ(cpu.tokens[i], device.tokens[i]) << "token " << i;
    }
    if (cpu.tokens[i] != device.tokens[i]) {  // from here on they answer different prompts
      agreement->left_out += cpu.logits.size() - i - 1;
      return;
    }
  }
}

void ExpectBitsEqual(const Answer& a, const Answer& b, std::uint64_t seed, std::size_t job) {
  ASSERT_EQ(a.tokens, b.tokens) << "seed " << seed << " job " << job;
  ASSERT_EQ(a.logits.size(), b.logits.size());
  for (std::size_t i = 0; i < a.logits.size(); ++i) {
    ASSERT_EQ(std::memcmp(a.logits[i].data(), b.logits[i].data(), a.logits[i].size() * 4), 0)
        << "seed " << seed << " job " << job << ": logits of token " << i << " differ in bits";
  }
}

// All ways of attention, both instructions, groups of 1 to 4 query heads.
struct TrialModel {
  RandomLlamaShape shape;
  CudaMath math = CudaMath::kMma;
};
const TrialModel kModels[] = {
    {{}},
    {{.hidden = 256, .ffn = 320, .q_heads = 4, .kv_heads = 1, .layers = 2, .vocabulary = 512},
     CudaMath::kWgmmaProducts},
    {{.hidden = 128, .q_heads = 4, .kv_heads = 2}},                  // heads of 32: the simple way
    {{.q_heads = 2, .kv_heads = 2, .rotary_dim = 32, .layers = 2}},  // keys by way of the scratch
    {{.q_heads = 2, .kv_heads = 2, .layers = 2}, CudaMath::kWgmma}};

// Answers stay together to their ends: a choice that is not clear may part them, and what follows
// says nothing.
constexpr std::uint64_t kFirstSeed = 17;

// One model's jobs: each alone, on the CPU and on the device, then all together over a cache.
class ModelTrial {
 public:
  ModelTrial(const TrialModel& model, std::uint64_t seed)
      : seed_(seed), math_(model.math), rng_(seed), model_(RandomLlama(model.shape, seed)) {
    std::vector<std::vector<Token>> passages;
    for (const std::size_t length : {15u, 17u, 40u, 65u}) {
      passages.push_back(RandomTokens(rng_, length));
    }
    for (int i = 0; i < 4; ++i) jobs_.push_back(RandomJob(rng_, passages));
  }

  void CompareAlone(Agreement* agreement) {
    EngineWorld cpu({.engine = {.step_rows_max = 256}, .model = model_});
    EngineWorld alone({.engine = {.step_rows_max = 256}, .make_device = cuda_, .model = model_});
    for (const Job& job : jobs_) {
      const Answer* expected = cpu.Submit(job.segments, job.max_tokens);
      cpu.RunAll();
      const Answer* got = alone.Submit(job.segments, job.max_tokens);
      alone.RunAll();
      Compare(*expected, *got, agreement);
      cold_.push_back(*got);
    }
  }

  EngineStats CompareWithCache() {
    const auto rows = static_cast<std::uint32_t>(rng_.Between(9, 70));
    EngineWorld shared({.engine = {.step_rows_max = rows},
                        .make_device = cuda_,
                        .model = model_,
                        .pool_blocks = 48,
                        .has_cache = true,
                        .cache_slots = 40});
    for (int round = 0; round < 2; ++round) {  // fills, then hits with holes, and blocks taken back
      if (round > 0) shared.cache->SetHoles(3, seed_);
      std::vector<Answer*> warm;
      for (const Job& job : jobs_) warm.push_back(shared.Submit(job.segments, job.max_tokens));
      shared.RunAll([&] {
        if (round == 1 && rng_.Chance(1, 4)) shared.cache->TakeBack(rng_, 3);
        shared.cache->leave_by = rng_.Chance(1, 6) ? Instant() : Instant::Infinite();
      });
      for (std::size_t i = 0; i < jobs_.size(); ++i) ExpectBitsEqual(cold_[i], *warm[i], seed_, i);
    }
    EXPECT_EQ(shared.cache->conflicts(), 0u) << "one key, two contents; seed " << seed_;
    return shared.engine->stats();
  }

 private:
  const std::uint64_t seed_;
  const CudaMath math_;
  Rng rng_;
  const std::string model_;
  std::vector<Job> jobs_;
  std::vector<Answer> cold_;
  const std::function<std::unique_ptr<Device>(const GgufFile&, std::uint32_t)> cuda_ =
      [this](const GgufFile& file, std::uint32_t block_tokens) {
        return MakeCuda(file, block_tokens, math_, seed_);
      };
};

TEST(WholeStepTest, AnswersAreTheCpusAndDoNotDependOnTheCache) {
  Agreement agreement;
  EngineStats seen;
  for (std::size_t i = 0; i < std::size(kModels); ++i) {
    ModelTrial trial(kModels[i], kFirstSeed + i);
    trial.CompareAlone(&agreement);
    const EngineStats stats = trial.CompareWithCache();
    seen.tokens_reused += stats.tokens_reused;
    seen.steps_thrown_away += stats.steps_thrown_away;
  }
  RecordProperty("margin_error", std::to_string(agreement.error));
  RecordProperty("positions", static_cast<int>(agreement.positions));
  RecordProperty("clear", static_cast<int>(agreement.clear));
  RecordProperty("left_out", static_cast<int>(agreement.left_out));
  EXPECT_LE(agreement.error, kMarginError);
  EXPECT_GE(agreement.clear * 10, agreement.positions * 9) << "positions that say something";
  EXPECT_LE(agreement.left_out * 10, agreement.positions);
  EXPECT_GE(agreement.positions, 150u);
  EXPECT_GT(seen.tokens_reused, 0u);
  EXPECT_GT(seen.steps_thrown_away, 0u);
}

}  // namespace
}  // namespace cairn
