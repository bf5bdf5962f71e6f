#ifndef CAIRN_LIBS_ENGINE_ENGINE_H_
#define CAIRN_LIBS_ENGINE_ENGINE_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "libs/base/mutex.h"
#include "libs/engine/active_request.h"
#include "libs/engine/block_cache.h"
#include "libs/engine/completion.h"
#include "libs/engine/kv_pool.h"
#include "libs/engine/sequence.h"
#include "libs/ports/device.h"
#include "libs/ports/loop.h"
#include "libs/ports/memory.h"
#include "libs/ports/plan_source.h"
#include "libs/ports/tokenizer.h"

namespace cairn {

struct EngineStats {
  std::uint64_t requests = 0;
  std::uint64_t requests_finished = 0;
  std::uint64_t requests_cancelled = 0;
  std::uint64_t requests_refused = 0;
  std::uint64_t requests_failed = 0;
  std::uint64_t steps = 0;
  std::uint64_t steps_thrown_away = 0;  // counted per request whose part was
  std::uint64_t steps_failed = 0;       // by the device
  std::uint32_t step_rows_max = 0;      // now; less than the option where memory is short
  std::uint64_t tokens_prompted = 0;
  std::uint64_t tokens_reused = 0;
  std::uint64_t tokens_computed = 0;  // rows, prompt and generated
  std::uint64_t tokens_generated = 0;
  std::uint64_t requests_moved_off_arena = 0;
  std::uint64_t requests_acquired_again = 0;
  std::uint64_t blocks_offered = 0;
  std::uint64_t plans_by_service = 0;  // of checkpoints, by who chose the positions
  std::uint64_t plans_cached = 0;
  std::uint64_t plans_balanced = 0;
  std::uint32_t waiting = 0;
  std::uint32_t running = 0;
  std::uint32_t pool_blocks = 0;
  std::uint32_t pool_blocks_available = 0;
  bool is_closed = false;
  bool has_failed = false;  // the device has: nothing will ever run again
};

// Engine turns prompts into tokens: it looks blocks up, computes what is missing, and offers what
// is new (engine.md). Requests enter in arrival order, once pool blocks for all of one are
// reserved; each step computes one row of every request that decodes, then chunks of prompts.
//
//   waiting --reserve--> acquiring --hits--> running --finish--> gone
//                            ^------------------'  pins void between steps
//
// A step that the device has no memory for is tried again with half the rows, and so are the next
// ones, until kStepsBeforeGrowth in a row were good; one row that is too much fails its request.
// A device that fails otherwise fails all requests, and the engine takes no more.
//
// Promise 4: a step's effects (tokens, offers) happen only after the seqlock check of all blocks
// that it read in place; else they are thrown away and the lost blocks computed. Threads: Submit,
// Cancel, stats and Wake from any; RunStep and WaitForWork from one, the engine's.
//          BlockCache callbacks may come from any thread: they only fill the inbox.
// Ownership: everything given is outlived by nothing here: destroy the engine first, after Drain.
class Engine {
 public:
  struct Options {
    std::uint32_t step_rows_max = 256;  // rows a step computes, at most
    std::uint32_t running_max = 64;     // requests past `waiting`
    std::uint32_t requests_max = 256;   // waiting ones included; more are refused
  };
  // `clock` is only asked for the time. `cache` may be null: every lookup then misses. `plans` may
  // be null: nobody says where a prompt's recurrent states are wanted. (No model here has any yet:
  // what is wanted is told with the answer.)
  Engine(const Options& options, Device& device, const TextTokenizer& tokenizer, OwnedMemory& pool,
         BlockCache* cache, PlanSource* plans, const Loop& clock);
  ~Engine();

  // INVALID_ARGUMENT for what can never run (too long for the model or the pool), naming both
  // numbers; RESOURCE_EXHAUSTED if too many wait; UNAVAILABLE once closed.
  absl::StatusOr<CompletionId> Submit(CompletionCall call, std::unique_ptr<CompletionSink> sink);
  // The answer ends with kCancelled soon; no effect if it has ended.
  void Cancel(CompletionId id);
  // Refuses new requests; those that are in go on. `on_idle` is called once, from the engine's
  // thread, when they are answered and what they offered is no longer on loan.
  void Close(absl::AnyInvocable<void()> on_idle);
  // Refuses new requests and cancels all others. RunStep until it returns false and is_idle().
  void Drain();
  EngineStats stats() const;

  // Does what can be done now. True if it did something: call again.
  bool RunStep();
  // Blocks until RunStep may have something to do, or Wake.
  void WaitForWork();
  void Wake();
  // Nothing waits, runs, is on loan to the cache, or is asked of anybody: it may be destroyed.
  bool is_idle() const;

 private:
  // What one request does in the step at hand.
  struct StepPart {
    ActiveRequest* active = nullptr;
    std::uint32_t rows = 0;  // none: a prompt that was found whole, and asks for no token
    LogitRows output = LogitRows::kNone;
  };
  using Inbox = std::vector<absl::AnyInvocable<void()>>;

  void Put(absl::AnyInvocable<void()> task);
  void PutLocked(absl::AnyInvocable<void()> task) CAIRN_REQUIRES(mutex_);
  bool TakeInbox();
  bool Admit();
  void Acquire(ActiveRequest& active);
  void OnAcquired(CompletionId id, const std::vector<std::uint32_t>& blocks, AcquiredBlocks result);
  void CountFirstLookup(ActiveRequest& active);
  void AskForCheckpoints(ActiveRequest& active, const AcquiredBlocks& found);
  void OnCheckpoints(CompletionId id, CheckpointPlan plan);
  void LeaveArenaInTime(ActiveRequest& active);
  void UseArena(std::shared_ptr<const ArenaView> arena);
  bool ComputeStep();
  void PlanFor(ActiveRequest& active, std::uint32_t rows_max);
  void OnStepDone();
  void OnStepFailed(const absl::Status& status);
  void FinishPart(const StepPart& part, absl::Span<const float> logits, Token token);
  Token Choose(ActiveRequest& active, absl::Span<const float> logits);
  void TakeToken(ActiveRequest& active, Token token);
  void OfferNew(ActiveRequest& active);
  void Finish(ActiveRequest& active, FinishReason reason, absl::string_view text);
  ActiveRequest* Find(CompletionId id);
  void PublishStats();
  bool is_drained() const;

  const Options options_;
  Device& device_;
  const TextTokenizer& tokenizer_;
  BlockCache* const cache_;
  PlanSource* const plans_;
  const Loop& clock_;
  KvPool pool_;
  Sampler sampler_;
  std::shared_ptr<const ArenaView> arena_;                             // the device's
  std::deque<std::unique_ptr<ActiveRequest>> actives_;                 // in arrival order
  absl::flat_hash_map<std::uint64_t, std::vector<PoolBlock>> offers_;  // on loan to the cache
  std::uint64_t last_offer_ = 0;
  std::uint64_t acquires_out_ = 0;
  std::uint64_t plans_out_ = 0;  // nobody waits for them but the end
  absl::AnyInvocable<void()> on_idle_;
  EngineStats stats_now_;  // the engine thread's own; published once a step
  // The step at hand; members, so that their memory is kept.
  std::vector<StepPart> parts_;
  std::vector<StepChunk> chunks_;
  std::vector<float> logits_;
  std::vector<Token> tokens_;
  std::uint32_t rows_ = 0;
  std::uint32_t rows_max_;        // of a step; halved where the device has no memory for it
  std::uint32_t good_steps_ = 0;  // since rows_max_ last changed

  mutable Mutex mutex_;
  CondVar wake_;
  Inbox inbox_ CAIRN_GUARDED_BY(mutex_);
  bool is_woken_ CAIRN_GUARDED_BY(mutex_) = false;
  bool is_closed_ CAIRN_GUARDED_BY(mutex_) = false;
  bool is_draining_ CAIRN_GUARDED_BY(mutex_) = false;  // then it is closed, too
  absl::Status failure_ CAIRN_GUARDED_BY(mutex_);      // of the device; then it is closed, too
  bool is_idle_ CAIRN_GUARDED_BY(mutex_) = true;
  bool is_drained_ CAIRN_GUARDED_BY(mutex_) = true;  // the same, but for plans that are still out
  std::uint64_t last_id_ CAIRN_GUARDED_BY(mutex_) = 0;
  std::uint32_t in_flight_ CAIRN_GUARDED_BY(mutex_) = 0;  // submitted and not finished
  std::uint64_t refused_ CAIRN_GUARDED_BY(mutex_) = 0;
  EngineStats stats_ CAIRN_GUARDED_BY(mutex_);
};

}  // namespace cairn
#endif  // CAIRN_LIBS_ENGINE_ENGINE_H_
