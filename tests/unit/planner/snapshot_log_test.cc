#include "libs/planner/snapshot_log.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "libs/store_memory/memory_store.h"

namespace cairn::planner {
namespace {

// Opens a log over `store` and takes what it offers first.
std::pair<std::string, SnapshotLog::Opened> Newest(MemoryStore& store) {
  std::string taken;
  SnapshotLog log(store);
  const auto opened = log.Open([&](absl::string_view snapshot) {
    taken = std::string(snapshot);
    return absl::OkStatus();
  });
  return {taken, opened.value()};
}

void WriteThree(MemoryStore& store) {
  SnapshotLog log(store);
  for (const char* snapshot : {"one", "two", "three"}) ASSERT_TRUE(log.Write(snapshot).ok());
}

TEST(SnapshotLogTest, TheLastTwoAreKeptAndTheNewestIsOpened) {
  MemoryStore store;
  EXPECT_EQ(Newest(store).second.generation, 0u);
  WriteThree(store);
  EXPECT_EQ(store.List().value(), (std::vector<std::uint64_t>{2, 3}));
  const auto [taken, opened] = Newest(store);
  EXPECT_EQ(taken, "three");
  EXPECT_EQ(opened.generation, 3u);
  EXPECT_EQ(opened.skipped, "");
}

TEST(SnapshotLogTest, AnyBitFlippedOrByteMissingLeadsToTheOneBefore) {
  MemoryStore store;
  WriteThree(store);
  const std::string whole = store.Get(3).value();
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string bad = whole;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
    ASSERT_TRUE(store.Put(3, bad).ok());
    const auto [taken, opened] = Newest(store);
    ASSERT_EQ(taken, "two") << bit;
    ASSERT_TRUE(absl::StrContains(opened.skipped, "generation 3: ")) << opened.skipped;
  }
  for (std::size_t size = 0; size < whole.size(); ++size) {
    ASSERT_TRUE(store.Put(3, whole.substr(0, size)).ok());
    ASSERT_EQ(Newest(store).first, "two") << size;
  }
}

TEST(SnapshotLogTest, AnotherGenerationsValueIsNotTaken) {
  MemoryStore store;
  WriteThree(store);
  ASSERT_TRUE(store.Put(9, store.Get(3).value()).ok());
  EXPECT_EQ(Newest(store).second.generation, 3u);
}

TEST(SnapshotLogTest, WithoutAWholeOneItStartsEmptyAndCountsOn) {
  MemoryStore store;
  ASSERT_TRUE(store.Put(41, "garbage").ok());
  ASSERT_TRUE(store.Put(42, "").ok());
  SnapshotLog log(store);
  const auto opened = log.Open([](absl::string_view) { return absl::OkStatus(); }).value();
  EXPECT_EQ(opened.generation, 0u);
  EXPECT_TRUE(absl::StrContains(opened.skipped, "generation 42"));
  EXPECT_TRUE(absl::StrContains(opened.skipped, "generation 41"));
  EXPECT_EQ(log.Write("new").value(), 43u);
  EXPECT_EQ(Newest(store).first, "new");
}

TEST(SnapshotLogTest, WhatIsNotTakenIsPassedOver) {
  MemoryStore store;
  WriteThree(store);
  SnapshotLog log(store);
  const auto opened = log.Open([](absl::string_view snapshot) {
    return snapshot == "three" ? absl::FailedPreconditionError("not this") : absl::OkStatus();
  });
  EXPECT_EQ(opened->generation, 2u);
  EXPECT_EQ(opened->skipped, "generation 3: not this");
}

TEST(SnapshotLogTest, AFailedWriteKeepsThoseThatAreThere) {
  MemoryStore store;
  WriteThree(store);
  SnapshotLog log(store);
  ASSERT_TRUE(log.Open([](absl::string_view) { return absl::OkStatus(); }).ok());
  store.FailPuts(true);
  EXPECT_EQ(log.Write("four").status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(Newest(store).first, "three");
  store.FailPuts(false);
  EXPECT_EQ(log.Write("four").value(), 4u);
}

}  // namespace
}  // namespace cairn::planner
