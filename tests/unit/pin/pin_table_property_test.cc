#include <gtest/gtest.h>

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "libs/base/rng.h"
#include "libs/pin/pin_table.h"
#include "tests/unit/pin/hold_recorder.h"

// Random operations on a PinTable, beside a model that recounts all from a plain list of pins.
namespace cairn {
namespace {

constexpr std::uint32_t kSlots = 24;
constexpr PinTable::Options kOptions{.pins_max = 12,
                                     .keys_max = 60,
                                     .keys_per_session_max = 20,
                                     .holds_max = 5,
                                     .age_max = absl::Seconds(5)};

struct ModelPin {
  std::map<std::uint32_t, Place> keys;  // by index
  Instant ends;
};

class PinTablePropertyTest : public testing::TestWithParam<int> {
 protected:
  using Id = std::pair<SessionId, PinId>;

  void Step() {
    now_ = now_ + absl::Milliseconds(static_cast<std::int64_t>(rng_.Below(300)));
    switch (rng_.Below(9)) {
      case 0:
      case 1:
      case 2:
        return Grant();
      case 3:
        return Release();
      case 4:
        return ReleaseSomeKeys();
      case 5:
        return HoldOrLetGo();
      case 6:
        if (rng_.Chance(1, 3)) EndSession();
        return;
      default:
        return Expire();
    }
  }

  std::size_t KeysOf(SessionId session) const {
    std::size_t keys = 0;
    for (const auto& [id, pin] : model_) keys += id.first == session ? pin.keys.size() : 0;
    return keys;
  }
  std::size_t KeysOfAll() const {
    std::size_t keys = 0;
    for (const auto& [id, pin] : model_) keys += pin.keys.size();
    return keys;
  }

  void Grant() {
    const Id id(AnySession(), PinId(next_pin_++));
    std::vector<PinnedKey> keys;
    std::uint32_t index = 0;
    for (std::uint64_t i = rng_.Below(12); i > 0; --i) {
      index += 1 + static_cast<std::uint32_t>(rng_.Below(3));
      keys.push_back({index, SlotAt(static_cast<std::uint32_t>(rng_.Below(kSlots)))});
    }
    std::size_t expected = std::min(keys.size(), kOptions.keys_per_session_max - KeysOf(id.first));
    expected = std::min(expected, kOptions.keys_max - KeysOfAll());
    if (model_.size() == kOptions.pins_max) expected = 0;
    const absl::Duration duration = absl::Seconds(static_cast<std::int64_t>(rng_.Between(1, 9)));
    ASSERT_EQ(pins_.Grant(id.first, id.second, keys, now_, duration), expected);
    if (expected == 0) return;
    ModelPin pin{.keys = {}, .ends = now_ + std::min(duration, kOptions.age_max)};
    for (std::size_t i = 0; i < expected; ++i) pin.keys[keys[i].index] = keys[i].place;
    model_[id] = pin;
  }

  void Release() {
    const Id id = AnyPin();
    pins_.Release(id.first, id.second);
    model_.erase(id);
  }

  void ReleaseSomeKeys() {
    const Id id = AnyPin();
    std::vector<std::uint32_t> indices;
    for (std::uint32_t i = 0; i < 40; ++i) {
      if (rng_.Chance(1, 4)) indices.push_back(i);
    }
    pins_.ReleaseKeys(id.first, id.second, indices);
    const auto pin = model_.find(id);
    if (pin == model_.end()) return;
    for (const std::uint32_t index : indices) pin->second.keys.erase(index);
    if (pin->second.keys.empty()) model_.erase(pin);
  }

  void HoldOrLetGo() {
    if (rng_.Chance(1, 2) && !holds_.empty()) {
      holds_.erase(holds_.begin() + static_cast<std::ptrdiff_t>(rng_.Below(holds_.size())));
      return;
    }
    absl::StatusOr<SlotHold> hold =
        pins_.Hold(SlotAt(static_cast<std::uint32_t>(rng_.Below(kSlots))));
    ASSERT_EQ(hold.ok(), holds_.size() < kOptions.holds_max);
    if (hold.ok()) holds_.push_back(*std::move(hold));
  }

  void EndSession() {
    const SessionId session = AnySession();
    pins_.EndSession(session);
    std::erase_if(model_, [session](const auto& pin) { return pin.first.first == session; });
  }

  void Expire() {
    const std::size_t due =
        std::erase_if(model_, [this](const auto& pin) { return pin.second.ends <= now_; });
    EXPECT_EQ(pins_.Expire(now_), due);
  }

  void CompareWithModel() {
    std::set<Place> held;
    Instant next = Instant::Infinite();
    for (const auto& [id, pin] : model_) {
      next = std::min(next, pin.ends);
      for (const auto& [index, place] : pin.keys) {
        held.insert(place);
        EXPECT_EQ(pins_.Find(id.first, id.second, index), place);
      }
    }
    for (const SlotHold& hold : holds_) held.insert(hold.place());
    EXPECT_EQ(recorder_.held, held);
    for (std::uint32_t i = 0; i < kSlots; ++i) {
      EXPECT_EQ(pins_.IsHeld(SlotAt(i)), held.count(SlotAt(i)) == 1);
    }
    EXPECT_EQ(pins_.NextExpiry(), next);
    EXPECT_EQ(pins_.stats().pins, model_.size());
    EXPECT_EQ(pins_.stats().pinned_keys, KeysOfAll());
    EXPECT_EQ(pins_.stats().held_slots, held.size());
  }

  Rng rng_{static_cast<std::uint64_t>(GetParam())};

 private:
  SessionId AnySession() { return SessionId(rng_.Below(4)); }
  // Mostly a live one.
  Id AnyPin() {
    if (model_.empty() || rng_.Chance(1, 8)) return Id(AnySession(), PinId(rng_.Below(1000)));
    auto it = model_.begin();
    std::advance(it, rng_.Below(model_.size()));
    return it->first;
  }

  HoldRecorder recorder_;
  PinTable pins_{kOptions, recorder_};
  std::vector<SlotHold> holds_;
  std::map<Id, ModelPin> model_;
  std::uint64_t next_pin_ = 1;
  Instant now_ = Instant::FromNanos(0);
};

TEST_P(PinTablePropertyTest, TableIsTheModelAfterEveryStep) {
  for (int step = 0; step < 1500 && !HasFailure(); ++step) {
    Step();
    CompareWithModel();
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, PinTablePropertyTest, testing::Range(1, 11));

}  // namespace
}  // namespace cairn
