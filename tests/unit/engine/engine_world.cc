#include "tests/unit/engine/engine_world.h"

#include <gtest/gtest.h>

#include <cstring>
#include <utility>

#include "libs/base/bytes.h"
#include "libs/span/identity.h"
#include "tests/support/tiny_model.h"

namespace cairn {
namespace {

constexpr Token kEndOfText = 95;

// Token t is the letter 'a' + t % 26.
class LetterTokenizer : public TextTokenizer {
 public:
  absl::StatusOr<std::vector<std::uint32_t>> EncodeText(absl::string_view text) const override {
    std::vector<std::uint32_t> tokens;
    for (const char c : text) tokens.push_back(static_cast<std::uint32_t>(c - 'a'));
    return tokens;
  }
  std::string TokenBytes(std::uint32_t token) const override {
    return std::string(1, static_cast<char>('a' + token % 26));
  }
  bool IsEndOfText(std::uint32_t token) const override { return token == kEndOfText; }
};

class AnswerSink : public CompletionSink {
 public:
  AnswerSink(Answer* answer, bool wants_logits) : answer_(answer), wants_logits_(wants_logits) {}
  bool wants_logits() const override { return wants_logits_; }
  void OnLogits(absl::Span<const float> logits) override {
    answer_->logits.emplace_back(logits.begin(), logits.end());
  }
  void OnToken(Token token, absl::string_view text) override {
    answer_->tokens.push_back(token);
    answer_->text.append(text.data(), text.size());
  }
  void OnFinish(FinishReason reason, absl::string_view text,
                const CompletionUsage& usage) override {
    EXPECT_FALSE(answer_->is_finished);
    answer_->text.append(text.data(), text.size());
    answer_->is_finished = true;
    answer_->reason = reason;
    answer_->usage = usage;
  }

 private:
  Answer* const answer_;
  const bool wants_logits_;
};

Root TestRoot(std::uint32_t block_tokens) {
  return *RootOf(*FingerprintOf({.model = "tiny"}), "", "", block_tokens);
}

}  // namespace

struct SlotCache::Lease : ArenaLease {
  explicit Lease(const SlotCache& cache) : cache(cache) {}
  Instant leave_by() const override { return cache.leave_by; }
  Instant void_at() const override { return cache.void_at; }
  const SlotCache& cache;
};

struct SlotCache::View : ArenaView {
  explicit View(const SlotCache& cache) : cache(cache) {}
  std::vector<absl::Span<const std::byte>> pieces() const override { return {cache.memory_}; }
  bool is_lost() const override { return cache.is_lost; }
  const SlotCache& cache;
};

SlotCache::SlotCache(std::uint64_t block_bytes, std::size_t slots)
    : block_bytes_(block_bytes), memory_(block_bytes * slots), words_(slots) {
  for (std::size_t i = slots; i > 0; --i) {
    words_[i - 1].store(1);
    free_.push_back(static_cast<std::uint32_t>(i - 1));
  }
}

void SlotCache::Acquire(WantedBlocks asked, absl::AnyInvocable<void(AcquiredBlocks)> done) {
  AcquiredBlocks out;
  if (asked.prompt_tokens > 0) {  // as a node does
    const Overlap overlap = overlaps_.Observe(Root(), asked.keys, asked.ends, asked.prompt_tokens);
    out.family = overlap.family;
    out.overlap_depth = static_cast<std::uint32_t>(overlap.depth);
  }
  const std::vector<Key>& keys = asked.keys;
  for (std::uint32_t i = 0; i < keys.size(); ++i) {
    const auto found = slot_of_.find(keys[i]);
    if (found == slot_of_.end()) continue;
    if (hole_one_in_ > 0 && rng_.Chance(1, hole_one_in_)) continue;
    const std::uint32_t slot = found->second;
    out.hits.push_back(
        {i,
         {.bytes = memory_.data() + slot * block_bytes_,
          .words = SlotWordsView(absl::Span<const std::atomic<std::uint64_t>>(words_)),
          .slot = SlotId(slot),
          .generation = Generation(words_[slot].load())}});
  }
  if (!out.hits.empty()) {
    out.lease = std::make_shared<Lease>(*this);
    if (arena == nullptr) arena = std::make_shared<View>(*this);
    out.arena = arena;
  }
  wanted.push_back(std::move(asked));
  done(std::move(out));
}

void SlotCache::Offer(std::vector<OfferedBlock> blocks, absl::AnyInvocable<void()> done) {
  for (const OfferedBlock& block : blocks) {
    EXPECT_EQ(ChecksumOf(block.bytes), block.checksum);
    const auto [seen, is_new] = seen_.emplace(block.key, block.checksum);
    if (!is_new && seen->second != block.checksum) ++conflicts_;
    if (slot_of_.count(block.key) != 0 || free_.empty()) continue;
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    std::memcpy(memory_.data() + slot * block_bytes_, block.bytes.data(), block_bytes_);
    slot_of_[block.key] = slot;
  }
  if (keeps_offers) return kept.push_back(std::move(done));
  done();
}

void SlotCache::TakeBack(Rng& rng, std::uint64_t one_in) {
  for (auto it = slot_of_.begin(); it != slot_of_.end();) {
    if (!rng.Chance(1, one_in)) {
      ++it;
      continue;
    }
    const std::uint32_t slot = it->second;
    words_[slot].fetch_add(1);
    std::memset(memory_.data() + slot * block_bytes_, 0x41, block_bytes_);
    free_.push_back(slot);
    it = slot_of_.erase(it);
  }
}

void SlotCache::Clear() {
  Rng rng(1);
  TakeBack(rng, 1);
}

EngineWorld::EngineWorld(const Options& options)
    : loop(world.AddLoop({.name = "worker"})),
      file(options.model.empty() ? TinyLlama(7) : options.model),
      options_(options) {
  gguf = *GgufFile::Parse(AsBytes(file));
  if (options.make_device) {
    device = options.make_device(gguf, options.block_tokens);
  } else {
    device = *HostDevice::Create(
        gguf, {.threads = 2, .tier = options.tier, .block_tokens = options.block_tokens});
  }
  const std::uint64_t block_bytes = device->layout().block_bytes();
  pool = *memory.Create("pool", block_bytes * options.pool_blocks);
  if (options.has_cache) cache = std::make_unique<SlotCache>(block_bytes, options.cache_slots);
  tokenizer_ = std::make_unique<LetterTokenizer>();
  engine = std::make_unique<Engine>(options.engine, *device, *tokenizer_, *pool, cache.get(),
                                    options.has_plans ? &plans : nullptr, loop);
}

EngineWorld::~EngineWorld() {
  engine->Drain();
  while (engine->RunStep()) {
  }
  EXPECT_EQ(engine->stats().pool_blocks_available, engine->stats().pool_blocks);
  engine.reset();
  EXPECT_FALSE(cache != nullptr && cache->tell_lost) << "it would tell an engine that is gone";
}

PromptHasher EngineWorld::Prompt(const std::vector<PromptSegment>& segments,
                                 bool prefill_only) const {
  auto prompt = HashPrompt(TestRoot(options_.block_tokens),
                           {.block_tokens = options_.block_tokens,
                            .prefill_only = prefill_only,
                            .positions_max = device->shape().positions_max},
                           segments);
  EXPECT_TRUE(prompt.ok()) << prompt.status();
  return *std::move(prompt);
}

Answer* EngineWorld::Submit(const std::vector<PromptSegment>& segments, std::uint32_t max_tokens,
                            SamplingOptions sampling, std::vector<std::string> stops) {
  answers_.emplace_back();
  const auto id =
      engine->Submit({.prompt = Prompt(segments, max_tokens == 0),
                      .max_tokens = max_tokens,
                      .sampling = sampling,
                      .stops = std::move(stops)},
                     std::make_unique<AnswerSink>(&answers_.back(), options_.wants_logits));
  EXPECT_TRUE(id.ok()) << id.status();
  return &answers_.back();
}

absl::Status EngineWorld::SubmitStatus(const std::vector<PromptSegment>& segments,
                                       std::uint32_t max_tokens) {
  answers_.emplace_back();
  return engine
      ->Submit({.prompt = Prompt(segments, max_tokens == 0), .max_tokens = max_tokens},
               std::make_unique<AnswerSink>(&answers_.back(), options_.wants_logits))
      .status();
}

void EngineWorld::RunAll(absl::FunctionRef<void()> between) {
  // RunStep may find nothing while an answer is in the inbox: the engine's thread would not sleep.
  for (int steps = 0; !engine->is_idle(); ++steps) {
    ASSERT_LT(steps, 100'000) << "the engine makes no progress";
    between();
    engine->RunStep();
  }
}

PromptSegment Prefix(std::vector<Token> tokens) {
  return {.head = {.kind = SegmentKind::kPrefix}, .tokens = std::move(tokens)};
}
PromptSegment Span(std::vector<Token> tokens) {
  return {.head = {.kind = SegmentKind::kSpan}, .tokens = std::move(tokens)};
}
PromptSegment Dependent(std::vector<Token> tokens) {
  return {.head = {.kind = SegmentKind::kDependent}, .tokens = std::move(tokens)};
}

std::vector<Token> RandomTokens(Rng& rng, std::size_t count) {
  std::vector<Token> tokens(count);
  for (Token& token : tokens) token = static_cast<Token>(rng.Below(90));
  return tokens;
}

}  // namespace cairn
