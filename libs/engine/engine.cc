#include "libs/engine/engine.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "libs/base/check.h"
#include "libs/base/limits.h"
#include "libs/base/mark.h"
#include "libs/base/status_macros.h"

// Requests on their way in and out. The step itself is in engine_step.cc.

namespace cairn {
namespace {

using State = ActiveRequest::State;

absl::Status CheckLength(const PromptLayout& layout, std::uint32_t max_tokens,
                         std::uint64_t positions_max) {
  if (layout.tokens().empty()) return absl::InvalidArgumentError("the prompt is empty");
  if (max_tokens > limits::kGeneratedTokensMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("max_tokens is ", max_tokens, ", over ", limits::kGeneratedTokensMax));
  }
  // Segments with a base may go over the same positions again: the tokens have a limit of their
  // own.
  const std::size_t tokens = layout.tokens().size();
  if (tokens + max_tokens > limits::kPromptTokensMax) {
    return absl::InvalidArgumentError(absl::StrCat("the prompt has ", tokens,
                                                   " tokens and max_tokens is ", max_tokens,
                                                   ": together over ", limits::kPromptTokensMax));
  }
  const NormalSegment& last = layout.segments().back();
  const std::uint64_t reached = last.position + last.token_count;
  if (reached + max_tokens > positions_max) {
    return absl::InvalidArgumentError(
        absl::StrCat("the prompt reaches position ", reached, " and max_tokens is ", max_tokens,
                     ": together over the model's ", positions_max, " positions"));
  }
  return absl::OkStatus();
}

}  // namespace

Engine::Engine(const Options& options, Device& device, const TextTokenizer& tokenizer,
               OwnedMemory& pool, BlockCache* cache, PlanSource* plans, const Loop& clock)
    : options_(options),
      device_(device),
      tokenizer_(tokenizer),
      cache_(cache),
      plans_(plans),
      clock_(clock),
      pool_(pool.bytes(), device.layout().block_bytes()),
      rows_max_(options.step_rows_max) {
  CAIRN_CHECK(options.step_rows_max > 0);
  CAIRN_CHECK(options.step_rows_max <= limits::kStepRowsMax);
  device_.UsePool(pool_.memory(), pool_.takes());
  if (cache_ != nullptr) cache_->SetOnArenaLost([this] { Wake(); });
  PublishStats();
}

Engine::~Engine() {
  CAIRN_CHECK(is_idle()) << "an engine is drained before it is destroyed";
  if (cache_ != nullptr) cache_->SetOnArenaLost(nullptr);
  device_.UsePool({}, {});
  device_.UseArena(nullptr);
}

absl::StatusOr<CompletionId> Engine::Submit(CompletionCall call,
                                            std::unique_ptr<CompletionSink> sink) {
  CAIRN_RETURN_IF_ERROR(
      CheckLength(call.prompt.layout(), call.max_tokens, device_.shape().positions_max));
  CompletionId id;
  {
    MutexLock lock(mutex_);
    id = CompletionId(++last_id_);
  }
  auto active = std::make_unique<ActiveRequest>(id, std::move(call), std::move(sink),
                                                device_.shape(), clock_.Now());
  const std::uint32_t needed = active->sequence.BlocksNeeded();
  if (needed > pool_.blocks()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the request needs ", needed, " KV blocks; this worker's pool has ", pool_.blocks()));
  }
  MutexLock lock(mutex_);  // one hold: what is let in is in the inbox before Drain's own task
  if (!failure_.ok()) return failure_;
  if (is_closed_) return absl::UnavailableError("the worker is stopping");
  if (in_flight_ >= options_.requests_max) {
    ++refused_;
    return absl::ResourceExhaustedError(
        absl::StrCat(in_flight_, " requests are in flight, the most that this worker takes"));
  }
  ++in_flight_;
  PutLocked([this, active = std::move(active)]() mutable {
    ++stats_now_.requests;
    stats_now_.tokens_prompted += active->prompt_tokens;
    actives_.push_back(std::move(active));
  });
  return id;
}

void Engine::Cancel(CompletionId id) {
  MutexLock lock(mutex_);
  // Drain cancels all; and when the engine's thread has ended, nobody would see this any more.
  if (is_draining_) return;
  PutLocked([this, id] {
    ActiveRequest* active = Find(id);
    if (active != nullptr) Finish(*active, FinishReason::kCancelled, "");
  });
}

void Engine::Close(absl::AnyInvocable<void()> on_idle) {
  MutexLock lock(mutex_);
  is_closed_ = true;
  PutLocked([this, on_idle = std::move(on_idle)]() mutable { on_idle_ = std::move(on_idle); });
}

void Engine::Drain() {
  {
    MutexLock lock(mutex_);
    is_closed_ = is_draining_ = true;
  }
  Put([this] {
    for (auto& active : actives_) {
      if (active->state != State::kFinished) Finish(*active, FinishReason::kCancelled, "");
    }
  });
}

void Engine::Put(absl::AnyInvocable<void()> task) {
  MutexLock lock(mutex_);
  PutLocked(std::move(task));
}

void Engine::PutLocked(absl::AnyInvocable<void()> task) {
  is_idle_ = is_drained_ = false;
  inbox_.push_back(std::move(task));
  wake_.NotifyOne();
}

void Engine::Wake() {
  MutexLock lock(mutex_);
  is_woken_ = true;
  wake_.NotifyOne();
}

void Engine::WaitForWork() {
  MutexLock lock(mutex_);
  while (inbox_.empty() && !is_woken_) wake_.Wait(mutex_);
  is_woken_ = false;
}

bool Engine::is_idle() const {
  MutexLock lock(mutex_);
  return is_idle_;
}

bool Engine::is_drained() const {
  MutexLock lock(mutex_);
  return is_drained_;
}

EngineStats Engine::stats() const {
  MutexLock lock(mutex_);
  EngineStats stats = stats_;
  stats.requests_refused = refused_;
  stats.is_closed = is_closed_;
  stats.has_failed = !failure_.ok();
  return stats;
}

void Engine::PublishStats() {
  stats_now_.waiting = stats_now_.running = 0;
  for (const auto& active : actives_) {
    if (active->state == State::kWaiting)
      ++stats_now_.waiting;
    else
      ++stats_now_.running;
  }
  stats_now_.step_rows_max = rows_max_;
  stats_now_.pool_blocks = pool_.blocks();
  stats_now_.pool_blocks_available = pool_.available();
  MutexLock lock(mutex_);
  stats_ = stats_now_;
  is_drained_ = inbox_.empty() && actives_.empty() && offers_.empty() && acquires_out_ == 0;
  is_idle_ = is_drained_ && plans_out_ == 0;
}

bool Engine::TakeInbox() {
  Inbox tasks;
  {
    MutexLock lock(mutex_);
    tasks.swap(inbox_);
  }
  for (auto& task : tasks) task();
  return !tasks.empty();
}

ActiveRequest* Engine::Find(CompletionId id) {
  for (auto& active : actives_) {
    if (active->id == id && active->state != State::kFinished) return active.get();
  }
  return nullptr;
}

// Strictly in arrival order: a request that does not fit yet keeps those behind it waiting, or a
// large one could wait for ever.
bool Engine::Admit() {
  bool has_admitted = false;
  std::uint32_t running = 0;
  for (auto& active : actives_) {
    if (active->state == State::kFinished) continue;
    if (active->state == State::kWaiting) {
      PoolReservation reservation;
      if (running >= options_.running_max ||
          !pool_.Reserve(active->sequence.BlocksNeeded(), &reservation)) {
        break;
      }
      active->sequence.Admit(std::move(reservation));
      Acquire(*active);
      has_admitted = true;
    }
    ++running;
  }
  return has_admitted;
}

void Engine::Acquire(ActiveRequest& active) {
  std::vector<std::uint32_t> blocks = active.sequence.BlocksToAcquire();
  if (cache_ == nullptr || blocks.empty()) {
    if (!active.was_acquired) AskForCheckpoints(active, {});
    CountFirstLookup(active);
    active.state = State::kRunning;
    return;
  }
  active.state = State::kAcquiring;
  WantedBlocks wanted;
  wanted.keys.reserve(blocks.size());
  for (const std::uint32_t block : blocks) wanted.keys.push_back(active.sequence.keys()[block]);
  if (!active.was_acquired) {
    wanted.prompt_tokens = active.prompt_tokens;
    for (const std::uint32_t block : blocks) {
      wanted.ends.push_back(active.sequence.layout().blocks()[block].depth());
    }
  }
  ++acquires_out_;
  cache_->Acquire(std::move(wanted), [this, id = active.id,
                                      blocks = std::move(blocks)](AcquiredBlocks result) mutable {
    Put([this, id, blocks = std::move(blocks), result = std::move(result)]() mutable {
      --acquires_out_;
      OnAcquired(id, blocks, std::move(result));
    });
  });
}

void Engine::OnAcquired(CompletionId id, const std::vector<std::uint32_t>& blocks,
                        AcquiredBlocks result) {
  ActiveRequest* active = Find(id);
  if (active == nullptr) {
    CAIRN_COVERED("request_cancelled_while_acquiring");
    return;  // dropping the result releases its pins
  }
  if (result.arena != nullptr) UseArena(std::move(result.arena));
  for (const AcquiredBlocks::Hit& hit : result.hits) {
    active->sequence.TakeHit(blocks[hit.index], hit.block);
  }
  if (!active->was_acquired) AskForCheckpoints(*active, result);
  active->lease = std::move(result.lease);
  CountFirstLookup(*active);
  if (active->max_tokens > 0 && !active->sequence.PrepareLastToken()) {
    CAIRN_COVERED("last_block_torn");
  }
  active->state = State::kRunning;
}

void Engine::UseArena(std::shared_ptr<const ArenaView> arena) {
  if (arena == arena_) return;
  device_.UseArena(arena);
  arena_ = std::move(arena);
}

void Engine::CountFirstLookup(ActiveRequest& active) {
  if (std::exchange(active.was_acquired, true)) return;
  const PromptLayout& layout = active.sequence.layout();
  active.usage.prompt_tokens = active.prompt_tokens;
  active.usage.ignored_spans = layout.ignored_spans();
  for (const NormalSegment& segment : layout.segments()) {
    CompletionUsage::Span span{.tokens = segment.token_count};
    for (std::uint32_t i = 0; i < segment.block_count; ++i) {
      const std::uint32_t block = segment.first_block + i;
      if (active.sequence.WasHit(block)) span.tokens_reused += layout.blocks()[block].token_count;
    }
    active.usage.tokens_reused += span.tokens_reused;
    if (segment.kind == SegmentKind::kSpan) active.usage.spans.push_back(span);
  }
  stats_now_.tokens_reused += active.usage.tokens_reused;
}

void Engine::AskForCheckpoints(ActiveRequest& active, const AcquiredBlocks& found) {
  active.usage.overlap_depth = found.overlap_depth;
  if (plans_ == nullptr) return;
  CheckpointQuestion question{.family = found.family,
                              .length = active.prompt_tokens,
                              .resume_depth = 0,
                              .shared_depth = found.overlap_depth};
  // Up to the first block that is missing nothing is computed.
  const absl::Span<const PromptBlock> blocks = active.sequence.layout().blocks();
  for (std::uint32_t i = 0; i < blocks.size() && active.sequence.WasHit(i); ++i) {
    question.resume_depth = blocks[i].depth();
  }
  if (question.resume_depth >= question.length) return;  // nothing left to take a state of
  ++plans_out_;
  plans_->Ask(question, [this, id = active.id](CheckpointPlan plan) {
    Put([this, id, plan = std::move(plan)]() mutable {
      --plans_out_;
      OnCheckpoints(id, std::move(plan));
    });
  });
}

void Engine::OnCheckpoints(CompletionId id, CheckpointPlan plan) {
  switch (plan.origin) {
    case PlanOrigin::kService:
      ++stats_now_.plans_by_service;
      break;
    case PlanOrigin::kCached:
      ++stats_now_.plans_cached;
      break;
    case PlanOrigin::kBalanced:
      ++stats_now_.plans_balanced;
      break;
  }
  ActiveRequest* active = Find(id);
  if (active != nullptr) active->usage.checkpoints = std::move(plan);
}

void Engine::Finish(ActiveRequest& active, FinishReason reason, absl::string_view text) {
  active.state = State::kFinished;
  active.lease.reset();
  switch (reason) {
    case FinishReason::kCancelled:
      ++stats_now_.requests_cancelled;
      break;
    case FinishReason::kFailed:
      ++stats_now_.requests_failed;
      break;
    case FinishReason::kStop:
    case FinishReason::kLength:
      ++stats_now_.requests_finished;
      break;
  }
  active.sink->OnFinish(reason, text, active.usage);
  MutexLock lock(mutex_);
  --in_flight_;
}

}  // namespace cairn
