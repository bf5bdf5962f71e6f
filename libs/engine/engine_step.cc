#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "libs/base/check.h"
#include "libs/base/log.h"
#include "libs/base/mark.h"
#include "libs/engine/engine.h"

// One step of the engine: plan, compute, check what was read in place, and only then let its
// effects out.

namespace cairn {

using State = ActiveRequest::State;

// A step of twice as many rows may fail again, which costs some milliseconds.
constexpr std::uint32_t kStepsBeforeGrowth = 64;

bool Engine::RunStep() {
  const bool had_tasks = TakeInbox();
  const bool has_admitted = Admit();
  for (auto& active : actives_) {
    if (active->state == State::kRunning) LeaveArenaInTime(*active);
  }
  if (arena_ != nullptr && arena_->is_lost()) {  // nobody reads there any more: let it be unmapped
    CAIRN_COVERED("arena_lost");
    UseArena(nullptr);
  }
  const bool has_computed = ComputeStep();
  while (!actives_.empty() && actives_.front()->state == State::kFinished) actives_.pop_front();
  actives_.erase(
      std::remove_if(actives_.begin(), actives_.end(),
                     [](const auto& active) { return active->state == State::kFinished; }),
      actives_.end());
  PublishStats();
  if (on_idle_ && is_drained()) std::exchange(on_idle_, nullptr)();
  return had_tasks || has_admitted || has_computed;
}

// Between steps, so nothing is being read. A request moves to the pool while its pins still hold;
// if they have ended already (this process was stopped, say), it asks for its blocks again. Once:
// where steps last longer than pins it would ask for ever, so then it keeps what it can still copy.
void Engine::LeaveArenaInTime(ActiveRequest& active) {
  if (!active.sequence.ReadsArena()) {
    active.lease.reset();
    return;
  }
  const Instant now = clock_.Now();
  if (now < active.lease->leave_by()) return;
  if (now >= active.lease->void_at() && !std::exchange(active.was_acquired_again, true)) {
    CAIRN_COVERED("request_acquired_again");
    ++stats_now_.requests_acquired_again;
    active.sequence.DropArena();
    active.lease.reset();
    Acquire(active);
    return;
  }
  CAIRN_COVERED("request_moved_off_arena");
  ++stats_now_.requests_moved_off_arena;
  active.sequence.CopyOffArena();  // a torn block is missing from now on, and gets computed
  active.lease.reset();
}

bool Engine::ComputeStep() {
  parts_.clear();
  chunks_.clear();
  rows_ = 0;
  // Requests that generate have one row each; they go first, so that long prompts never stall them.
  for (auto& active : actives_) {
    if (active->state == State::kRunning && active->usage.completion_tokens > 0) {
      PlanFor(*active, rows_max_ - rows_);
    }
  }
  for (auto& active : actives_) {
    if (active->state == State::kRunning && active->usage.completion_tokens == 0) {
      PlanFor(*active, rows_max_ - rows_);
    }
  }
  if (parts_.empty()) return false;

  const auto count = [this](LogitRows output) {
    return static_cast<std::size_t>(
        std::count_if(parts_.begin(), parts_.end(),
                      [output](const StepPart& part) { return part.output == output; }));
  };
  const std::size_t vocabulary = device_.shape().vocabulary;
  logits_.resize(count(LogitRows::kLast) * vocabulary);
  tokens_.resize(count(LogitRows::kLastToken));
  if (!chunks_.empty()) {
    const absl::Status status =
        device_.Run(chunks_, {absl::MakeSpan(logits_), absl::MakeSpan(tokens_)});
    if (!status.ok()) {
      OnStepFailed(status);
      return true;
    }
    OnStepDone();
  }
  const float* next_logits = logits_.data();
  const Token* next_token = tokens_.data();
  for (const StepPart& part : parts_) {
    if (part.output == LogitRows::kLast) {
      FinishPart(part, {next_logits, vocabulary}, 0);
      next_logits += vocabulary;
    } else {
      FinishPart(part, {}, part.output == LogitRows::kLastToken ? *next_token++ : 0);
    }
  }
  return true;
}

void Engine::OnStepDone() {
  ++stats_now_.steps;
  if (rows_max_ == options_.step_rows_max || ++good_steps_ < kStepsBeforeGrowth) return;
  CAIRN_COVERED("step_rows_doubled");
  rows_max_ = std::min(options_.step_rows_max, 2 * rows_max_);
  good_steps_ = 0;
}

// Nothing of the step is kept: its rows are planned again, if anybody still wants them.
void Engine::OnStepFailed(const absl::Status& status) {
  ++stats_now_.steps_failed;
  good_steps_ = 0;
  for (const StepPart& part : parts_) part.active->sequence.Discard();
  LogEvent(LogLevel::kError, "step_failed").With("rows", rows_).With("reason", status.ToString());
  if (absl::IsResourceExhausted(status)) {
    if (rows_ > 1) {
      CAIRN_COVERED("step_rows_halved");
      rows_max_ = rows_ / 2;
      return;
    }
    for (const StepPart& part : parts_) {
      if (part.rows > 0) Finish(*part.active, FinishReason::kFailed, status.message());
    }
    rows_max_ = options_.step_rows_max;  // others need not suffer for it
    return;
  }
  CAIRN_COVERED("device_failed");
  {
    MutexLock lock(mutex_);
    failure_ = absl::UnavailableError(absl::StrCat("the device has failed: ", status.message()));
    is_closed_ = true;
  }
  for (auto& active : actives_) {
    if (active->state != State::kFinished) {
      Finish(*active, FinishReason::kFailed, status.message());
    }
  }
}

void Engine::PlanFor(ActiveRequest& active, std::uint32_t rows_max) {
  if (rows_max == 0) return;
  StepPart part{.active = &active};
  SequenceWork work;
  std::vector<SequenceWork> works;
  std::uint32_t rows = 0;
  while (rows < rows_max && active.sequence.Plan(rows_max - rows, &work)) {
    works.push_back(work);
    rows += work.rows;
  }
  const bool is_last = active.sequence.EverythingPlanned();
  part.rows = rows;
  if (is_last && active.max_tokens > 0 && rows > 0) part.output = active.output;
  for (std::size_t i = 0; i < works.size(); ++i) {
    const bool has_output = i + 1 == works.size();
    chunks_.push_back(
        active.sequence.ChunkOf(works[i], has_output ? part.output : LogitRows::kNone));
  }
  rows_ += rows;
  // A prompt that was found whole and asks for no token has no rows, but is to be finished.
  CAIRN_CHECK(rows > 0 || !is_last || active.max_tokens == 0) << "a request with nothing to do";
  if (rows > 0 || is_last) parts_.push_back(part);
}

void Engine::FinishPart(const StepPart& part, absl::Span<const float> logits, Token token) {
  ActiveRequest& active = *part.active;
  const std::uint64_t computed_before = active.sequence.rows_computed();
  if (active.sequence.ReadsArena() && !active.sequence.CheckArena()) {
    CAIRN_COVERED("step_thrown_away");
    ++stats_now_.steps_thrown_away;
    active.sequence.Discard();
    return;
  }
  active.sequence.Commit();
  const std::uint64_t rows = active.sequence.rows_computed() - computed_before;
  stats_now_.tokens_computed += rows;
  if (active.usage.completion_tokens == 0) active.usage.tokens_computed += rows;
  OfferNew(active);
  if (part.output == LogitRows::kLast) {
    TakeToken(active, Choose(active, logits));
  } else if (part.output == LogitRows::kLastToken) {
    TakeToken(active, token);
  } else if (active.max_tokens == 0 && active.sequence.EverythingComputed()) {
    Finish(active, FinishReason::kLength, "");
  }
}

Token Engine::Choose(ActiveRequest& active, absl::Span<const float> logits) {
  if (active.sink->wants_logits()) active.sink->OnLogits(logits);
  return sampler_.Sample(active.sampling, /*choice=*/0, active.usage.completion_tokens, logits);
}

void Engine::TakeToken(ActiveRequest& active, Token token) {
  if (active.usage.completion_tokens == 0) {
    active.usage.time_to_first_token = clock_.Now() - active.submitted_at;
  }
  ++stats_now_.tokens_generated;
  ++active.usage.completion_tokens;
  const bool is_end = tokenizer_.IsEndOfText(token);
  const std::string text = is_end ? "" : active.text.Push(tokenizer_.TokenBytes(token));
  active.sink->OnToken(token, text);
  if (is_end || active.text.stopped()) {
    Finish(active, FinishReason::kStop, active.text.Finish());
  } else if (active.usage.completion_tokens >= active.max_tokens) {
    Finish(active, FinishReason::kLength, active.text.Finish());
  } else {
    active.sequence.Append(token);
  }
}

void Engine::OfferNew(ActiveRequest& active) {
  // What is not taken now is taken after a later step: a request that runs on while the node comes
  // up stores all that it has.
  if (cache_ == nullptr || !cache_->takes_offers()) return;
  const std::vector<std::uint32_t> blocks = active.sequence.TakeBlocksToOffer();
  if (blocks.empty()) return;
  const PromptLayout& layout = active.sequence.layout();
  std::vector<PoolBlock> loans;
  std::vector<StoredBlock> stored;
  for (const std::uint32_t index : blocks) {
    loans.push_back(active.sequence.PoolBlockOf(index));
    stored.push_back({loans.back().bytes(), layout.blocks()[index].token_count});
  }
  std::vector<Checksum> sums(blocks.size());
  device_.Sum(stored, absl::MakeSpan(sums));
  std::vector<OfferedBlock> offered;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const PromptBlock& block = layout.blocks()[blocks[i]];
    offered.push_back({.key = active.sequence.keys()[blocks[i]],
                       .has_parent = block.parent.has_value(),
                       .parent = block.parent ? active.sequence.keys()[*block.parent] : Key{},
                       .depth = block.chain_depth,
                       .bytes = stored[i].bytes,
                       .checksum = sums[i]});
  }
  stats_now_.blocks_offered += blocks.size();
  const std::uint64_t offer = ++last_offer_;
  offers_.emplace(offer, std::move(loans));
  cache_->Offer(std::move(offered),
                [this, offer] { Put([this, offer] { offers_.erase(offer); }); });
}

}  // namespace cairn
