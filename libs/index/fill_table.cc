#include "libs/index/fill_table.h"

#include <algorithm>

#include "libs/base/check.h"
#include "libs/base/limits.h"
#include "libs/base/mark.h"

namespace cairn {

FillTable::FillTable(const Options& options) : options_(options) {
  CAIRN_CHECK(options.offers_max > 0 && options.offers_max <= limits::kOpenOffersMax)
      << options.offers_max;
  CAIRN_CHECK(options.pending_per_key_max <= limits::kPendingPerKeyMax)
      << options.pending_per_key_max;
  CAIRN_CHECK(options.fill_max > absl::ZeroDuration());
}

FillTable::Admission FillTable::Offer(const IndexKey& key, const Offerer& offerer, Instant deadline,
                                      Instant now) {
  const auto it = by_key_.find(key);
  const bool is_first = it == by_key_.end();
  const bool key_is_full = !is_first && it->second.pending.size() >= options_.pending_per_key_max;
  if (offers_.size() >= options_.offers_max || key_is_full) {
    CAIRN_COVERED("offer_refused_at_limit");
    ++stats_.refused_total;
    return {.answer = Answer::kRefused};
  }
  if (is_first) {
    const OfferNumber number = Add(key, offerer, deadline, FillEnd(deadline, now));
    by_key_[key].filling = number;
    ++stats_.filling;
    return {.answer = Answer::kFill, .fill = FillId(number)};
  }
  CAIRN_COVERED("offer_pending");
  it->second.pending.push_back(Add(key, offerer, deadline, deadline));
  ++stats_.pending;
  ++stats_.pending_total;
  return {.answer = Answer::kPending};
}

Instant FillTable::FillEnd(Instant deadline, Instant now) const {
  return std::min(deadline, now + options_.fill_max);
}

FillTable::OfferNumber FillTable::Add(const IndexKey& key, const Offerer& offerer, Instant deadline,
                                      Instant ends) {
  const OfferNumber number = ++last_number_;
  offers_.emplace(number, OpenOffer{key, offerer, deadline, ends});
  by_session_.emplace(offerer.session, number);
  by_end_.emplace(ends, number);
  return number;
}

FillTable::OpenOffer FillTable::Take(OfferNumber number) {
  const auto it = offers_.find(number);
  CAIRN_CHECK(it != offers_.end()) << "offer " << number;
  const OpenOffer offer = it->second;
  offers_.erase(it);
  by_session_.erase({offer.offerer.session, number});
  by_end_.erase({offer.ends, number});
  return offer;
}

bool FillTable::IsLive(FillId fill) const {
  const auto offer = offers_.find(fill.value());
  if (offer == offers_.end()) return false;
  const auto key = by_key_.find(offer->second.key);
  CAIRN_CHECK(key != by_key_.end());
  return key->second.filling == fill.value();
}

std::vector<Offerer> FillTable::Finish(FillId fill) {
  CAIRN_CHECK(IsLive(fill)) << fill.value();
  const IndexKey key = Take(fill.value()).key;
  const auto it = by_key_.find(key);
  std::vector<Offerer> waiting;
  for (const OfferNumber number : it->second.pending) waiting.push_back(Take(number).offerer);
  by_key_.erase(it);
  --stats_.filling;
  stats_.pending -= waiting.size();
  return waiting;
}

std::optional<FillTable::Turn> FillTable::Fail(FillId fill, Instant now) {
  CAIRN_CHECK(IsLive(fill)) << fill.value();
  const IndexKey key = Take(fill.value()).key;
  --stats_.filling;
  return NextTurn(key, now);
}

// The fill of `key` has just ended without bytes.
std::optional<FillTable::Turn> FillTable::NextTurn(const IndexKey& key, Instant now) {
  const auto it = by_key_.find(key);
  KeyFill& fill = it->second;
  if (fill.pending.empty()) {
    by_key_.erase(it);
    return std::nullopt;
  }
  CAIRN_COVERED("pending_offer_asked");
  const OfferNumber number = fill.pending.front();
  fill.pending.pop_front();
  fill.filling = number;
  OpenOffer& offer = offers_.find(number)->second;
  by_end_.erase({offer.ends, number});
  offer.ends = FillEnd(offer.deadline, now);
  by_end_.emplace(offer.ends, number);
  --stats_.pending;
  ++stats_.filling;
  ++stats_.turns_total;
  return Turn{FillId(number), key, offer.offerer};
}

void FillTable::DropPending(OfferNumber number) {
  std::deque<OfferNumber>& pending = by_key_.find(Take(number).key)->second.pending;
  pending.erase(std::find(pending.begin(), pending.end(), number));
  --stats_.pending;
}

std::vector<FillTable::Turn> FillTable::EndSession(SessionId session, Instant now) {
  std::vector<OfferNumber> own;
  for (auto it = by_session_.lower_bound({session, 0});
       it != by_session_.end() && it->first == session; ++it) {
    own.push_back(it->second);
  }
  // Pending ones first: a session that is gone must not be asked.
  std::vector<OfferNumber> filling;
  for (const OfferNumber number : own) {
    if (IsLive(FillId(number))) {
      filling.push_back(number);
    } else {
      DropPending(number);
    }
  }
  std::vector<Turn> turns;
  for (const OfferNumber number : filling) {
    CAIRN_COVERED("fill_ended_with_session");
    if (std::optional<Turn> turn = Fail(FillId(number), now)) turns.push_back(*std::move(turn));
  }
  return turns;
}

FillTable::Expired FillTable::Expire(Instant now) {
  std::vector<OfferNumber> due;
  for (auto it = by_end_.begin(); it != by_end_.end() && it->first <= now; ++it) {
    due.push_back(it->second);
  }
  Expired expired;
  std::vector<OfferNumber> filling;
  for (const OfferNumber number : due) {
    const OpenOffer& offer = offers_.find(number)->second;
    if (IsLive(FillId(number))) {
      filling.push_back(number);
      continue;
    }
    CAIRN_COVERED("pending_offer_expired");
    expired.ended.push_back(Ended{offer.key, offer.offerer, std::nullopt});
    DropPending(number);
  }
  for (const OfferNumber number : filling) {
    CAIRN_COVERED("fill_expired");
    const OpenOffer& offer = offers_.find(number)->second;
    expired.ended.push_back(Ended{offer.key, offer.offerer, FillId(number)});
    if (std::optional<Turn> turn = Fail(FillId(number), now)) {
      expired.turns.push_back(*std::move(turn));
    }
  }
  stats_.expired_total += expired.ended.size();
  return expired;
}

Instant FillTable::NextExpiry() const {
  return by_end_.empty() ? Instant::Infinite() : by_end_.begin()->first;
}

}  // namespace cairn
