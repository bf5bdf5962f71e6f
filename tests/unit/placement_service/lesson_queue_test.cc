#include "services/placement/lesson_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "libs/planner/limits.h"

namespace cairn {
namespace {

std::vector<Lesson> Lessons(std::uint64_t first, std::size_t count) {
  std::vector<Lesson> lessons;
  for (std::uint64_t i = 0; i < count; ++i) {
    lessons.emplace_back(planner::Exposure{.family = first + i});
  }
  return lessons;
}

std::uint64_t FamilyOf(const Lesson& lesson) { return std::get<planner::Exposure>(lesson).family; }

TEST(LessonQueueTest, LessonsComeOutInOrderAndTheTakerSeesWhatWaits) {
  LessonQueue queue(100);
  EXPECT_EQ(queue.Add(Lessons(0, 5)), 5u);
  EXPECT_EQ(queue.Add(Lessons(5, 5)), 5u);
  std::vector<Lesson> slice;
  EXPECT_EQ(queue.Take(7, slice), 3u);
  ASSERT_EQ(slice.size(), 7u);
  for (std::size_t i = 0; i < 7; ++i) EXPECT_EQ(FamilyOf(slice[i]), i);
  EXPECT_EQ(queue.Take(7, slice), 0u);
  ASSERT_EQ(slice.size(), 3u);
  EXPECT_EQ(FamilyOf(slice[0]), 7u);
}

TEST(LessonQueueTest, BeyondItsBoundTheLastOnesAreDroppedAndCounted) {
  LessonQueue queue(8);
  EXPECT_EQ(queue.Add(Lessons(0, 6)), 6u);
  EXPECT_EQ(queue.Add(Lessons(6, 6)), 2u);
  EXPECT_EQ(queue.Add(Lessons(12, 6)), 0u);
  EXPECT_EQ(queue.dropped(), 10u);
  std::vector<Lesson> slice;
  EXPECT_EQ(queue.Take(100, slice), 0u);
  ASSERT_EQ(slice.size(), 8u);
  EXPECT_EQ(FamilyOf(slice.back()), 7u);
  EXPECT_EQ(queue.Add(Lessons(0, 9)), 8u);  // there is room again
}

TEST(LessonQueueTest, SettledIsWhatWasAddedBeforeOnceItIsDone) {
  LessonQueue queue(100);
  queue.Settle();  // nothing to wait for
  queue.Add(Lessons(0, 3));
  std::atomic<int> learnt{0};
  std::thread learner([&] {
    std::vector<Lesson> slice;
    for (;;) {
      queue.Take(1, slice);
      if (slice.empty()) return;
      learnt.fetch_add(1);
    }
  });
  queue.Settle();
  EXPECT_GE(learnt.load(), 3);
  queue.Add(Lessons(3, 4));
  queue.Settle();
  EXPECT_EQ(learnt.load(), 7);
  queue.Close();
  learner.join();
}

TEST(LessonQueueTest, ClosedItGivesWhatIsLeftAndThenNothing) {
  LessonQueue queue(100);
  queue.Add(Lessons(0, 3));
  queue.Close();
  std::vector<Lesson> slice;
  queue.Take(2, slice);
  EXPECT_EQ(slice.size(), 2u);
  queue.Take(2, slice);
  EXPECT_EQ(slice.size(), 1u);
  queue.Take(2, slice);
  EXPECT_TRUE(slice.empty());
}

constexpr std::size_t kFrom = ThinningRule::kThinFrom;

Instant At(absl::Duration time) { return Instant() + time; }

TEST(ThinningRuleTest, DoublesWithWhatWaitsUpToTheMost) {
  ThinningRule rule;
  EXPECT_EQ(rule.Strength(kFrom - 1, At(absl::Seconds(1))), 1u);
  EXPECT_EQ(rule.Strength(kFrom, At(absl::Seconds(1))), 2u);
  EXPECT_EQ(rule.Strength(2 * kFrom - 1, At(absl::Seconds(1))), 2u);
  EXPECT_EQ(rule.Strength(2 * kFrom, At(absl::Seconds(1))), 4u);
  EXPECT_EQ(rule.Strength(100 * kFrom, At(absl::Seconds(1))), planner::limits::kThinningMax);
  EXPECT_EQ(ThinningRule().Strength(9 * kFrom, At(absl::Seconds(1))), 16u);
}

TEST(ThinningRuleTest, HalvesOnlyAfterACalmTime) {
  const absl::Duration calm = ThinningRule::kCalm;
  ThinningRule rule;
  ASSERT_EQ(rule.Strength(2 * kFrom, At(absl::Seconds(1))), 4u);
  EXPECT_EQ(rule.Strength(0, At(absl::Seconds(1) + calm / 2)), 4u);
  EXPECT_EQ(rule.Strength(2 * kFrom, At(absl::Seconds(1) + calm * 3 / 4)), 4u);  // not calm
  EXPECT_EQ(rule.Strength(0, At(absl::Seconds(1) + calm)), 4u);
  EXPECT_EQ(rule.Strength(0, At(absl::Seconds(1) + calm * 2)), 2u);
  EXPECT_EQ(rule.Strength(0, At(absl::Seconds(2) + calm * 2)), 2u);
  EXPECT_EQ(rule.Strength(0, At(absl::Seconds(1) + calm * 3)), 1u);
  EXPECT_EQ(rule.Strength(0, At(absl::Seconds(1) + calm * 9)), 1u);
}

TEST(ThinningRuleTest, TheFirstLookIsNoCalmTime) {
  ThinningRule rule;
  ASSERT_EQ(rule.Strength(4 * kFrom, At(absl::Hours(1000))), 8u);
  EXPECT_EQ(rule.Strength(0, At(absl::Hours(1000) + absl::Seconds(1))), 8u);
}

}  // namespace
}  // namespace cairn
