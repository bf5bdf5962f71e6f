#include "libs/client/offer_calls.h"

#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "libs/base/check.h"
#include "libs/base/limits.h"
#include "libs/base/mark.h"
#include "libs/base/status_macros.h"
#include "libs/client/session.h"

namespace cairn {
namespace {

bool IsInside(absl::Span<const std::byte> part, absl::Span<const std::byte> whole) {
  const std::less_equal<const std::byte*> below;
  return below(whole.data(), part.data()) &&
         below(part.data() + part.size(), whole.data() + whole.size());
}

OfferResult ResultOf(wire::Refusal refusal) {
  switch (refusal) {
    case wire::Refusal::kNoRoom: return OfferResult::kNoRoom;
    case wire::Refusal::kConflict: return OfferResult::kConflict;
    case wire::Refusal::kMalformed: return OfferResult::kMalformed;
    case wire::Refusal::kLimit: return OfferResult::kLimit;
    case wire::Refusal::kNone: break;
  }
  return OfferResult::kFailed;
}

OfferResult ResultOf(wire::StoreResult result) {
  switch (result) {
    case wire::StoreResult::kStored: return OfferResult::kStored;
    case wire::StoreResult::kTorn: return OfferResult::kTorn;
    case wire::StoreResult::kFailed: return OfferResult::kFailed;
    case wire::StoreResult::kDeadline: return OfferResult::kDeadline;
    case wire::StoreResult::kDropped: return OfferResult::kDropped;
  }
  return OfferResult::kFailed;
}

}  // namespace

void OfferCalls::Begin(std::vector<OfferBlock> blocks, Instant deadline, OfferDone each,
                       std::optional<OfferResult> refused) {
  context_.stats.blocks_offered += blocks.size();
  auto shared = std::make_shared<OfferDone>(std::move(each));
  if (!refused.has_value() && context_.RemainingMicros(deadline) == 0) {
    refused = OfferResult::kDeadline;
  }
  Call call;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const std::optional<OfferResult> why_not = refused.has_value() ? refused : WhyNot(blocks[i]);
    if (why_not.has_value() || call.entries.size() == limits::kOfferEntriesMax) {
      TellLater(shared, i, why_not.value_or(OfferResult::kCapped));
      continue;
    }
    call.entries.push_back(Entry{.index = i, .bytes = blocks[i].bytes});
    ++context_.stats.offers_on_loan;
    context_.stats.offered_bytes_on_loan += blocks[i].bytes.size();
  }
  if (call.entries.empty()) return;
  call.left = call.entries.size();
  call.each = std::move(shared);
  call.pass = Gate::Pass(context_.gate);
  Send(blocks, deadline, std::move(call));
}

std::optional<OfferResult> OfferCalls::WhyNot(const OfferBlock& block) const {
  const ClientStats& stats = context_.stats;
  if (block.bytes.empty() || block.bytes.size() > limits::kEntryBytesMax) {
    return OfferResult::kMalformed;
  }
  if (context_.session->has_shared_pool() && !IsInside(block.bytes, pool_)) {
    CAIRN_COVERED("client_offer_outside_pool");
    return OfferResult::kMalformed;
  }
  if (stats.offers_on_loan >= context_.session->welcome().offers_max ||
      stats.offered_bytes_on_loan + block.bytes.size() > bytes_max_) {
    CAIRN_COVERED("client_offer_capped");
    return OfferResult::kCapped;
  }
  return std::nullopt;
}

void OfferCalls::TellLater(std::shared_ptr<OfferDone> each, std::size_t index,
                           OfferResult result) {
  ++context_.stats.of(result);
  context_.PostInside([each = std::move(each), index, result] { (*each)(index, result); });
}

void OfferCalls::Send(const std::vector<OfferBlock>& blocks, Instant deadline, Call call) {
  const bool has_pool = context_.session->has_shared_pool();
  const RequestId id = context_.NextRequest();
  wire::Offer m;
  m.request = id;
  m.remaining_us = context_.RemainingMicros(deadline);
  m.entries.reserve(call.entries.size());
  for (const Entry& entry : call.entries) {
    const OfferBlock& block = blocks[entry.index];
    wire::OfferEntry& out = m.entries.emplace_back();
    out.key = block.key;
    out.kind = block.kind;
    out.has_parent = block.parent.has_value();
    out.parent = block.parent.value_or(Key());
    out.bytes = block.bytes.size();
    out.checksum = block.checksum;
    out.depth = block.depth;
    if (has_pool) {
      out.pool_offset = static_cast<std::uint64_t>(block.bytes.data() - pool_.data());
    }
  }
  const absl::Status sent = context_.session->Send(wire::Type::kOffer, wire::Encode(m));
  calls_[id] = std::move(call);
  if (sent.ok()) {
    calls_[id].timer = context_.loop.RunAt(deadline, [this, id] {
      CAIRN_COVERED("client_offer_deadline");
      SettleAll(id, OfferResult::kDeadline);
    });
    return;
  }
  CAIRN_COVERED("client_offer_not_sent");
  const bool is_full = absl::IsResourceExhausted(sent);
  context_.PostInside([this, id, is_full] {
    SettleAll(id, is_full ? OfferResult::kCapped : OfferResult::kLost);
  });
}

absl::Status OfferCalls::OnWant(absl::string_view body) {
  CAIRN_ASSIGN_OR_RETURN(const wire::WantMessage want, wire::DecodeWant(body));
  for (const wire::WantEntry& word : want.entries) {
    // Looked up each time: telling an entry may end the call.
    const auto found = calls_.find(want.request);
    if (found == calls_.end()) {
      CAIRN_COVERED("client_late_want");
      ++context_.stats.late_answers;
      return absl::OkStatus();
    }
    if (word.index >= found->second.entries.size()) {
      return absl::InvalidArgumentError(absl::StrCat("WANT of entry ", word.index));
    }
    Entry& entry = found->second.entries[word.index];
    if (entry.state == State::kSettled) continue;  // our deadline was first
    if (entry.state == State::kWanted) {
      return absl::InvalidArgumentError(absl::StrCat("a second WANT of entry ", word.index));
    }
    switch (word.verdict) {
      case wire::Verdict::kWanted:
        entry.state = State::kWanted;
        if (!context_.session->has_shared_pool()) SendData(want.request, word.index);
        break;
      case wire::Verdict::kPending: entry.state = State::kPending; break;
      case wire::Verdict::kStored:
        Settle(want.request, word.index, OfferResult::kStored);
        break;
      case wire::Verdict::kRefused:
        Settle(want.request, word.index, ResultOf(word.refusal));
        break;
    }
  }
  return absl::OkStatus();
}

void OfferCalls::SendData(RequestId id, std::size_t at) {
  Entry& entry = calls_.at(id).entries[at];
  entry.is_sending = true;
  const absl::Status sent = context_.session->SendBulk(
      wire::Type::kOfferData,
      wire::Encode(wire::OfferData{id, static_cast<std::uint32_t>(at)}), entry.bytes,
      [this, id, at](absl::Status status) { OnSent(id, at, status); });
  if (sent.ok()) return;
  CAIRN_COVERED("client_offer_data_not_sent");
  entry.is_sending = false;
  Settle(id, at, OfferResult::kFailed);
}

void OfferCalls::OnSent(RequestId id, std::size_t at, const absl::Status& status) {
  // The call cannot have ended: it waits for its loans.
  Entry& entry = calls_.at(id).entries[at];
  CAIRN_CHECK(entry.is_sending);
  entry.is_sending = false;
  if (!status.ok() && entry.state != State::kSettled) {
    return Settle(id, at, OfferResult::kFailed);
  }
  MaybeTell(id, at);
}

absl::Status OfferCalls::OnStored(absl::string_view body) {
  CAIRN_ASSIGN_OR_RETURN(const wire::Stored stored, wire::DecodeStored(body));
  for (const wire::StoredEntry& word : stored.entries) {
    const auto found = calls_.find(stored.request);
    if (found == calls_.end()) {
      CAIRN_COVERED("client_late_stored");
      ++context_.stats.late_answers;
      return absl::OkStatus();
    }
    if (word.index >= found->second.entries.size()) {
      return absl::InvalidArgumentError(absl::StrCat("STORED of entry ", word.index));
    }
    if (found->second.entries[word.index].state == State::kSettled) continue;
    Settle(stored.request, word.index, ResultOf(word.result));
  }
  return absl::OkStatus();
}

void OfferCalls::Settle(RequestId id, std::size_t at, OfferResult result) {
  Entry& entry = calls_.at(id).entries[at];
  CAIRN_CHECK(entry.state != State::kSettled);
  entry.state = State::kSettled;
  entry.result = result;
  if (result == OfferResult::kConflict || result == OfferResult::kTorn) {
    context_.Complain("offer_refused", "offer", NameOf(result));
  }
  MaybeTell(id, at);
}

void OfferCalls::SettleAll(RequestId id, OfferResult result) {
  for (std::size_t at = 0;; ++at) {
    const auto found = calls_.find(id);
    if (found == calls_.end() || at >= found->second.entries.size()) return;
    if (found->second.entries[at].state != State::kSettled) Settle(id, at, result);
  }
}

void OfferCalls::MaybeTell(RequestId id, std::size_t at) {
  const auto found = calls_.find(id);
  Call& call = found->second;
  Entry& entry = call.entries[at];
  if (entry.state != State::kSettled || entry.is_sending || entry.is_told) return;
  entry.is_told = true;
  ClientStats& stats = context_.stats;
  --stats.offers_on_loan;
  stats.offered_bytes_on_loan -= entry.bytes.size();
  ++stats.of(entry.result);
  if (entry.result == OfferResult::kStored) stats.stored_bytes += entry.bytes.size();
  const std::shared_ptr<OfferDone> each = call.each;
  const std::size_t index = entry.index;
  const OfferResult result = entry.result;
  if (--call.left > 0) return (*each)(index, result);
  const Gate::Pass pass = std::move(call.pass);
  if (call.timer.has_value()) context_.loop.Cancel(*call.timer);
  calls_.erase(found);
  (*each)(index, result);
}

void OfferCalls::Lose() {
  std::vector<RequestId> ids;
  ids.reserve(calls_.size());
  for (const auto& [id, call] : calls_) ids.push_back(id);
  for (const RequestId id : ids) SettleAll(id, OfferResult::kLost);
}

}  // namespace cairn
