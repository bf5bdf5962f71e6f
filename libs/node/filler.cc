#include "libs/node/filler.h"

#include <utility>

#include "libs/base/check.h"
#include "libs/base/mark.h"

namespace cairn {
namespace {

bool IsFinal(const OfferVerdict& verdict) {
  return verdict.verdict == wire::Verdict::kStored || verdict.verdict == wire::Verdict::kRefused;
}

OfferVerdict Refused(const OfferItem& item, wire::Refusal why) {
  return {.index = item.index, .verdict = wire::Verdict::kRefused, .refusal = why};
}

}  // namespace

Filler::Filler(const Options& options, const Needs& needs)
    : options_(options), needs_(needs), fills_(options.fills), loans_(options.loans) {}

// ---- deciding ----

void Filler::Offer(OfferPart part) {
  OfferVerdicts verdicts{.session = part.session, .request = part.request, .is_first = true};
  for (OfferItem& item : part.items) {
    ++stats_.offers;
    const Offerer offerer{part.session, part.request, item.index};
    const auto [it, is_new] =
        open_.emplace(offerer, Open{std::move(item), part.root, part.producer, part.deadline});
    CAIRN_CHECK(is_new) << "one entry offered twice under one request";
    OfferVerdict verdict = Decide(offerer, it->second);
    if (verdict.verdict == wire::Verdict::kStored) ++stats_.offers_known;
    if (IsFinal(verdict)) open_.erase(offerer);
    verdicts.verdicts.push_back(std::move(verdict));
  }
  needs_.replies.OnVerdicts(std::move(verdicts));
}

OfferVerdict Filler::Decide(const Offerer& offerer, const Open& open) {
  const OfferItem& item = open.item;
  const IndexKey key{open.root, item.key};
  switch (needs_.tier.index().Compare(key, item.kind, item.bytes, item.checksum)) {
    case Stored::kSame:
      return {.index = item.index, .verdict = wire::Verdict::kStored};
    case Stored::kConflict:
      return Contest(offerer, *needs_.tier.index().Find(key));
    case Stored::kAbsent:
      break;
  }
  return Admit(offerer, open);
}

OfferVerdict Filler::Admit(const Offerer& offerer, const Open& open) {
  const FillTable::Admission admission =
      fills_.Offer(IndexKey{open.root, open.item.key}, offerer, open.deadline, needs_.loop.Now());
  switch (admission.answer) {
    case FillTable::Answer::kFill:
      return Start(admission.fill, offerer);
    case FillTable::Answer::kPending:
      return {.index = open.item.index, .verdict = wire::Verdict::kPending};
    case FillTable::Answer::kRefused:
      break;
  }
  ++stats_.offers_limited;
  return Refused(open.item, wire::Refusal::kLimit);
}

// Another content is stored under the key. Which of the two is wrong is decided by our own bytes.
OfferVerdict Filler::Contest(const Offerer& offerer, const Entry& entry) {
  const OfferItem& item = open_.at(offerer).item;
  const absl::Status started = needs_.rehasher.Check(
      entry, [this, offerer, was = entry](bool is_sound) { OnContested(offerer, was, is_sound); });
  if (!started.ok()) {
    CAIRN_COVERED("node_contest_refused");
    ++stats_.offers_limited;
    return Refused(item, wire::Refusal::kLimit);
  }
  return {.index = item.index, .verdict = wire::Verdict::kPending};
}

void Filler::OnContested(const Offerer& offerer, const Entry& was, bool is_sound) {
  const auto it = open_.find(offerer);
  if (it == open_.end()) {
    CAIRN_COVERED("node_contest_outlived_session");
    return;
  }
  const Open& open = it->second;
  if (needs_.loop.Now() >= open.deadline) {
    CAIRN_COVERED("node_contest_overdue");
    ++stats_.puts_failed;
    Close(offerer, wire::StoreResult::kDeadline);
    return;
  }
  const Entry* const now = needs_.tier.index().Find(was.id);
  if (is_sound && now != nullptr && now->place == was.place && now->generation == was.generation) {
    ++stats_.conflicts;
    needs_.replies.OnContest({open.item.key, was.producer, open.producer, offerer.session});
    SayLater(offerer, Refused(open.item, wire::Refusal::kConflict));
    return;
  }
  AnswerPending(offerer);
}

// How a pending entry stands to what is stored now.
void Filler::AnswerPending(const Offerer& offerer) {
  const OfferVerdict verdict = Decide(offerer, open_.at(offerer));
  if (verdict.verdict == wire::Verdict::kStored) {
    Close(offerer, wire::StoreResult::kStored);
  } else if (verdict.verdict != wire::Verdict::kPending) {
    SayLater(offerer, verdict);
  }
}

void Filler::SayLater(const Offerer& offerer, const OfferVerdict& verdict) {
  if (IsFinal(verdict)) open_.erase(offerer);
  needs_.replies.OnVerdicts(
      {.session = offerer.session, .request = offerer.request, .verdicts = {verdict}});
}

void Filler::Close(const Offerer& offerer, wire::StoreResult result) {
  open_.erase(offerer);
  needs_.replies.OnResult(offerer, result);
}

// ---- moving ----

OfferVerdict Filler::Start(FillId fill, const Offerer& offerer) {
  const Open& open = open_.at(offerer);
  const OfferItem& item = open.item;
  absl::StatusOr<Loan> loan = loans_.Lend(offerer.session, item.bytes);
  if (!loan.ok()) {
    CAIRN_COVERED("node_loan_refused");
    ++stats_.offers_limited;
    return RefuseFill(fill, item, wire::Refusal::kLimit);
  }
  std::optional<FillingSlot> slot = needs_.tier.TakeSlot(item.bytes, needs_.loop.Now());
  if (!slot.has_value()) return RefuseFill(fill, item, wire::Refusal::kNoRoom);

  const absl::Span<std::byte> target = needs_.tier.BytesOf(slot->place(), item.bytes);
  Moving& moving =
      moving_
          .emplace(fill,
                   Moving{.offerer = offerer, .slot = *std::move(slot), .loan = *std::move(loan)})
          .first->second;
  if (options_.faults.publish_before_verify) {
    moving.is_published = Publish(moving, open, item.checksum).ok();
  }
  OfferVerdict verdict{.index = item.index, .verdict = wire::Verdict::kWanted};
  if (item.source.empty()) {
    verdict.landing = OfferLanding{fill, target};
    return verdict;
  }
  const absl::Status copying = needs_.copier.Copy(
      target, item.source, [this, fill](Checksum landed) { OnCopied(fill, landed); });
  if (!copying.ok()) {
    CAIRN_COVERED("node_copier_full");
    moving_.erase(fill);
    ++stats_.offers_limited;
    return RefuseFill(fill, item, wire::Refusal::kLimit);
  }
  moving.reads_pool = true;
  ++pool_reads_[offerer.session];
  return verdict;
}

OfferVerdict Filler::RefuseFill(FillId fill, const OfferItem& item, wire::Refusal why) {
  const OfferVerdict verdict = Refused(item, why);
  if (std::optional<FillTable::Turn> turn = fills_.Fail(fill, needs_.loop.Now())) {
    AskInTurn({*std::move(turn)});
  }
  return verdict;
}

void Filler::AskInTurn(std::vector<FillTable::Turn> turns) {
  turns_.insert(turns_.end(), turns.begin(), turns.end());
  if (is_asking_) return;
  is_asking_ = true;
  while (!turns_.empty()) {
    const FillTable::Turn turn = turns_.front();
    turns_.pop_front();
    // Its session, or its deadline, may have ended it since.
    if (fills_.IsLive(turn.fill)) SayLater(turn.offerer, Start(turn.fill, turn.offerer));
  }
  is_asking_ = false;
}

void Filler::OnCopied(FillId fill, Checksum landed) {
  auto moving = moving_.extract(fill);
  CAIRN_CHECK(!moving.empty()) << fill.value();
  const SessionId session = moving.mapped().offerer.session;
  if (fills_.IsLive(fill)) {
    Finish(fill, std::move(moving.mapped()), landed);
  } else {
    CAIRN_COVERED("node_copy_outlived_call");
    moving.mapped() = Moving();  // now, and not before, the slot can be given to another writer
  }
  EndPoolRead(session);
  needs_.replies.OnSlotCameBack();
}

void Filler::LandingEnded(FillId fill, const absl::Status& status) {
  const auto it = moving_.find(fill);
  CAIRN_CHECK(it != moving_.end()) << fill.value();
  const Offerer offerer = it->second.offerer;
  const bool is_live = fills_.IsLive(fill);
  absl::Status summing = status;
  if (is_live && status.ok()) {
    const std::uint64_t bytes = open_.at(offerer).item.bytes;
    summing = needs_.copier.Sum(needs_.tier.BytesOf(it->second.slot.place(), bytes),
                                [this, fill](Checksum landed) { OnSummed(fill, landed); });
    if (summing.ok()) return;
  }
  if (!is_live) CAIRN_COVERED("node_landing_outlived_call");
  moving_.erase(it);
  if (is_live) FailFill(fill, offerer, wire::StoreResult::kFailed);
}

void Filler::OnSummed(FillId fill, Checksum landed) {
  auto moving = moving_.extract(fill);
  CAIRN_CHECK(!moving.empty()) << fill.value();
  if (fills_.IsLive(fill)) Finish(fill, std::move(moving.mapped()), landed);
  moving.mapped() = Moving();
  needs_.replies.OnSlotCameBack();
}

// The last byte of a live fill has come.
void Filler::Finish(FillId fill, Moving moving, Checksum landed) {
  const Offerer offerer = moving.offerer;
  const Open& open = open_.at(offerer);
  const absl::Status published =
      moving.is_published ? absl::OkStatus() : Publish(moving, open, landed);
  moving = Moving();
  if (!published.ok()) {
    const bool is_torn = published.code() == absl::StatusCode::kDataLoss;
    if (is_torn) ++stats_.put_torn;
    FailFill(fill, offerer, is_torn ? wire::StoreResult::kTorn : wire::StoreResult::kFailed);
    return;
  }
  ++stats_.stored;
  stats_.stored_bytes += open.item.bytes;
  const std::vector<Offerer> waiting = fills_.Finish(fill);
  Close(offerer, wire::StoreResult::kStored);
  for (const Offerer& next : waiting) AnswerPending(next);
}

absl::Status Filler::Publish(Moving& moving, const Open& open, Checksum landed) {
  const OfferItem& item = open.item;
  const NewEntry entry{.id = IndexKey{open.root, item.key},
                       .kind = item.kind,
                       .bytes = item.bytes,
                       .checksum = item.checksum,
                       .depth = item.depth,
                       .parent = item.parent,
                       .producer = open.producer};
  if (options_.faults.skip_put_check) landed = item.checksum;
  return needs_.tier.Publish(std::move(moving.slot), entry, landed, needs_.loop.Now()).status();
}

void Filler::FailFill(FillId fill, const Offerer& offerer, wire::StoreResult result) {
  if (result != wire::StoreResult::kTorn) ++stats_.puts_failed;
  const std::optional<FillTable::Turn> turn = fills_.Fail(fill, needs_.loop.Now());
  Close(offerer, result);
  if (turn.has_value()) AskInTurn({*turn});
}

// ---- ending ----

void Filler::Expire(Instant now) {
  FillTable::Expired expired = fills_.Expire(now);
  for (const FillTable::Ended& ended : expired.ended) {
    if (ended.fill.has_value()) {
      ++stats_.puts_failed;
      Moving& moving = moving_.at(*ended.fill);
      moving.loan.EndCall();
      if (options_.faults.release_landing_at_deadline) moving.slot = FillingSlot();
    }
    Close(ended.offerer, wire::StoreResult::kDeadline);
  }
  AskInTurn(std::move(expired.turns));
}

void Filler::EndSession(SessionId session) {
  for (auto& [fill, moving] : moving_) {
    if (moving.offerer.session != session) continue;
    if (fills_.IsLive(fill)) ++stats_.puts_failed;
    moving.loan.EndCall();
  }
  std::vector<FillTable::Turn> turns = fills_.EndSession(session, needs_.loop.Now());
  const auto first = open_.lower_bound(Offerer{.session = session});
  auto last = first;
  while (last != open_.end() && last->first.session == session) ++last;
  open_.erase(first, last);
  AskInTurn(std::move(turns));
  if (pool_reads_.contains(session)) {
    CAIRN_COVERED("node_session_ended_while_copying");
    ending_.insert(session);
  } else {
    needs_.replies.OnSessionIdle(session);
  }
}

void Filler::EndPoolRead(SessionId session) {
  const auto it = pool_reads_.find(session);
  if (--it->second > 0) return;
  pool_reads_.erase(it);
  if (ending_.erase(session) > 0) needs_.replies.OnSessionIdle(session);
}

}  // namespace cairn
