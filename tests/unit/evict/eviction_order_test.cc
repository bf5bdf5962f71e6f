#include "libs/evict/eviction_order.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <vector>

#include "libs/base/rng.h"

namespace cairn {
namespace {

constexpr SizeClass kSmall{0};
constexpr SizeClass kLarge{1};

Place SlotAt(std::uint64_t slot) {
  return Place{SegmentId(0), SlotId(static_cast<std::uint32_t>(slot))};
}

TEST(EvictionOrderTest, LeastRecentlyUsedGoesFirst) {
  EvictionOrder order;
  for (int i = 0; i < 3; ++i) order.Insert(SlotAt(i), kSmall);
  EXPECT_EQ(order.Victim(kSmall), SlotAt(0));
  order.Touch(SlotAt(0));
  EXPECT_EQ(order.Victim(kSmall), SlotAt(1));
  order.Remove(SlotAt(1));
  EXPECT_EQ(order.Victim(kSmall), SlotAt(2));
}

TEST(EvictionOrderTest, LeafGoesBeforeAnOlderInnerEntry) {
  EvictionOrder order;
  order.Insert(SlotAt(0), kSmall);  // the parent of 1
  order.Insert(SlotAt(1), kSmall);
  order.SetLeaf(SlotAt(0), false);
  order.Insert(SlotAt(2), kSmall);
  EXPECT_EQ(order.Victim(kSmall), SlotAt(1));
  order.Remove(SlotAt(1));
  order.SetLeaf(SlotAt(0), true);
  EXPECT_EQ(order.Victim(kSmall), SlotAt(0)) << "a leaf now, and older than 2";
}

TEST(EvictionOrderTest, ChainLosesItsTailFirst) {
  EvictionOrder order;
  for (int i = 0; i < 4; ++i) {
    order.Insert(SlotAt(i), kSmall);
    if (i > 0) order.SetLeaf(SlotAt(i - 1), false);
  }
  for (int i = 3; i >= 0; --i) {
    EXPECT_EQ(order.Victim(kSmall), SlotAt(i));
    order.Remove(SlotAt(i));
    if (i > 0) order.SetLeaf(SlotAt(i - 1), true);
  }
  EXPECT_FALSE(order.Victim(kSmall).has_value());
}

TEST(EvictionOrderTest, OnlyInnerEntriesLeftTheOldestGoes) {
  EvictionOrder order;
  for (int i = 0; i < 3; ++i) order.Insert(SlotAt(i), kSmall);
  order.SetLeaf(SlotAt(0), false);
  order.SetLeaf(SlotAt(1), false);
  order.Pin(SlotAt(2));  // the only leaf
  EXPECT_EQ(order.Victim(kSmall), SlotAt(0));
}

TEST(EvictionOrderTest, PinnedEntryIsNoVictimAndItsEndIsAUse) {
  EvictionOrder order;
  order.Insert(SlotAt(0), kSmall);
  order.Insert(SlotAt(1), kSmall);
  order.Pin(SlotAt(0));
  EXPECT_EQ(order.Victim(kSmall), SlotAt(1));
  EXPECT_EQ(order.EvictableOf(kSmall), 1u);
  order.Pin(SlotAt(1));
  EXPECT_FALSE(order.Victim(kSmall).has_value());
  order.Unpin(SlotAt(1));
  order.Unpin(SlotAt(0));
  EXPECT_EQ(order.Victim(kSmall), SlotAt(1)) << "0 was in use for longer";
  EXPECT_EQ(order.size(), 2u);
}

TEST(EvictionOrderTest, PinnedEntryCanBecomeALeafAndCanGo) {
  EvictionOrder order;
  order.Insert(SlotAt(0), kSmall);
  order.Insert(SlotAt(1), kSmall);
  order.SetLeaf(SlotAt(0), false);
  order.Pin(SlotAt(0));
  order.SetLeaf(SlotAt(0), true);
  order.Remove(SlotAt(1));
  order.Unpin(SlotAt(0));
  EXPECT_EQ(order.Victim(kSmall), SlotAt(0));
  order.Pin(SlotAt(0));
  order.Remove(SlotAt(0));  // quarantined while it is read
  order.Unpin(SlotAt(0));   // its reader ends later
  EXPECT_EQ(order.size(), 0u);
  EXPECT_FALSE(order.Victim(kSmall).has_value());
}

TEST(EvictionOrderTest, VictimIsOfTheSizeThatIsNeeded) {
  EvictionOrder order;
  order.Insert(SlotAt(0), kSmall);
  EXPECT_FALSE(order.Victim(kLarge).has_value());
  order.Insert(SlotAt(1), kLarge);
  EXPECT_EQ(order.Victim(kLarge), SlotAt(1));
  EXPECT_EQ(order.EvictableOf(kLarge), 1u);
}

Place SlotIn(std::uint32_t segment, std::uint32_t slot) {
  return Place{SegmentId(segment), SlotId(slot)};
}
bool Any(SegmentId) { return true; }

TEST(EvictionOrderTest, SizeWithoutVictimsGetsTheLongestIdleSegment) {
  EvictionOrder order;
  order.Insert(SlotIn(0, 0), kSmall);
  order.Insert(SlotIn(1, 0), kSmall);
  order.Insert(SlotIn(0, 1), kSmall);
  EXPECT_EQ(order.VictimSegment(kLarge, Any), SegmentId(1)) << "0 was used later, as a whole";
  EXPECT_EQ(order.VictimSegment(std::nullopt, Any), SegmentId(1));
  order.Pin(SlotIn(1, 0));
  EXPECT_EQ(order.VictimSegment(kLarge, Any), SegmentId(0)) << "1 is being read";
  EXPECT_FALSE(order.VictimSegment(kLarge, [](SegmentId) { return false; }).has_value());
  EXPECT_FALSE(order.VictimSegment(kSmall, Any).has_value()) << "its own";
}

TEST(EvictionOrderTest, SizeTakesNoSegmentThatWasUsedAfterItsOwnVictim) {
  EvictionOrder order;
  order.Insert(SlotIn(0, 0), kSmall);
  order.Insert(SlotIn(0, 1), kSmall);
  order.Insert(SlotIn(1, 0), kLarge);
  EXPECT_EQ(order.VictimSegment(kLarge, Any), SegmentId(0)) << "idle for longer";
  order.Touch(SlotIn(0, 0));
  EXPECT_FALSE(order.VictimSegment(kLarge, Any).has_value());
  EXPECT_EQ(order.VictimSegment(kSmall, Any), std::nullopt) << "1 is newer than slot 0, 1";
  order.Touch(SlotIn(0, 1));
  EXPECT_EQ(order.VictimSegment(kSmall, Any), SegmentId(1));
  order.Remove(SlotIn(1, 0));
  EXPECT_FALSE(order.VictimSegment(kSmall, Any).has_value()) << "there is nothing in it to evict";
}

TEST(EvictionOrderTest, UsesAreCountedSinceASegmentGotItsSize) {
  EvictionOrder order;
  EXPECT_EQ(order.UsesSinceSized(SegmentId(7)), 0u);
  for (std::uint32_t i = 0; i < 5; ++i) order.Insert(SlotIn(0, i), kSmall);
  EXPECT_EQ(order.UsesSinceSized(SegmentId(0)), 5u);
  order.Insert(SlotIn(1, 0), kSmall);
  EXPECT_EQ(order.UsesSinceSized(SegmentId(1)), 1u);
  order.Remove(SlotIn(1, 0));
  order.Insert(SlotIn(1, 0), kSmall);
  EXPECT_EQ(order.UsesSinceSized(SegmentId(1)), 2u) << "the same size again";
  order.Remove(SlotIn(1, 0));
  order.Insert(SlotIn(1, 0), kLarge);
  EXPECT_EQ(order.UsesSinceSized(SegmentId(1)), 1u);
  EXPECT_EQ(order.UsesSinceSized(SegmentId(0)), 8u);
}

TEST(EvictionOrderTest, UnknownSlotsAreIgnored) {
  EvictionOrder order;
  order.Touch(SlotAt(9));
  order.Pin(SlotAt(9));
  order.Unpin(SlotAt(9));
  order.SetLeaf(SlotAt(9), false);
  EXPECT_EQ(order.size(), 0u);
}

TEST(EvictionOrderDeathTest, InsertingTwiceOrRemovingNothingIsABug) {
  EvictionOrder order;
  order.Insert(SlotAt(0), kSmall);
  EXPECT_DEATH(order.Insert(SlotAt(0), kSmall), "twice");
  EXPECT_DEATH(order.Remove(SlotAt(1)), "not in the order");
}

// The order beside a list that is searched from end to end.
class EvictionOrderPropertyTest : public testing::TestWithParam<int> {
 protected:
  struct Model {
    SizeClass size_class;
    std::uint64_t use = 0;
    bool is_leaf = true;
    bool is_pinned = false;
  };
  std::optional<Place> SlowVictim(SizeClass size_class) const {
    std::optional<Place> victim;
    for (const bool leaves : {true, false}) {
      std::uint64_t oldest = UINT64_MAX;
      for (const auto& [place, model] : model_) {
        if (model.size_class != size_class || model.is_pinned) continue;
        if (model.is_leaf != leaves || model.use >= oldest) continue;
        oldest = model.use;
        victim = place;
      }
      if (victim.has_value()) return victim;
    }
    return std::nullopt;
  }

  std::optional<SegmentId> SlowVictimSegment(SizeClass size_class) const {
    const std::optional<Place> own = SlowVictim(size_class);
    std::optional<SegmentId> found;
    for (const auto& [segment, newest] : newest_) {
      bool is_fit = false;
      for (const auto& [place, model] : model_) {
        if (place.segment == segment) is_fit = true;
      }
      for (const auto& [place, model] : model_) {
        if (place.segment != segment) continue;
        if (model.is_pinned || model.size_class == size_class) is_fit = false;
      }
      if (!is_fit || (own.has_value() && newest >= model_.at(*own).use)) continue;
      if (!found.has_value() || newest < newest_.at(*found)) found = segment;
    }
    return found;
  }

  void Step() {
    const Place place = SlotIn(static_cast<std::uint32_t>(rng_.Below(4)),
                               static_cast<std::uint32_t>(rng_.Below(8)));
    const auto it = model_.find(place);
    if (it == model_.end()) {
      SizeClass size_class(static_cast<std::uint32_t>(rng_.Below(2)));
      for (const auto& [other, model] : model_) {
        if (other.segment == place.segment) size_class = model.size_class;
      }
      order_.Insert(place, size_class);
      model_[place] = Model{.size_class = size_class, .use = ++uses_};
      newest_[place.segment] = uses_;
      return;
    }
    Model& model = it->second;
    switch (rng_.Below(6)) {
      case 0:
        order_.Remove(place);
        model_.erase(it);
        return;
      case 1:
      case 2:
        order_.Touch(place);
        if (!model.is_pinned) newest_[place.segment] = model.use = ++uses_;
        return;
      case 3:
        model.is_leaf = rng_.Chance(1, 2);
        order_.SetLeaf(place, model.is_leaf);
        return;
      default:
        if (model.is_pinned) {
          order_.Unpin(place);
          newest_[place.segment] = model.use = ++uses_;
        } else {
          order_.Pin(place);
        }
        model.is_pinned = !model.is_pinned;
    }
  }

  Rng rng_{static_cast<std::uint64_t>(GetParam())};
  EvictionOrder order_;
  std::map<Place, Model> model_;
  std::map<SegmentId, std::uint64_t> newest_;  // use of any entry that the segment has or had
  std::uint64_t uses_ = 0;
};

TEST_P(EvictionOrderPropertyTest, VictimIsWhatASearchOfAllFinds) {
  for (int step = 0; step < 5000; ++step) {
    Step();
    for (const SizeClass size_class : {kSmall, kLarge}) {
      ASSERT_EQ(order_.Victim(size_class), SlowVictim(size_class)) << "step " << step;
      ASSERT_EQ(order_.VictimSegment(size_class, Any), SlowVictimSegment(size_class))
          << "step " << step;
    }
    ASSERT_EQ(order_.size(), model_.size());
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, EvictionOrderPropertyTest, testing::Range(1, 21));

}  // namespace
}  // namespace cairn
