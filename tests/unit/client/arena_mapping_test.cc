#include "libs/client/arena_mapping.h"

#include "gtest/gtest.h"
#include "libs/base/limits.h"
#include "libs/memory_heap/heap_memory.h"

namespace cairn {
namespace {

constexpr std::uint64_t kBytes = 64 * 1024;
constexpr std::uint64_t kTable = 4096;

class ArenaMappingTest : public ::testing::Test {
 protected:
  MemoryGrant Grant() {
    auto made = memory_.Create("segment", kBytes);
    EXPECT_TRUE(made.ok());
    owned_.push_back(*std::move(made));
    auto grant = owned_.back()->Grant();
    EXPECT_TRUE(grant.ok());
    return *std::move(grant);
  }
  absl::Status Add(wire::LocalSegment segment) {
    return mapping_.Add(segment, Grant(), memory_);
  }
  static wire::Descriptor Whole(std::uint32_t segment) {
    wire::Descriptor d;
    d.place = {SegmentId(segment), SlotId(0)};
    d.offset = kTable;
    d.bytes = kBytes - kTable;
    d.generation = Generation(0);
    return d;
  }

  HeapMemorySource memory_;
  std::vector<std::unique_ptr<OwnedMemory>> owned_;
  ArenaMapping mapping_{BootId{1, 2}};
};

TEST_F(ArenaMappingTest, MapsSegmentsByTheirId) {
  EXPECT_TRUE(Add({SegmentId(3), kBytes, kTable}).ok());
  EXPECT_TRUE(Add({SegmentId(1), kBytes, kTable}).ok());
  EXPECT_EQ(mapping_.segments(), 2u);
  owned_[0]->bytes()[kTable + 9] = std::byte{'x'};
  const std::optional<HitBlock> block = mapping_.Locate(Whole(3));
  ASSERT_TRUE(block.has_value());
  EXPECT_EQ(block->bytes.size(), kBytes - kTable);
  EXPECT_EQ(block->bytes[9], std::byte{'x'});
  EXPECT_TRUE(block->in_place);
  EXPECT_FALSE(mapping_.Locate(Whole(0)).has_value());
  EXPECT_FALSE(mapping_.Locate(Whole(2)).has_value());
  EXPECT_FALSE(mapping_.Locate(Whole(4)).has_value());
}

TEST_F(ArenaMappingTest, PiecesAreTheMemoryOfItsSegments) {
  EXPECT_TRUE(mapping_.pieces().empty());
  EXPECT_TRUE(Add({SegmentId(3), kBytes, kTable}).ok());
  EXPECT_TRUE(Add({SegmentId(1), kBytes, kTable}).ok());
  const auto pieces = mapping_.pieces();
  ASSERT_EQ(pieces.size(), 2u);
  owned_[1]->bytes()[17] = std::byte{'y'};
  EXPECT_EQ(pieces[0].size(), kBytes);
  EXPECT_EQ(pieces[0][17], std::byte{'y'});
  EXPECT_EQ(pieces[1][17], std::byte{0});
}

TEST_F(ArenaMappingTest, ItsLossIsToldToWhoAsked) {
  int told = 0;
  mapping_.SetOnLost([&] { told += mapping_.lost_at().has_value() ? 1 : 100; });
  mapping_.MarkLost(Instant::FromNanos(5));
  EXPECT_EQ(told, 1);
  EXPECT_EQ(mapping_.lost_at(), Instant::FromNanos(5));
}

TEST_F(ArenaMappingTest, RefusesWhatTheMemoryIsNot) {
  EXPECT_FALSE(Add({SegmentId(0), kBytes - 1, kTable}).ok());
  EXPECT_FALSE(Add({SegmentId(0), kBytes + 1, kTable}).ok());
  EXPECT_FALSE(Add({SegmentId(0), kBytes, 0}).ok());
  EXPECT_FALSE(Add({SegmentId(0), kBytes, 8}).ok());
  EXPECT_FALSE(Add({SegmentId(0), kBytes, kBytes}).ok());
  EXPECT_FALSE(Add({SegmentId(limits::kArenaSegmentsMax), kBytes, kTable}).ok());
  EXPECT_TRUE(Add({SegmentId(0), kBytes, kTable}).ok());
  EXPECT_FALSE(Add({SegmentId(0), kBytes, kTable}).ok()) << "it came twice";
  EXPECT_FALSE(mapping_
                   .Add({SegmentId(1), kBytes, kTable},
                        FlawedHeapGrant(kBytes, HeapFlaw::kUnsealed), memory_)
                   .ok());
  EXPECT_FALSE(mapping_
                   .Add({SegmentId(1), kBytes, kTable}, FlawedHeapGrant(kBytes, HeapFlaw::kSparse),
                        memory_)
                   .ok());
  EXPECT_FALSE(mapping_.Add({SegmentId(1), kBytes, kTable}, MemoryGrant(), memory_).ok());
  EXPECT_EQ(mapping_.segments(), 1u);
}

TEST_F(ArenaMappingTest, LocatesTheLastSlotAndNothingBeyond) {
  ASSERT_TRUE(Add({SegmentId(0), kBytes, kTable}).ok());
  wire::Descriptor d = Whole(0);
  d.place.slot = SlotId(kTable / 8 - 1);
  d.offset = kBytes - 4096;
  d.bytes = 4096;
  EXPECT_TRUE(mapping_.Locate(d).has_value());
  d.bytes = 4097;
  EXPECT_FALSE(mapping_.Locate(d).has_value());
  d.bytes = 4096;
  d.place.slot = SlotId(kTable / 8);
  EXPECT_FALSE(mapping_.Locate(d).has_value());
}

TEST_F(ArenaMappingTest, ChecksSeeTheWordOfTheSlot) {
  ASSERT_TRUE(Add({SegmentId(0), kBytes, kTable}).ok());
  wire::Descriptor d = Whole(0);
  d.place.slot = SlotId(5);
  d.generation = Generation(1);
  SlotWords words = SlotWords::Over(owned_[0]->bytes());
  words.Advance(SlotId(5), Generation(1));
  const HitBlock block = *mapping_.Locate(d);
  EXPECT_TRUE(StillValid({block}));
  words.Advance(SlotId(4), Generation(9));
  EXPECT_TRUE(StillValid({block})) << "a neighbour's";
  words.Advance(SlotId(5), Generation(2));
  EXPECT_FALSE(StillValid({block}));
  EXPECT_TRUE(StillValid(absl::Span<const HitBlock>()));
  EXPECT_TRUE(StillValid({HitBlock()})) << "pulled bytes do not change";
  EXPECT_FALSE(StillValid({HitBlock(), block})) << "one is enough";
}

TEST_F(ArenaMappingTest, TheLossIsToldOnce) {
  EXPECT_FALSE(mapping_.lost_at().has_value());
  mapping_.MarkLost(Instant::FromNanos(0));
  EXPECT_EQ(mapping_.lost_at(), Instant::FromNanos(0));
}

}  // namespace
}  // namespace cairn
