#include "libs/client/acquire_calls.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "libs/base/check.h"
#include "libs/base/limits.h"
#include "libs/base/mark.h"
#include "libs/base/status_macros.h"
#include "libs/client/session.h"

namespace cairn {
namespace {

// Until the answer says otherwise every key is absent; keys that are not asked are busy.
AcquireAnswer EmptyAnswer(std::size_t keys, std::size_t asked) {
  AcquireAnswer answer;
  answer.keys.resize(keys);
  for (std::size_t i = asked; i < keys; ++i) answer.keys[i].result = KeyResult::kBusy;
  return answer;
}

void Tally(ClientStats& stats, const AcquireAnswer& answer) {
  for (const KeyAnswer& key : answer.keys) ++stats.of(key.result);
}

}  // namespace

void AcquireCalls::Begin(AcquireRequest request, AcquireDone done,
                         std::optional<KeyResult> refused) {
  const bool is_pull = request.want == wire::Want::kPull;
  CAIRN_CHECK(request.kinds.empty() || request.kinds.size() == request.keys.size());
  CAIRN_CHECK(request.targets.size() == (is_pull ? request.keys.size() : 0));
  CAIRN_CHECK(request.ends.size() == (request.prompt_tokens > 0 ? request.keys.size() : 0));
  ++context_.stats.acquires;
  context_.stats.keys_asked += request.keys.size();
  if (refused.has_value()) return Refuse(std::move(request), std::move(done), *refused);
  if (request.keys.empty()) {
    return Refuse(std::move(request), std::move(done), KeyResult::kAbsent);
  }
  if (context_.RemainingMicros(request.deadline) == 0) {
    CAIRN_COVERED("client_acquire_too_late");
    return Refuse(std::move(request), std::move(done), KeyResult::kDeadline);
  }
  const std::size_t asked = std::min(request.keys.size(), limits::kKeysPerMessageMax);
  const RequestId id = context_.NextRequest();
  if (const absl::Status sent = SendAcquire(id, request, asked); !sent.ok()) {
    CAIRN_COVERED("client_acquire_not_sent");
    const bool is_full = absl::IsResourceExhausted(sent);
    return Refuse(std::move(request), std::move(done),
                  is_full ? KeyResult::kBusy : KeyResult::kLost);
  }
  Call& call = calls_[id];
  call.is_pull = is_pull;
  call.is_hybrid = request.is_hybrid;
  call.resume_depth_max = request.resume_depth_max;
  call.prompt_tokens = request.prompt_tokens;
  call.answer = EmptyAnswer(request.keys.size(), asked);
  call.answer.pin_ends_at =
      context_.loop.Now() +
      absl::Microseconds(std::min(context_.session->welcome().pin_age_max_us,
                                  static_cast<std::uint64_t>(INT64_MAX / 1000)));
  call.kinds = std::move(request.kinds);
  call.done = std::move(done);
  call.pass = Gate::Pass(context_.gate);
  call.timer = context_.loop.RunAt(request.deadline, [this, id] {
    CAIRN_COVERED("client_acquire_deadline");
    context_.Complain("cache_call_failed", "acquire", "no answer by the deadline");
    End(id, KeyResult::kDeadline);
  });
  if (is_pull) AwaitPulls(id, std::move(request.targets));
}

void AcquireCalls::Refuse(AcquireRequest request, AcquireDone done, KeyResult result) {
  AcquireAnswer answer = EmptyAnswer(request.keys.size(), request.keys.size());
  for (KeyAnswer& key : answer.keys) key.result = result;
  Tally(context_.stats, answer);
  context_.PostInside([targets = std::move(request.targets), answer = std::move(answer),
                       done = std::move(done)]() mutable {
    for (PullTarget& target : targets) target.returned();
    done(std::move(answer));
  });
}

absl::Status AcquireCalls::SendAcquire(RequestId id, const AcquireRequest& request,
                                       std::size_t asked) {
  wire::Acquire m;
  m.request = id;
  m.remaining_us = context_.RemainingMicros(request.deadline);
  m.want = request.want;
  m.is_hybrid = request.is_hybrid;
  m.resume_depth_max = request.resume_depth_max;
  m.keys.assign(request.keys.begin(), request.keys.begin() + static_cast<std::ptrdiff_t>(asked));
  if (request.kinds.empty()) {
    m.kinds.assign(asked, EntryKind::kKvBlock);
  } else {
    m.kinds.assign(request.kinds.begin(),
                   request.kinds.begin() + static_cast<std::ptrdiff_t>(asked));
  }
  m.prompt_tokens = request.prompt_tokens;
  if (request.prompt_tokens > 0) {
    m.ends.assign(request.ends.begin(), request.ends.begin() + static_cast<std::ptrdiff_t>(asked));
  }
  m.released = releases_.Take();
  const absl::Status sent = context_.session->Send(wire::Type::kAcquire, wire::Encode(m));
  if (!sent.ok()) releases_.PutBack(std::move(m.released));
  return sent;
}

void AcquireCalls::AwaitPulls(RequestId id, std::vector<PullTarget> targets) {
  std::vector<PullCalls::Item> items(targets.size());
  Call& call = calls_.at(id);
  for (std::size_t i = 0; i < targets.size(); ++i) {
    call.targets.push_back(targets[i].bytes);
    items[i].index = static_cast<std::uint32_t>(i);
    items[i].target = std::move(targets[i]);
  }
  pulls_.Begin(id, std::move(items),
               [this, id](std::vector<KeyResult> results) { OnPulled(id, std::move(results)); });
}

absl::Status AcquireCalls::OnAcquired(absl::string_view body) {
  CAIRN_ASSIGN_OR_RETURN(const wire::Acquired acquired, wire::DecodeAcquired(body));
  if (acquired.hits.empty() != (acquired.pin == PinId())) {
    return absl::InvalidArgumentError("ACQUIRED has hits without a pin, or a pin without hits");
  }
  const auto found = calls_.find(acquired.request);
  if (found == calls_.end()) {
    CAIRN_COVERED("client_late_pin");
    ++context_.stats.late_answers;
    if (acquired.pin == PinId()) return absl::OkStatus();
    if (releases_.is_full()) return absl::InvalidArgumentError("more pins than a session can have");
    releases_.AddNow(acquired.pin);
    return absl::OkStatus();
  }
  Call& call = found->second;
  CAIRN_RETURN_IF_ERROR(CheckAnswer(call, acquired));
  call.answer.resume_depth = acquired.resume_depth;
  if (acquired.overlap_depth <= call.prompt_tokens) {  // advice: else it is none
    call.answer.family = acquired.family;
    call.answer.overlap_depth = acquired.overlap_depth;
  }
  context_.stats.keys_capped += acquired.capped;
  if (acquired.result == wire::AcquireResult::kNoSession) {
    return absl::UnavailableError("the node knows of no session");
  }
  if (acquired.result != wire::AcquireResult::kOk) {
    CAIRN_COVERED("client_acquire_refused");
    context_.Complain("cache_call_failed", "acquire", "the node is at a limit, or stopping");
    for (KeyAnswer& key : call.answer.keys) key.result = KeyResult::kRefused;
  }
  CAIRN_ASSIGN_OR_RETURN(const std::vector<wire::Descriptor> hits,
                         TakeHits(acquired.request, call, acquired));
  call.is_answered = true;  // and not before: a call whose answer is refused is lost as a whole
  if (call.is_pull) {
    pulls_.Expect(acquired.request, acquired.pin, hits);
  } else {
    VerifyHits(acquired.request, hits);
  }
  return absl::OkStatus();
}

absl::Status AcquireCalls::CheckAnswer(const Call& call, const wire::Acquired& acquired) const {
  if (call.is_answered) return absl::InvalidArgumentError("a second ACQUIRED for one ACQUIRE");
  if (!acquired.hits.empty() && acquired.result != wire::AcquireResult::kOk) {
    return absl::InvalidArgumentError("ACQUIRED refuses and has hits");
  }
  if (!acquired.hits.empty() &&
      acquired.hits.back().index >= std::min(call.answer.keys.size(), limits::kKeysPerMessageMax)) {
    return absl::InvalidArgumentError(absl::StrCat("ACQUIRED hits key ", acquired.hits.back().index,
                                                   " of ", call.answer.keys.size()));
  }
  if (acquired.resume_depth > (call.is_hybrid ? call.resume_depth_max : 0)) {
    return absl::InvalidArgumentError(absl::StrCat("ACQUIRED resumes at ", acquired.resume_depth));
  }
  return absl::OkStatus();
}

// A KV block of another size than the identity's cannot be read as one, whoever stored it.
bool AcquireCalls::IsOfItsSize(const Call& call, const wire::Descriptor& hit) const {
  const bool is_kv = call.kinds.empty() || call.kinds[hit.index] == EntryKind::kKvBlock;
  const std::uint64_t block_bytes = context_.options.block_bytes;
  return !is_kv || block_bytes == 0 || hit.bytes == block_bytes;
}

absl::StatusOr<std::vector<wire::Descriptor>> AcquireCalls::TakeHits(
    RequestId id, Call& call, const wire::Acquired& acquired) {
  const std::shared_ptr<ArenaMapping>& mapping = context_.session->mapping();
  const bool in_place = mapping != nullptr && !call.is_pull;
  std::vector<wire::Descriptor> hits;
  for (const wire::Descriptor& hit : acquired.hits) {
    HitBlock block{.checksum = hit.checksum, .depth = hit.depth};
    if (in_place) {
      std::optional<HitBlock> located = mapping->Locate(hit);
      if (!located.has_value()) {
        CAIRN_COVERED("client_descriptor_out_of_bounds");
        return absl::InvalidArgumentError(
            absl::StrCat("request ", id.value(), " hits segment ", hit.place.segment.value(),
                         " slot ", hit.place.slot.value(), " offset ", hit.offset, " bytes ",
                         hit.bytes, ", outside the arena"));
      }
      block = *located;
    }
    KeyAnswer& key = call.answer.keys[hit.index];
    if (!IsOfItsSize(call, hit)) {
      CAIRN_COVERED("client_hit_of_other_size");
      key.result = KeyResult::kCorrupt;
      continue;
    }
    hits.push_back(hit);
    key.result = KeyResult::kDeadline;  // unless it is verified or pulled before
    key.block = block;
    key.entry_bytes = hit.bytes;
    call.hits.push_back(hit.index);
  }
  call.pin = acquired.pin;
  call.open = hits.size();
  if (in_place && call.open > 0) call.answer.mapping = mapping;
  return hits;
}

void AcquireCalls::VerifyHits(RequestId id, const std::vector<wire::Descriptor>& hits) {
  Call& call = calls_.at(id);
  for (const wire::Descriptor& hit : hits) {
    KeyAnswer& key = call.answer.keys[hit.index];
    if (!key.block.in_place) {  // to be pulled by the caller, who verifies what lands
      key.result = KeyResult::kHit;
      --call.open;
      continue;
    }
    const std::optional<BlockVerifier::Verdict> known =
        verifier_.Verify(call.answer.mapping, hit.place, key.block,
                         [this, id, session = context_.session->serial(), pin = call.pin,
                          index = hit.index](BlockVerifier::Verdict verdict, bool is_first) {
                           if (verdict == BlockVerifier::Verdict::kCorrupt && is_first)
                             Suspect(session, pin, index);
                           OnVerified(id, index, verdict);
                         });
    if (!known.has_value()) continue;
    key.result = *known == BlockVerifier::Verdict::kSound ? KeyResult::kHit : KeyResult::kBusy;
    --call.open;
  }
  if (call.open == 0) Tell(id);
}

void AcquireCalls::OnVerified(RequestId id, std::uint32_t index, BlockVerifier::Verdict verdict) {
  const auto found = calls_.find(id);
  if (found == calls_.end()) {
    CAIRN_COVERED("client_verified_late");
    return;
  }
  Call& call = found->second;
  KeyResult& result = call.answer.keys[index].result;
  switch (verdict) {
    case BlockVerifier::Verdict::kSound:
      result = KeyResult::kHit;
      break;
    case BlockVerifier::Verdict::kStale:
      result = KeyResult::kStale;
      break;
    case BlockVerifier::Verdict::kCorrupt:
      result = KeyResult::kCorrupt;
      break;
    case BlockVerifier::Verdict::kBusy:
      result = KeyResult::kBusy;
      break;
  }
  if (--call.open == 0) Tell(id);
}

void AcquireCalls::OnPulled(RequestId id, std::vector<KeyResult> results) {
  const auto found = calls_.find(id);
  CAIRN_CHECK(found != calls_.end()) << id.value();
  Call& call = found->second;
  for (const std::uint32_t index : call.hits) {
    KeyAnswer& key = call.answer.keys[index];
    key.result = results[index];
    if (key.is_hit()) key.block.bytes = call.targets[index].first(key.entry_bytes);
  }
  call.open = 0;
  Tell(id);
}

void AcquireCalls::Suspect(SessionSerial session, PinId pin, std::uint32_t index) {
  context_.Complain("checksum_failed", "verify",
                    absl::StrCat("pin ", pin.value(), " index ", index));
  if (context_.session == nullptr || context_.session->serial() != session) return;
  if (context_.session->Send(wire::Type::kSuspect, wire::Encode(wire::Suspect{pin, index})).ok()) {
    ++context_.stats.suspects_sent;
  }
}

void AcquireCalls::End(RequestId id, KeyResult missing) {
  Call& call = calls_.at(id);
  call.missing = missing;
  if (call.is_pull) return pulls_.Finish(id, missing);  // OnPulled tells
  Tell(id);
}

void AcquireCalls::Tell(RequestId id) {
  const auto found = calls_.find(id);
  CAIRN_CHECK(found != calls_.end()) << id.value();
  Call call = std::move(found->second);
  calls_.erase(found);
  context_.loop.Cancel(call.timer);
  AcquireAnswer& answer = call.answer;
  for (KeyAnswer& key : answer.keys) {
    const bool is_open = !call.is_answered || key.result == KeyResult::kDeadline;
    if (is_open && key.result != KeyResult::kBusy) key.result = call.missing;
  }
  if (call.is_hybrid && !IsResumable(call)) {
    answer.resume_depth = 0;
    for (KeyAnswer& key : answer.keys) {
      if (key.is_hit()) key.result = KeyResult::kIncomplete;
    }
  }
  bool has_hit = false;
  for (KeyAnswer& key : answer.keys) {
    if (!key.is_hit()) key.block = HitBlock();
    has_hit = has_hit || key.is_hit();
  }
  if (!has_hit) answer.mapping = nullptr;
  if (call.pin != PinId() && context_.session != nullptr) {
    HeldPin pin(context_.home, context_.session->serial(), call.pin);
    // Landed bytes are the caller's own; only bytes in the node need a pin.
    if (has_hit && !call.is_pull) answer.pin = std::move(pin);
  }
  Tally(context_.stats, answer);
  call.done(std::move(answer));
}

// Promise 3: a state at exactly that depth, and all KV blocks before it. A hybrid prompt is one
// prefix segment, so its KV blocks have B tokens each, in order.
bool AcquireCalls::IsResumable(const Call& call) const {
  const std::uint64_t depth = call.answer.resume_depth;
  if (depth == 0 || context_.options.block_tokens == 0) return false;
  const std::uint64_t blocks =
      (depth + context_.options.block_tokens - 1) / context_.options.block_tokens;
  std::uint64_t kv_hits = 0;
  std::uint64_t kv_seen = 0;
  bool has_state = false;
  for (std::size_t i = 0; i < call.answer.keys.size(); ++i) {
    const KeyAnswer& key = call.answer.keys[i];
    if (call.kinds.empty() || call.kinds[i] == EntryKind::kKvBlock) {
      if (kv_seen++ < blocks && key.is_hit()) ++kv_hits;
    } else {
      has_state = has_state || (key.is_hit() && key.block.depth == depth);
    }
  }
  return has_state && kv_hits == blocks;
}

void AcquireCalls::Lose() {
  while (!calls_.empty()) End(calls_.begin()->first, KeyResult::kLost);
}

}  // namespace cairn
