#include "libs/client/pull_calls.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "libs/base/bytes.h"
#include "libs/base/check.h"
#include "libs/base/limits.h"
#include "libs/base/mark.h"
#include "libs/base/status_macros.h"
#include "libs/client/session.h"

namespace cairn {
namespace {

void EndLoan(absl::AnyInvocable<void()>& returned) {
  if (returned != nullptr) std::exchange(returned, nullptr)();
}

}  // namespace

void PullCalls::Begin(RequestId request, std::vector<Item> items, PullDone done) {
  Call& call = calls_[request];
  call.entries.reserve(items.size());
  for (Item& item : items) {
    CAIRN_CHECK(call.entries.empty() || call.entries.back().index < item.index) << item.index;
    Entry& entry = call.entries.emplace_back();
    entry.index = item.index;
    entry.promise = item.promise;
    entry.target = std::move(item.target);
  }
  call.left = items.size();
  call.done = std::move(done);
  call.pass = Gate::Pass(context_.gate);
}

void PullCalls::Ask(PinId pin, std::vector<PullItem> items, Instant deadline, PullDone done,
                    std::optional<KeyResult> refused) {
  const RequestId id = context_.NextRequest();
  wire::Pull m{.request = id, .remaining_us = context_.RemainingMicros(deadline), .pin = pin};
  std::vector<Item> awaited;
  for (PullItem& item : items) {
    CAIRN_CHECK(item.bytes <= item.target.bytes.size()) << item.bytes;
    m.indices.push_back(item.index);
    awaited.push_back(Item{item.index, Promise{item.bytes, item.checksum}, std::move(item.target)});
  }
  Begin(id, std::move(awaited), std::move(done));
  Call& call = calls_.at(id);
  call.pin = pin;
  call.is_own = true;
  context_.stats.pulls += call.entries.size();
  if (!refused.has_value() && m.remaining_us == 0) refused = KeyResult::kDeadline;
  if (!refused.has_value() && m.indices.size() > limits::kKeysPerMessageMax) {
    refused = KeyResult::kBusy;
  }
  if (!refused.has_value() && !m.indices.empty()) {
    const absl::Status sent = context_.session->Send(wire::Type::kPull, wire::Encode(m));
    if (!sent.ok()) {
      CAIRN_COVERED("client_pull_not_sent");
      refused = absl::IsResourceExhausted(sent) ? KeyResult::kBusy : KeyResult::kLost;
    }
  }
  if (refused.has_value() || m.indices.empty()) {
    const KeyResult result = refused.value_or(KeyResult::kAbsent);
    context_.PostInside([this, id, result] { Finish(id, result); });
    return;
  }
  call.timer = context_.loop.RunAt(deadline, [this, id] {
    CAIRN_COVERED("client_pull_deadline");
    context_.Complain("cache_call_failed", "pull", "not all bytes by the deadline");
    Finish(id, KeyResult::kDeadline);
  });
}

void PullCalls::Expect(RequestId request, PinId pin, const std::vector<wire::Descriptor>& hits) {
  const auto found = calls_.find(request);
  CAIRN_CHECK(found != calls_.end());
  Call& call = found->second;
  call.pin = pin;
  auto hit = hits.begin();
  for (Entry& entry : call.entries) {
    while (hit != hits.end() && hit->index < entry.index) ++hit;
    if (hit == hits.end() || hit->index != entry.index) {
      // Landing all the same: the loan ends by itself, what it brings is nobody's.
      if (entry.state != State::kDone) Settle(call, entry, KeyResult::kAbsent);
      continue;
    }
    entry.promise = Promise{hit->bytes, hit->checksum};
    if (hit->bytes > entry.target.bytes.size() && entry.state != State::kDone) {
      CAIRN_COVERED("client_target_too_small");
      Settle(call, entry, KeyResult::kPullFailed);
    }
    if (entry.state == State::kSummed) Judge(request, call, entry);
  }
  MaybeEnd(request);
}

void PullCalls::Finish(RequestId request, KeyResult result) {
  const auto found = calls_.find(request);
  if (found == calls_.end()) return;
  for (Entry& entry : found->second.entries) {
    if (entry.state != State::kDone) Settle(found->second, entry, result);
  }
  MaybeEnd(request);
}

void PullCalls::FinishAll(KeyResult result) {
  // One at a time: a callback may end other calls.
  while (!calls_.empty()) Finish(calls_.begin()->first, result);
}

PullCalls::Entry* PullCalls::FindEntry(RequestId request, std::uint32_t index) {
  const auto found = calls_.find(request);
  if (found == calls_.end()) return nullptr;
  std::vector<Entry>& entries = found->second.entries;
  const auto entry = std::lower_bound(
      entries.begin(), entries.end(), index,
      [](const Entry& e, std::uint32_t wanted) { return e.index < wanted; });
  return entry != entries.end() && entry->index == index ? &*entry : nullptr;
}

absl::StatusOr<std::optional<Landing>> PullCalls::OnBulk(absl::Span<const std::byte> header,
                                                         std::uint64_t bytes) {
  CAIRN_ASSIGN_OR_RETURN(const wire::PullData data, wire::DecodePullData(AsStringView(header)));
  if (data.bytes != bytes || bytes == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("PULL_DATA says ", data.bytes, " bytes and brings ", bytes));
  }
  Entry* const entry = FindEntry(data.request, data.index);
  if (entry == nullptr || entry->state != State::kWaiting || bytes > entry->target.bytes.size() ||
      (entry->promise.has_value() && entry->promise->bytes != bytes)) {
    CAIRN_COVERED("client_landing_refused");
    ++context_.stats.landings_refused;
    return std::nullopt;
  }
  entry->state = State::kLanding;
  const LandingId landing(++last_landing_);
  landings_.emplace(landing, Loan{.request = data.request,
                                  .index = data.index,
                                  .bytes = entry->target.bytes.first(bytes),
                                  .returned = std::move(entry->target.returned),
                                  .pass = Gate::Pass(context_.gate)});
  ++context_.stats.landings_on_loan;
  return Landing{landing, entry->target.bytes.first(bytes)};
}

void PullCalls::OnLanded(LandingId landing, const absl::Status& status) {
  auto node = landings_.extract(landing);
  CAIRN_CHECK(!node.empty()) << landing.value();
  Loan loan = std::move(node.mapped());
  const auto found = calls_.find(loan.request);
  Entry* const entry = FindEntry(loan.request, loan.index);
  const bool is_awaited = entry != nullptr && entry->state == State::kLanding;
  if (!is_awaited) CAIRN_COVERED("client_landed_late");
  KeyResult failure = KeyResult::kPullFailed;
  if (is_awaited && status.ok()) {
    const RequestId request = loan.request;
    const absl::Span<const std::byte> bytes = loan.bytes;
    auto shared = std::make_shared<Loan>(std::move(loan));
    const absl::Status begun = context_.copier.Sum(bytes, [this, shared](Checksum sum) {
      OnSummed(std::move(*shared), sum);
    });
    if (begun.ok()) return;
    CAIRN_COVERED("client_landed_sum_refused");
    loan = std::move(*shared);
    failure = KeyResult::kBusy;
    CAIRN_CHECK(request == loan.request);
  }
  --context_.stats.landings_on_loan;
  EndLoan(loan.returned);
  if (!is_awaited) return;
  Settle(found->second, *entry, failure);
  MaybeEnd(loan.request);
}

void PullCalls::OnSummed(Loan loan, Checksum sum) {
  ++context_.stats.sums_done;
  --context_.stats.landings_on_loan;
  EndLoan(loan.returned);
  Entry* const entry = FindEntry(loan.request, loan.index);
  if (entry == nullptr || entry->state != State::kLanding) {
    CAIRN_COVERED("client_landed_sum_late");
    return;
  }
  entry->state = State::kSummed;
  entry->landed = Promise{loan.bytes.size(), sum};
  if (!entry->promise.has_value()) return;  // Expect judges
  Judge(loan.request, calls_.at(loan.request), *entry);
  MaybeEnd(loan.request);
}

void PullCalls::Judge(RequestId request, Call& call, Entry& entry) {
  if (entry.landed.bytes == entry.promise->bytes &&
      entry.landed.checksum == entry.promise->checksum) {
    context_.stats.pulled_bytes += entry.landed.bytes;
    return Settle(call, entry, KeyResult::kHit);
  }
  CAIRN_COVERED("client_landed_corrupt");
  context_.Complain("checksum_failed", "pull", absl::StrCat("request ", request.value()));
  const wire::Suspect suspect{call.pin, entry.index};
  if (context_.session != nullptr &&
      context_.session->Send(wire::Type::kSuspect, wire::Encode(suspect)).ok()) {
    ++context_.stats.suspects_sent;
  }
  Settle(call, entry, KeyResult::kCorrupt);
}

void PullCalls::Settle(Call& call, Entry& entry, KeyResult result) {
  CAIRN_CHECK(entry.state != State::kDone);
  entry.state = State::kDone;
  entry.result = result;
  --call.left;
  EndLoan(entry.target.returned);  // of one that never began to land
}

void PullCalls::MaybeEnd(RequestId request) {
  const auto found = calls_.find(request);
  if (found == calls_.end() || found->second.left > 0) return;
  Call call = std::move(found->second);
  calls_.erase(found);
  if (call.timer.has_value()) context_.loop.Cancel(*call.timer);
  std::vector<KeyResult> results;
  results.reserve(call.entries.size());
  for (const Entry& entry : call.entries) {
    results.push_back(entry.result);
    if (call.is_own && entry.result != KeyResult::kHit) ++context_.stats.pulls_failed;
  }
  call.done(std::move(results));
}

absl::Status PullCalls::OnPullFailed(absl::string_view body) {
  CAIRN_ASSIGN_OR_RETURN(const wire::PullFailed failed, wire::DecodePullFailed(body));
  Entry* const entry = FindEntry(failed.request, failed.index);
  if (entry == nullptr || entry->state != State::kWaiting) return absl::OkStatus();  // late
  CAIRN_COVERED("client_pull_given_up");
  Settle(calls_.at(failed.request), *entry, KeyResult::kPullFailed);
  MaybeEnd(failed.request);
  return absl::OkStatus();
}

}  // namespace cairn
