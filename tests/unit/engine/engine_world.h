#ifndef CAIRN_TESTS_UNIT_ENGINE_ENGINE_WORLD_H_
#define CAIRN_TESTS_UNIT_ENGINE_ENGINE_WORLD_H_

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "libs/base/rng.h"
#include "libs/device_host/host_device.h"
#include "libs/engine/engine.h"
#include "libs/gguf/gguf_file.h"
#include "libs/loop_manual/manual_world.h"
#include "libs/memory_heap/heap_memory.h"
#include "libs/overlap/overlap_book.h"

namespace cairn {

// A cache in this process, under the test's thumb: blocks in slots with real words, which a test
// may take back and refill at any moment, as a node does behind a stopped reader.
class SlotCache : public BlockCache {
 public:
  SlotCache(std::uint64_t block_bytes, std::size_t slots);
  void Acquire(WantedBlocks wanted, absl::AnyInvocable<void(AcquiredBlocks)> done) override;
  bool takes_offers() const override { return is_open; }
  void SetOnArenaLost(absl::AnyInvocable<void()> tell) override { tell_lost = std::move(tell); }
  void Offer(std::vector<OfferedBlock> blocks, absl::AnyInvocable<void()> done) override;

  // Takes each slot back with probability 1/`one_in`: bumps its word, then fills it with rubbish.
  void TakeBack(Rng& rng, std::uint64_t one_in);
  // Hits are answered for only one of `one_in` stored keys (holes).
  void SetHoles(std::uint64_t one_in, std::uint64_t seed) {
    hole_one_in_ = one_in, rng_ = Rng(seed);
  }
  void Clear();

  std::size_t stored() const { return slot_of_.size(); }
  // The word of the slot that this block of its memory is.
  std::uint64_t WordOf(const std::byte* block) const {
    return words_[static_cast<std::size_t>(block - memory_.data()) / block_bytes_].load();
  }
  std::uint64_t conflicts() const { return conflicts_; }  // one key, two contents: promise 4 broken
  bool is_open = true;                                    // takes offers
  bool keeps_offers = false;                     // is slow to say that it is done with them
  std::vector<absl::AnyInvocable<void()>> kept;  // what it then has to say
  std::vector<WantedBlocks> wanted;              // every lookup
  Instant leave_by = Instant::Infinite();
  Instant void_at = Instant::Infinite();
  bool is_lost = false;
  absl::AnyInvocable<void()> tell_lost;
  // What hits came from: another object, after this was reset.
  std::shared_ptr<const ArenaView> arena;

 private:
  struct Lease;
  struct View;
  std::uint64_t block_bytes_;
  std::vector<std::byte> memory_;
  std::vector<std::atomic<std::uint64_t>> words_;
  std::map<Key, std::uint32_t> slot_of_;
  std::vector<std::uint32_t> free_;
  std::map<Key, Checksum> seen_;  // of every key ever offered
  std::uint64_t conflicts_ = 0;
  std::uint64_t hole_one_in_ = 0;
  Rng rng_{1};
  OverlapBook overlaps_{1 << 16, 1};
};

// Says where states are wanted, when the test says so.
class HeldPlans : public PlanSource {
 public:
  struct Asked {
    CheckpointQuestion question;
    absl::AnyInvocable<void(CheckpointPlan)> done;
  };
  void Ask(const CheckpointQuestion& question,
           absl::AnyInvocable<void(CheckpointPlan)> done) override {
    asked.push_back({question, std::move(done)});
  }
  std::vector<Asked> asked;
};

// What a request came to.
struct Answer {
  std::vector<Token> tokens;
  std::vector<std::vector<float>> logits;
  std::string text;
  bool is_finished = false;
  FinishReason reason = FinishReason::kCancelled;
  CompletionUsage usage;
};

// An engine over the tiny model, driven step by step.
class EngineWorld {
 public:
  struct Options {
    Engine::Options engine{.step_rows_max = 32};
    std::string tier = "plain";
    // Null: a HostDevice of that tier.
    std::function<std::unique_ptr<Device>(const GgufFile&, std::uint32_t block_tokens)> make_device;
    std::string model;  // a GGUF file; "": the tiny one
    std::uint32_t block_tokens = 16;
    std::uint32_t pool_blocks = 64;
    bool has_cache = false;
    std::size_t cache_slots = 64;
    bool has_plans = false;
    bool wants_logits = true;  // else greedy answers have none
  };
  explicit EngineWorld(const Options& options);
  ~EngineWorld();

  PromptHasher Prompt(const std::vector<PromptSegment>& segments, bool prefill_only = false) const;
  // Submits; the answer fills up while the engine runs.
  Answer* Submit(const std::vector<PromptSegment>& segments, std::uint32_t max_tokens,
                 SamplingOptions sampling = {}, std::vector<std::string> stops = {});
  absl::Status SubmitStatus(const std::vector<PromptSegment>& segments, std::uint32_t max_tokens);
  // Until nothing is left to do. `between` runs before each step.
  void RunAll(absl::FunctionRef<void()> between);
  void RunAll() {
    RunAll([] {});
  }

  ManualWorld world{{.seed = 1}};
  ManualLoop& loop;
  HeapMemorySource memory;
  std::string file;
  GgufFile gguf;
  std::unique_ptr<Device> device;
  std::unique_ptr<OwnedMemory> pool;
  std::unique_ptr<SlotCache> cache;
  HeldPlans plans;
  std::unique_ptr<Engine> engine;

 private:
  Options options_;
  std::unique_ptr<TextTokenizer> tokenizer_;
  std::deque<Answer> answers_;
};

// Segments from short lists.
PromptSegment Prefix(std::vector<Token> tokens);
PromptSegment Span(std::vector<Token> tokens);
PromptSegment Dependent(std::vector<Token> tokens);
// `count` random tokens of the tiny vocabulary.
std::vector<Token> RandomTokens(Rng& rng, std::size_t count);

}  // namespace cairn
#endif  // CAIRN_TESTS_UNIT_ENGINE_ENGINE_WORLD_H_
