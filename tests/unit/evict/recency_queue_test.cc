#include "libs/evict/recency_queue.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "libs/base/rng.h"

namespace cairn {
namespace {

Place SlotAt(std::uint64_t slot) {
  return Place{SegmentId(0), SlotId(static_cast<std::uint32_t>(slot))};
}

class RecencyQueueTest : public testing::Test {
 protected:
  void Insert(std::uint32_t slot, std::uint64_t use) {
    nodes_.At(SlotAt(slot)).use = use;
    queue_.Insert(SlotAt(slot));
  }
  std::vector<Place> Drain() {
    std::vector<Place> order;
    while (const std::optional<Place> oldest = queue_.Oldest()) {
      order.push_back(*oldest);
      queue_.Remove(*oldest);
    }
    return order;
  }
  PlaceTable<RecencyNode> nodes_;
  RecencyQueue queue_{&nodes_};
};

TEST_F(RecencyQueueTest, OldestUseComesFirstWhateverTheOrderOfInsertion) {
  Insert(1, 10);
  Insert(2, 20);
  Insert(3, 5);
  Insert(4, 15);
  Insert(5, 30);
  Insert(6, 1);
  EXPECT_EQ(Drain(),
            (std::vector<Place>{SlotAt(6), SlotAt(3), SlotAt(1), SlotAt(4), SlotAt(2), SlotAt(5)}));
}

TEST_F(RecencyQueueTest, EmptyQueueHasNoOldest) {
  EXPECT_FALSE(queue_.Oldest().has_value());
  Insert(1, 1);
  queue_.Remove(SlotAt(1));
  EXPECT_FALSE(queue_.Oldest().has_value());
  EXPECT_EQ(queue_.size(), 0u);
}

TEST_F(RecencyQueueTest, RandomInsertionsAndRemovalsKeepTheOrder) {
  Rng rng(1);
  std::map<std::uint64_t, Place> by_use;  // the obvious queue
  std::uint64_t newest = 1000;
  for (int step = 0; step < 50000; ++step) {
    const Place place = SlotAt(rng.Below(64));
    RecencyNode& node = nodes_.At(place);
    if (node.is_queued) {
      queue_.Remove(place);
      by_use.erase(node.use);
    } else {
      std::uint64_t use = rng.Chance(2, 3) ? ++newest : rng.Below(newest);
      while (by_use.count(use) > 0) use = ++newest;
      node.use = use;
      queue_.Insert(place);
      by_use[use] = place;
    }
    ASSERT_EQ(queue_.size(), by_use.size());
    if (by_use.empty()) {
      ASSERT_FALSE(queue_.Oldest().has_value());
    } else {
      ASSERT_EQ(queue_.Oldest(), by_use.begin()->second) << step;
    }
  }
}

TEST_F(RecencyQueueTest, InsertingTwiceIsABug) {
  Insert(1, 1);
  EXPECT_DEATH(queue_.Insert(SlotAt(1)), "queued");
  EXPECT_DEATH(queue_.Remove(SlotAt(1)); queue_.Remove(SlotAt(1)), "not queued");
}

}  // namespace
}  // namespace cairn
