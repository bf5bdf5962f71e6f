#include "libs/pin/pin_table.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tests/unit/pin/hold_recorder.h"

namespace cairn {
namespace {

constexpr SessionId kAda{1};
constexpr SessionId kBob{2};
constexpr PinId kPin{10};
const Instant kStart = Instant::FromNanos(1'000'000);

class PinTableTest : public testing::Test {
 protected:
  static std::vector<PinnedKey> Keys(std::uint32_t count, std::uint32_t first_slot = 0) {
    std::vector<PinnedKey> keys;
    for (std::uint32_t i = 0; i < count; ++i) keys.push_back({2 * i, SlotAt(first_slot + i)});
    return keys;
  }
  HoldRecorder recorder_;
  PinTable pins_{{.pins_max = 4,
                  .keys_max = 12,
                  .keys_per_session_max = 8,
                  .holds_max = 2,
                  .age_max = absl::Seconds(10)},
                 recorder_};
};

TEST_F(PinTableTest, GrantedSlotsAreHeldUntilReleased) {
  EXPECT_EQ(pins_.Grant(kAda, kPin, Keys(3), kStart), 3u);
  EXPECT_TRUE(pins_.IsHeld(SlotAt(2)));
  EXPECT_FALSE(pins_.IsHeld(SlotAt(3)));
  EXPECT_EQ(recorder_.held.size(), 3u);
  pins_.Release(kAda, kPin);
  EXPECT_FALSE(pins_.IsHeld(SlotAt(2)));
  EXPECT_TRUE(recorder_.held.empty());
}

TEST_F(PinTableTest, SecondReleaseIsANoOp) {
  pins_.Grant(kAda, kPin, Keys(2), kStart);
  pins_.Grant(kAda, PinId(11), Keys(2), kStart);
  pins_.Release(kAda, kPin);
  pins_.Release(kAda, kPin);
  EXPECT_TRUE(pins_.IsHeld(SlotAt(0))) << "the other pin's";
  EXPECT_EQ(pins_.stats().released_total, 1u);
}

TEST_F(PinTableTest, PinOfAnotherSessionCanNeitherBeSeenNorEnded) {
  pins_.Grant(kAda, kPin, Keys(1), kStart);
  pins_.Release(kBob, kPin);
  EXPECT_TRUE(pins_.IsHeld(SlotAt(0)));
  EXPECT_FALSE(pins_.Find(kBob, kPin, 0).has_value());
}

TEST_F(PinTableTest, SlotIsHeldUntilItsLastPinEnds) {
  pins_.Grant(kAda, kPin, Keys(1), kStart);
  pins_.Grant(kBob, kPin, Keys(1), kStart);
  pins_.Release(kAda, kPin);
  EXPECT_TRUE(pins_.IsHeld(SlotAt(0)));
  EXPECT_TRUE(recorder_.let_go.empty());
  pins_.Release(kBob, kPin);
  EXPECT_FALSE(pins_.IsHeld(SlotAt(0)));
}

TEST_F(PinTableTest, OneSlotTwiceInOnePinIsLetGoOnce) {
  const std::vector<PinnedKey> keys = {{0, SlotAt(5)}, {7, SlotAt(5)}};
  EXPECT_EQ(pins_.Grant(kAda, kPin, keys, kStart), 2u);
  pins_.ReleaseKeys(kAda, kPin, {0});
  EXPECT_TRUE(pins_.IsHeld(SlotAt(5)));
  pins_.Release(kAda, kPin);
  EXPECT_EQ(recorder_.let_go.size(), 1u);
}

TEST_F(PinTableTest, AgedPinIsEnded) {
  pins_.Grant(kAda, kPin, Keys(1), kStart);
  EXPECT_EQ(pins_.NextExpiry(), kStart + absl::Seconds(10));
  EXPECT_EQ(pins_.Expire(kStart + absl::Seconds(10) - absl::Nanoseconds(1)), 0u);
  EXPECT_TRUE(pins_.IsHeld(SlotAt(0)));
  EXPECT_EQ(pins_.Expire(kStart + absl::Seconds(10)), 1u);
  EXPECT_FALSE(pins_.IsHeld(SlotAt(0)));
  EXPECT_EQ(pins_.stats().aged_total, 1u);
  EXPECT_EQ(pins_.NextExpiry(), Instant::Infinite());
}

TEST_F(PinTableTest, DurationEndsAPinSoonerAndNeverLater) {
  pins_.Grant(kAda, kPin, Keys(1, 0), kStart, absl::Seconds(2));
  pins_.Grant(kAda, PinId(11), Keys(1, 1), kStart, absl::Hours(1));
  EXPECT_EQ(pins_.NextExpiry(), kStart + absl::Seconds(2));
  EXPECT_EQ(pins_.Expire(kStart + absl::Seconds(2)), 1u);
  EXPECT_FALSE(pins_.IsHeld(SlotAt(0)));
  EXPECT_EQ(pins_.Expire(kStart + absl::Seconds(10)), 1u);
  EXPECT_FALSE(pins_.IsHeld(SlotAt(1)));
}

TEST_F(PinTableTest, EndOfSessionEndsItsPinsAndNoOthers) {
  pins_.Grant(kAda, kPin, Keys(2, 0), kStart);
  pins_.Grant(kAda, PinId(11), Keys(2, 2), kStart);
  pins_.Grant(kBob, kPin, Keys(2, 4), kStart);
  pins_.EndSession(kAda);
  EXPECT_EQ(recorder_.held.size(), 2u);
  EXPECT_TRUE(pins_.IsHeld(SlotAt(4)));
  EXPECT_EQ(pins_.Room(kAda), 8u);
  EXPECT_EQ(pins_.stats().session_ended_total, 2u);
}

TEST_F(PinTableTest, KeysBeyondTheSessionsCapAreNotPinned) {
  EXPECT_EQ(pins_.Grant(kAda, kPin, Keys(6), kStart), 6u);
  EXPECT_EQ(pins_.Room(kAda), 2u);
  EXPECT_EQ(pins_.Grant(kAda, PinId(11), Keys(5, 20), kStart), 2u);
  EXPECT_TRUE(pins_.IsHeld(SlotAt(21)));
  EXPECT_FALSE(pins_.IsHeld(SlotAt(22)));
  EXPECT_EQ(pins_.Grant(kAda, PinId(12), Keys(1, 30), kStart), 0u);
  EXPECT_EQ(pins_.stats().keys_refused_total, 4u);
  EXPECT_EQ(pins_.Grant(kBob, kPin, Keys(3), kStart), 3u) << "another session has its own cap";
}

TEST_F(PinTableTest, KeysBeyondTheTablesCapAreNotPinned) {
  pins_.Grant(kAda, kPin, Keys(8), kStart);
  EXPECT_EQ(pins_.Room(kBob), 4u);
  EXPECT_EQ(pins_.Grant(kBob, kPin, Keys(8), kStart), 4u);
}

TEST_F(PinTableTest, PinsBeyondThePinCapAreNotGranted) {
  for (std::uint64_t i = 0; i < 4; ++i) pins_.Grant(kAda, PinId(i), Keys(1), kStart);
  EXPECT_EQ(pins_.Room(kBob), 0u);
  EXPECT_EQ(pins_.Grant(kBob, kPin, Keys(1), kStart), 0u);
  pins_.Release(kBob, kPin);  // there is no such pin, and that is fine
  pins_.Release(kAda, PinId(0));
  EXPECT_EQ(pins_.Room(kBob), 8u);
}

TEST_F(PinTableTest, FindKnowsPinnedKeysByTheirIndex) {
  pins_.Grant(kAda, kPin, Keys(3), kStart);  // indices 0, 2, 4
  EXPECT_EQ(pins_.Find(kAda, kPin, 4), SlotAt(2));
  EXPECT_FALSE(pins_.Find(kAda, kPin, 3).has_value()) << "a miss of that request";
  EXPECT_FALSE(pins_.Find(kAda, kPin, 6).has_value());
  pins_.Release(kAda, kPin);
  EXPECT_FALSE(pins_.Find(kAda, kPin, 4).has_value());
}

TEST_F(PinTableTest, ReleasedKeysAreLetGoAndTheRestStays) {
  pins_.Grant(kAda, kPin, Keys(4), kStart);  // indices 0, 2, 4, 6
  pins_.ReleaseKeys(kAda, kPin, {1, 2, 6, 9});
  EXPECT_EQ(recorder_.held, (std::set<Place>{SlotAt(0), SlotAt(2)}));
  EXPECT_FALSE(pins_.Find(kAda, kPin, 2).has_value());
  EXPECT_EQ(pins_.Find(kAda, kPin, 4), SlotAt(2));
  EXPECT_EQ(pins_.Room(kAda), 6u);
  pins_.ReleaseKeys(kAda, kPin, {0, 4});
  EXPECT_EQ(pins_.stats().pins, 0u) << "a pin without keys has ended";
  EXPECT_EQ(pins_.NextExpiry(), Instant::Infinite());
}

TEST_F(PinTableTest, HoldOutlivesThePinItsSessionAndItsAge) {
  pins_.Grant(kAda, kPin, Keys(1), kStart);
  SlotHold hold = *pins_.Hold(SlotAt(0));
  pins_.Release(kAda, kPin);
  pins_.EndSession(kAda);
  pins_.Expire(Instant::Infinite());
  EXPECT_TRUE(pins_.IsHeld(SlotAt(0)));
  SlotHold moved = std::move(hold);
  EXPECT_TRUE(pins_.IsHeld(SlotAt(0)));
  moved = SlotHold();
  EXPECT_FALSE(pins_.IsHeld(SlotAt(0)));
}

TEST_F(PinTableTest, HoldsAreCapped) {
  const SlotHold first = *pins_.Hold(SlotAt(0));
  {
    const SlotHold second = *pins_.Hold(SlotAt(0));
    EXPECT_EQ(pins_.Hold(SlotAt(1)).status().code(), absl::StatusCode::kResourceExhausted);
  }
  EXPECT_TRUE(pins_.Hold(SlotAt(1)).ok());
}

TEST_F(PinTableTest, SlotsAreLetGoInAFixedOrder) {
  pins_.Grant(kAda, PinId(7), Keys(2, 4), kStart);
  pins_.Grant(kAda, PinId(3), Keys(2, 0), kStart);
  pins_.EndSession(kAda);
  EXPECT_EQ(recorder_.let_go, (std::vector<Place>{SlotAt(0), SlotAt(1), SlotAt(4), SlotAt(5)}));
}

using PinTableDeathTest = PinTableTest;

TEST_F(PinTableDeathTest, LivePinGrantedAgainIsABug) {
  pins_.Grant(kAda, kPin, Keys(1), kStart);
  EXPECT_DEATH(pins_.Grant(kAda, kPin, Keys(1), kStart), "is live");
}

TEST_F(PinTableDeathTest, HoldThatOutlivesItsTableIsABug) {
  EXPECT_DEATH(
      {
        SlotHold hold;
        HoldRecorder recorder;
        PinTable pins({.pins_max = 1,
                       .keys_max = 1,
                       .keys_per_session_max = 1,
                       .holds_max = 1,
                       .age_max = absl::Seconds(1)},
                      recorder);
        hold = *pins.Hold(SlotAt(0));
      },
      "outlived");
}

}  // namespace
}  // namespace cairn
