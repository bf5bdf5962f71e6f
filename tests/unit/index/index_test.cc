#include "libs/index/index.h"

#include <gtest/gtest.h>

#include <vector>

#include "libs/base/limits.h"
#include "tests/unit/index/index_fixture.h"

namespace cairn {
namespace {

const Instant kNow = Instant::FromNanos(1000);
const Instant kLater = Instant::FromNanos(2000);

class IndexTest : public testing::Test {
 protected:
  // Stores key `number` in slot `number`.
  Index::Inserted Store(std::uint32_t number, std::uint64_t depth = 16,
                        std::optional<std::uint32_t> parent = std::nullopt, RootId root = kRoot) {
    NewEntry entry{.id = IdOf(number, root),
                   .place = SlotAt(next_slot_++),
                   .generation = Generation(3),
                   .bytes = 100,
                   .checksum = Checksum(number),
                   .depth = depth,
                   .producer = ProducerId(7)};
    if (parent.has_value()) entry.parent = KeyOf(*parent);
    return index_.Insert(entry, kNow);
  }
  Index index_{{.entries_max = 8}};
  std::uint64_t next_slot_ = 0;
};

TEST_F(IndexTest, StoredEntryIsFoundUnderItsKeyAndItsPlace) {
  const Entry* stored = Store(1).entry;
  ASSERT_NE(stored, nullptr);
  EXPECT_EQ(index_.Find(IdOf(1)), stored);
  EXPECT_EQ(index_.AtPlace(SlotAt(0)), stored);
  EXPECT_EQ(stored->generation, Generation(3));
  EXPECT_EQ(stored->checksum, Checksum(1));
  EXPECT_EQ(stored->producer, ProducerId(7));
  EXPECT_EQ(stored->stored_at, kNow);
}

TEST_F(IndexTest, KeyOfAnotherRootIsAMiss) {
  Store(1, 16, std::nullopt, kOtherRoot);
  EXPECT_EQ(index_.Find(IdOf(1)), nullptr);
  EXPECT_EQ(index_.Use(IdOf(1), EntryKind::kKvBlock, kNow), nullptr);
  EXPECT_NE(index_.Find(IdOf(1, kOtherRoot)), nullptr);
}

TEST_F(IndexTest, EntryOfAnotherKindIsAMiss) {
  Store(1);
  EXPECT_EQ(index_.Use(IdOf(1), EntryKind::kState, kNow), nullptr);
  EXPECT_NE(index_.Use(IdOf(1), EntryKind::kKvBlock, kNow), nullptr);
}

TEST_F(IndexTest, UseMarksAndFindDoesNot) {
  Store(1);
  index_.Find(IdOf(1));
  EXPECT_EQ(index_.Find(IdOf(1))->last_use, kNow);
  EXPECT_EQ(index_.Find(IdOf(1))->uses, 0u);
  index_.Use(IdOf(1), EntryKind::kKvBlock, kLater);
  EXPECT_EQ(index_.Find(IdOf(1))->last_use, kLater);
  EXPECT_EQ(index_.Find(IdOf(1))->uses, 1u);
}

TEST_F(IndexTest, UseAllAnswersKeyByKeyWithHolesAnywhere) {
  Store(1);
  Store(3);
  const std::vector<Key> keys = {KeyOf(1), KeyOf(2), KeyOf(3), KeyOf(1)};
  const std::vector<EntryKind> kinds = {EntryKind::kKvBlock, EntryKind::kKvBlock, EntryKind::kState,
                                        EntryKind::kKvBlock};
  std::vector<const Entry*> out(4);
  EXPECT_EQ(index_.UseAll(kRoot, keys, kinds, kLater, absl::MakeSpan(out)), 2u);
  EXPECT_EQ(out[0], index_.Find(IdOf(1)));
  EXPECT_EQ(out[1], nullptr);
  EXPECT_EQ(out[2], nullptr) << "3 is no state";
  EXPECT_EQ(out[3], out[0]);
}

TEST_F(IndexTest, FirstCompletedWriterWins) {
  Store(1);
  EXPECT_EQ(Store(1).entry, nullptr);
  EXPECT_EQ(index_.Find(IdOf(1))->place, SlotAt(0));
  EXPECT_EQ(index_.AtPlace(SlotAt(1)), nullptr);
  EXPECT_EQ(index_.size(), 1u);
}

TEST_F(IndexTest, CompareTellsSameFromConflict) {
  Store(1);
  const auto compare = [&](EntryKind kind, std::uint64_t bytes, std::uint64_t checksum) {
    return index_.Compare(IdOf(1), kind, bytes, Checksum(checksum));
  };
  EXPECT_EQ(index_.Compare(IdOf(2), EntryKind::kKvBlock, 100, Checksum(1)), Stored::kAbsent);
  EXPECT_EQ(compare(EntryKind::kKvBlock, 100, 1), Stored::kSame);
  EXPECT_EQ(compare(EntryKind::kKvBlock, 100, 2), Stored::kConflict);
  EXPECT_EQ(compare(EntryKind::kKvBlock, 101, 1), Stored::kConflict);
  EXPECT_EQ(compare(EntryKind::kState, 100, 1), Stored::kConflict);
}

TEST_F(IndexTest, FullIndexRefuses) {
  for (std::uint32_t i = 0; i < 8; ++i) EXPECT_NE(Store(i).entry, nullptr);
  EXPECT_EQ(Store(8).entry, nullptr);
  index_.Remove(IdOf(0), RemovalReason::kEvicted, kLater);
  EXPECT_NE(Store(8).entry, nullptr);
}

TEST_F(IndexTest, FirstChildMakesItsParentInnerAndTheLastMakesItALeaf) {
  Store(1, 16);
  EXPECT_EQ(Store(2, 32, 1).became_inner, SlotAt(0));
  EXPECT_FALSE(Store(3, 32, 1).became_inner.has_value());
  EXPECT_EQ(index_.Find(IdOf(1))->children_here, 2u);
  EXPECT_EQ(index_.Find(IdOf(2))->parent, KeyOf(1));
  EXPECT_FALSE(index_.Remove(IdOf(2), RemovalReason::kEvicted, kLater)->became_leaf.has_value());
  EXPECT_EQ(index_.RemoveAt(SlotAt(2), RemovalReason::kEvicted, kLater)->became_leaf, SlotAt(0));
  EXPECT_TRUE(index_.Find(IdOf(1))->is_leaf());
}

TEST_F(IndexTest, ParentIsRecordedOnlyIfPresentUnderTheSameRootAndShallower) {
  Store(1, 16);
  Store(2, 16, 1);  // not deeper
  Store(3, 8, 1);
  Store(4, 32, 9);              // absent
  Store(5, 32, 1, kOtherRoot);  // present under another root
  Store(6, 32, 6);              // itself
  for (const std::uint32_t number : {2u, 3u, 4u, 6u}) {
    EXPECT_EQ(index_.Find(IdOf(number))->parent_link, ParentLink::kNone) << number;
  }
  EXPECT_EQ(index_.Find(IdOf(5, kOtherRoot))->parent_link, ParentLink::kNone);
  EXPECT_TRUE(index_.Find(IdOf(1))->is_leaf());
}

TEST_F(IndexTest, ChildOfAGoneParentDoesNotCountForItsSuccessor) {
  Store(1, 16);
  Store(2, 32, 1);
  index_.Remove(IdOf(1), RemovalReason::kQuarantined, kLater);
  Store(1, 16);  // takes the same record
  Store(3, 32, 1);
  EXPECT_EQ(index_.Find(IdOf(1))->children_here, 1u) << "3 only";
  EXPECT_FALSE(index_.Remove(IdOf(2), RemovalReason::kEvicted, kLater)->became_leaf.has_value());
  EXPECT_EQ(index_.Find(IdOf(1))->children_here, 1u);
}

TEST_F(IndexTest, ChildrenOnOtherShardsAreCountedApart) {
  Store(1, 16);
  EXPECT_EQ(index_.AddChild(IdOf(1), 32), SlotAt(0));
  EXPECT_FALSE(index_.AddChild(IdOf(1), 16).has_value()) << "not deeper: not counted";
  EXPECT_FALSE(index_.AddChild(IdOf(2), 16).has_value()) << "absent";
  EXPECT_FALSE(Store(3, 32, 1).became_inner.has_value()) << "it was inner already";
  EXPECT_FALSE(index_.DropChild(IdOf(1)).has_value());
  EXPECT_FALSE(index_.DropChild(IdOf(1)).has_value()) << "a late message cannot undo 3";
  EXPECT_FALSE(index_.Find(IdOf(1))->is_leaf());
  EXPECT_EQ(index_.Remove(IdOf(3), RemovalReason::kEvicted, kLater)->became_leaf, SlotAt(0));
  index_.AddChild(IdOf(1), 32);
  EXPECT_EQ(index_.DropChild(IdOf(1)), SlotAt(0));
}

TEST_F(IndexTest, ParentElsewhereIsNamedWhenTheChildGoes) {
  NewEntry entry{.id = IdOf(1),
                 .place = SlotAt(0),
                 .depth = 32,
                 .parent = KeyOf(9),
                 .parent_is_elsewhere = true};
  EXPECT_FALSE(index_.Insert(entry, kNow).became_inner.has_value());
  const Index::Removed removed = *index_.Remove(IdOf(1), RemovalReason::kEvicted, kLater);
  EXPECT_EQ(removed.entry.parent_link, ParentLink::kElsewhere);
  EXPECT_EQ(removed.entry.parent, KeyOf(9));
}

TEST_F(IndexTest, RemovedEntryIsGoneAndItsReasonRemembered) {
  Store(1);
  EXPECT_EQ(index_.Remove(IdOf(1), RemovalReason::kQuarantined, kLater)->entry.id, IdOf(1));
  EXPECT_EQ(index_.Find(IdOf(1)), nullptr);
  EXPECT_EQ(index_.AtPlace(SlotAt(0)), nullptr);
  EXPECT_FALSE(index_.Remove(IdOf(1), RemovalReason::kEvicted, kLater).has_value());
  EXPECT_FALSE(index_.RemoveAt(SlotAt(0), RemovalReason::kEvicted, kLater).has_value());
  EXPECT_EQ(index_.LastRemoval(IdOf(1))->reason, RemovalReason::kQuarantined);
  EXPECT_EQ(index_.LastRemoval(IdOf(1))->when, kLater);
  EXPECT_FALSE(index_.LastRemoval(IdOf(2)).has_value());
}

TEST_F(IndexTest, EntriesAndBytesAreCountedByRoot) {
  Store(1);
  Store(2);
  Store(3, 16, std::nullopt, kOtherRoot);
  EXPECT_EQ(index_.CountOf(kRoot).entries, 2u);
  EXPECT_EQ(index_.CountOf(kRoot).bytes, 200u);
  EXPECT_EQ(index_.CountOf(kOtherRoot).entries, 1u);
  index_.Remove(IdOf(3, kOtherRoot), RemovalReason::kAsked, kLater);
  EXPECT_EQ(index_.CountOf(kOtherRoot).entries, 0u);
}

TEST_F(IndexTest, ListGoesThroughAllByCursor) {
  for (std::uint32_t i = 0; i < 6; ++i) Store(i, 16, std::nullopt, i % 2 == 0 ? kRoot : kOtherRoot);
  index_.Remove(IdOf(2), RemovalReason::kAsked, kLater);
  std::vector<Key> seen;
  std::uint32_t cursor = 0;
  do {
    const Index::Listing listing = index_.List(cursor, 2);
    EXPECT_LE(listing.entries.size(), 2u);
    for (const Entry* entry : listing.entries) seen.push_back(entry->id.key);
    cursor = listing.next_cursor;
  } while (cursor != 0);
  EXPECT_EQ(seen, (std::vector<Key>{KeyOf(0), KeyOf(1), KeyOf(3), KeyOf(4), KeyOf(5)}));
  EXPECT_EQ(index_.List(0, 100, kOtherRoot).entries.size(), 3u);
  EXPECT_TRUE(index_.List(77, 100).entries.empty());
  EXPECT_EQ(index_.List(77, 100).next_cursor, 0u);
}

TEST(IndexListTest, OneAnswerIsBounded) {
  Index index({.entries_max = limits::kListEntriesMax * 2});
  for (std::uint32_t i = 0; i < limits::kListEntriesMax + 1; ++i) {
    index.Insert({.id = IdOf(i), .place = SlotAt(i)}, kNow);
  }
  EXPECT_EQ(index.List(0, SIZE_MAX).entries.size(), limits::kListEntriesMax);
  EXPECT_EQ(index.List(0, SIZE_MAX).next_cursor, limits::kListEntriesMax);
}

using IndexDeathTest = IndexTest;

TEST_F(IndexDeathTest, TwoEntriesInOnePlaceAreABug) {
  Store(1);
  next_slot_ = 0;
  EXPECT_DEATH(Store(2), "holds an entry");
}

}  // namespace
}  // namespace cairn
