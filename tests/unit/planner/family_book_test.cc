#include "libs/planner/family_book.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace cairn::planner {
namespace {

using Worlds = std::vector<placement::ExpertPanel::InWorld>;

constexpr std::uint32_t kShared = 10;
const Worlds kFirstWins = {{.resumed = 10, .placed = 1}, {.resumed = 2, .placed = 1}};
const Worlds kSecondWins = {{.resumed = 2, .placed = 1}, {.resumed = 10, .placed = 1}};

TEST(FamilyBookTest, ANewFamilyFollowsThePoolAndAnEstablishedOneItself) {
  FamilyBook book(100, 2);
  EXPECT_EQ(book.LeaderOf(1), 0u);  // nothing known: the first
  for (int i = 0; i < 50; ++i) book.Count(1, kShared, kSecondWins);
  EXPECT_EQ(book.LeaderOf(1), 1u);
  EXPECT_EQ(book.LeaderOf(2), 1u);
  EXPECT_DOUBLE_EQ(book.PooledShare(1), 1.0);
  for (int i = 0; i < 300; ++i) book.Count(2, kShared, kFirstWins);
  EXPECT_EQ(book.LeaderOf(2), 0u);
  EXPECT_EQ(book.LeaderOf(1), 1u);
}

TEST(FamilyBookTest, OneFamilyIsHeardForSoManyRequestsOnlyHoweverLong) {
  FamilyBook book(100, 2);
  for (std::uint64_t family = 1; family <= 4; ++family) {
    for (int i = 0; i < 100; ++i) book.Count(family, kShared, kSecondWins);
  }
  for (int i = 0; i < 100'000; ++i) {
    book.Count(666, 30'000, {{.resumed = 30'000, .placed = 1}, {.resumed = 0, .placed = 1}});
  }
  EXPECT_EQ(book.LeaderOf(5), 1u);
  EXPECT_EQ(book.LeaderOf(666), 0u);
}

TEST(FamilyBookTest, SavedFamiliesComeBackInTheirOrder) {
  FamilyBook book(3, 2);
  for (const std::uint64_t family : {1, 2, 3, 1}) {
    book.Count(family, kShared, kSecondWins);
    book.Touch(family).distances.Claim(static_cast<std::uint32_t>(family));
  }
  ByteWriter out;
  book.Save(out);
  const std::string bytes = std::move(out).Take();
  FamilyBook read(2, 2);  // has room for the two most recent
  ByteReader in(bytes);
  read.Load(in);
  ASSERT_TRUE(in.at_end());
  std::vector<std::uint64_t> order;
  read.ForEach([&](std::uint64_t id, const FamilyBook::Family&) {
    order.push_back(id);
    return true;
  });
  EXPECT_EQ(order, (std::vector<std::uint64_t>{1, 3}));
  EXPECT_EQ(read.Find(1)->requests, 2u);
  EXPECT_EQ(read.Find(1)->saved[1], 20u);
  EXPECT_EQ(read.LeaderOf(9), 1u);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    FamilyBook other(3, 2);
    ByteReader cut(absl::string_view(bytes).substr(0, size));
    other.Load(cut);
    EXPECT_FALSE(cut.ok()) << size;
  }
}

}  // namespace
}  // namespace cairn::planner
