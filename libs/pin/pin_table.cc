#include "libs/pin/pin_table.h"

#include <algorithm>

#include "libs/base/check.h"
#include "libs/base/limits.h"
#include "libs/base/mark.h"

namespace cairn {

SlotHold& SlotHold::operator=(SlotHold&& other) noexcept {
  if (this != &other) {
    End();
    table_ = std::exchange(other.table_, nullptr);
    place_ = other.place_;
  }
  return *this;
}

SlotHold::~SlotHold() { End(); }

void SlotHold::End() {
  PinTable* table = std::exchange(table_, nullptr);
  if (table == nullptr) return;
  --table->stats_.holds;
  table->DropHold(place_);
}

PinTable::PinTable(const Options& options, SlotHoldObserver& observer)
    : options_(options), observer_(observer) {
  CAIRN_CHECK(options.pins_max > 0 && options.pins_max <= limits::kPinsMax) << options.pins_max;
  CAIRN_CHECK(options.keys_max > 0 && options.keys_max <= limits::kPinnedKeysMax)
      << options.keys_max;
  CAIRN_CHECK(options.keys_per_session_max > 0 &&
              options.keys_per_session_max <= limits::kPinsPerSessionMax)
      << options.keys_per_session_max;
  CAIRN_CHECK(options.holds_max > 0 && options.holds_max <= limits::kHoldsMax) << options.holds_max;
  CAIRN_CHECK(options.age_max > absl::ZeroDuration()) << absl::FormatDuration(options.age_max);
}

PinTable::~PinTable() { CAIRN_CHECK(stats_.holds == 0) << "a SlotHold outlived its table"; }

std::size_t PinTable::Room(SessionId session) const {
  if (pins_.size() >= options_.pins_max) return 0;
  const auto it = session_keys_.find(session);
  const std::size_t pinned = it == session_keys_.end() ? 0 : it->second;
  return std::min<std::size_t>(options_.keys_per_session_max - pinned,
                               options_.keys_max - stats_.pinned_keys);
}

std::size_t PinTable::Grant(SessionId session, PinId id, absl::Span<const PinnedKey> keys,
                            Instant now, absl::Duration duration) {
  CAIRN_CHECK(pins_.find(Id(session, id)) == pins_.end()) << "pin " << id.value() << " is live";
  const std::size_t granted = std::min(keys.size(), Room(session));
  stats_.keys_refused_total += keys.size() - granted;
  if (granted < keys.size()) CAIRN_COVERED("pin_capped");
  if (granted == 0) return 0;

  Pin pin;
  pin.ends = now + std::min(duration, options_.age_max);
  pin.keys.assign(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(granted));
  for (std::size_t i = 0; i < granted; ++i) {
    CAIRN_DCHECK(i == 0 || pin.keys[i - 1].index < pin.keys[i].index) << "keys out of order";
    AddHold(pin.keys[i].place);
  }
  by_end_.emplace(pin.ends, Id(session, id));
  pins_.emplace(Id(session, id), std::move(pin));
  session_keys_[session] += granted;
  stats_.pinned_keys += granted;
  ++stats_.pins;
  ++stats_.granted_total;
  return granted;
}

void PinTable::Release(SessionId session, PinId id) {
  const auto pin = pins_.find(Id(session, id));
  if (pin == pins_.end()) {
    CAIRN_COVERED("pin_released_after_end");
    return;
  }
  End(pin);
  ++stats_.released_total;
}

void PinTable::ReleaseKeys(SessionId session, PinId id, absl::Span<const std::uint32_t> indices) {
  const auto found = pins_.find(Id(session, id));
  if (found == pins_.end()) return;
  std::vector<PinnedKey>& keys = found->second.keys;
  std::vector<PinnedKey> kept;
  std::vector<Place> dropped;
  auto index = indices.begin();
  for (const PinnedKey& key : keys) {
    while (index != indices.end() && *index < key.index) ++index;
    if (index != indices.end() && *index == key.index) {
      dropped.push_back(key.place);
    } else {
      kept.push_back(key);
    }
  }
  if (kept.empty()) {
    Release(session, id);
    return;
  }
  keys = std::move(kept);
  EndKeys(session, dropped.size());
  for (const Place place : dropped) DropHold(place);
}

void PinTable::EndSession(SessionId session) {
  auto pin = pins_.lower_bound(Id(session, PinId(0)));
  while (pin != pins_.end() && pin->first.first == session) {
    CAIRN_COVERED("pin_ended_with_session");
    pin = End(pin);
    ++stats_.session_ended_total;
  }
}

std::size_t PinTable::Expire(Instant now) {
  std::size_t ended = 0;
  while (!by_end_.empty() && by_end_.begin()->first <= now) {
    CAIRN_COVERED("pin_aged");
    End(pins_.find(by_end_.begin()->second));
    ++ended;
  }
  stats_.aged_total += ended;
  return ended;
}

Instant PinTable::NextExpiry() const {
  return by_end_.empty() ? Instant::Infinite() : by_end_.begin()->first;
}

std::optional<Place> PinTable::Find(SessionId session, PinId id, std::uint32_t index) const {
  const auto pin = pins_.find(Id(session, id));
  if (pin == pins_.end()) return std::nullopt;
  const std::vector<PinnedKey>& keys = pin->second.keys;
  const auto key =
      std::lower_bound(keys.begin(), keys.end(), index,
                       [](const PinnedKey& k, std::uint32_t wanted) { return k.index < wanted; });
  if (key == keys.end() || key->index != index) return std::nullopt;
  return key->place;
}

absl::StatusOr<SlotHold> PinTable::Hold(Place place) {
  if (stats_.holds >= options_.holds_max) {
    return absl::ResourceExhaustedError("too many sends and re-hashes under way");
  }
  ++stats_.holds;
  AddHold(place);
  return SlotHold(this, place);
}

void PinTable::AddHold(Place place) {
  if (++counts_.At(place) != 1) return;
  ++stats_.held_slots;
  observer_.OnSlotHeld(place);
}

void PinTable::DropHold(Place place) {
  std::uint32_t* count = counts_.Find(place);
  CAIRN_CHECK(count != nullptr && *count > 0) << "slot " << place.slot.value() << " is not held";
  if (--*count != 0) return;
  --stats_.held_slots;
  observer_.OnSlotLetGo(place);
}

void PinTable::EndKeys(SessionId session, std::size_t count) {
  stats_.pinned_keys -= count;
  const auto it = session_keys_.find(session);
  CAIRN_CHECK(it != session_keys_.end() && it->second >= count);
  it->second -= count;
  if (it->second == 0) session_keys_.erase(it);
}

PinTable::Pins::iterator PinTable::End(Pins::iterator pin) {
  by_end_.erase({pin->second.ends, pin->first});
  EndKeys(pin->first.first, pin->second.keys.size());
  --stats_.pins;
  const std::vector<PinnedKey> keys = std::move(pin->second.keys);
  const Pins::iterator next = pins_.erase(pin);
  for (const PinnedKey& key : keys) DropHold(key.place);
  return next;
}

}  // namespace cairn
