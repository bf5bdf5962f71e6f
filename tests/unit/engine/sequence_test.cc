#include "libs/engine/sequence.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "libs/span/identity.h"

namespace cairn {
namespace {

constexpr std::uint64_t kBlockBytes = 4096;

// A sequence over a pool, and an arena of slots that the test controls.
class SequenceTest : public testing::Test {
 protected:
  Sequence Make(const std::vector<PromptSegment>& segments, std::uint32_t generated_max,
                bool offers_generated = true) {
    auto prompt =
        HashPrompt(*RootOf(*FingerprintOf({}), "", "", 16), {.block_tokens = 16}, segments);
    EXPECT_TRUE(prompt.ok()) << prompt.status();
    Sequence sequence(*std::move(prompt),
                      {.generated_max = generated_max, .offers_generated = offers_generated});
    PoolReservation reservation;
    EXPECT_TRUE(pool_.Reserve(sequence.BlocksNeeded(), &reservation));
    sequence.Admit(std::move(reservation));
    return sequence;
  }
  ArenaBlock Slot(std::uint32_t slot) {
    return {.bytes = arena_.data() + slot * kBlockBytes,
            .words = SlotWordsView(absl::Span<const std::atomic<std::uint64_t>>(words_)),
            .slot = SlotId(slot),
            .generation = Generation(words_[slot].load())};
  }

  std::vector<std::byte> memory_ = std::vector<std::byte>(kBlockBytes * 32);
  KvPool pool_{absl::MakeSpan(memory_), kBlockBytes};
  std::vector<std::byte> arena_ = std::vector<std::byte>(kBlockBytes * 8);
  std::vector<std::atomic<std::uint64_t>> words_ = std::vector<std::atomic<std::uint64_t>>(8);
};

PromptSegment SegmentOf(SegmentKind kind, std::size_t count, Token first) {
  PromptSegment segment{.head = {.kind = kind}};
  for (std::size_t i = 0; i < count; ++i) segment.tokens.push_back(first + static_cast<Token>(i));
  return segment;
}

TEST_F(SequenceTest, ReservesForPromptAndGeneration) {
  const Sequence sequence = Make({SegmentOf(SegmentKind::kPrefix, 20, 0)}, 13);
  EXPECT_EQ(sequence.BlocksNeeded(), 3u);  // 16, 4 + 12 generated, 1 generated
}

TEST_F(SequenceTest, EqualBlocksShareAStore) {
  const Sequence sequence =
      Make({SegmentOf(SegmentKind::kSpan, 32, 0), SegmentOf(SegmentKind::kSpan, 32, 0),
            SegmentOf(SegmentKind::kDependent, 1, 7)},
           0);
  EXPECT_EQ(sequence.BlocksNeeded(), 3u);
  EXPECT_EQ(sequence.BlocksToAcquire(), (std::vector<std::uint32_t>{0, 1, 4}));
}

TEST_F(SequenceTest, PlansOnlyWhatIsMissingAroundHits) {
  Sequence sequence = Make({SegmentOf(SegmentKind::kPrefix, 60, 0)}, 0);
  sequence.TakeHit(1, Slot(0));
  SequenceWork work;
  ASSERT_TRUE(sequence.Plan(100, &work));
  EXPECT_EQ(work.first_row, 0u);
  EXPECT_EQ(work.rows, 16u);
  ASSERT_TRUE(sequence.Plan(100, &work));
  EXPECT_EQ(work.first_row, 32u);
  EXPECT_EQ(work.rows, 28u);
  EXPECT_FALSE(sequence.Plan(100, &work));
  const StepChunk chunk = sequence.ChunkOf(work, LogitRows::kLast);
  EXPECT_EQ(chunk.own.blocks.size(), 4u);
  EXPECT_EQ(chunk.own.blocks[1], Slot(0).bytes);
  EXPECT_EQ(chunk.writes.size(), 2u);
}

TEST_F(SequenceTest, SpanRowsCountFromTheirSpanAndSeeNothingElse) {
  Sequence sequence =
      Make({SegmentOf(SegmentKind::kPrefix, 5, 0), SegmentOf(SegmentKind::kSpan, 20, 50),
            SegmentOf(SegmentKind::kDependent, 3, 90)},
           0);
  SequenceWork work;
  ASSERT_TRUE(sequence.Plan(100, &work));
  ASSERT_TRUE(sequence.Plan(100, &work));
  const StepChunk span = sequence.ChunkOf(work, LogitRows::kNone);
  EXPECT_TRUE(span.context.empty());
  EXPECT_EQ(span.position, 0u);
  ASSERT_TRUE(sequence.Plan(100, &work));
  const StepChunk question = sequence.ChunkOf(work, LogitRows::kLast);
  ASSERT_EQ(question.context.size(), 2u);
  EXPECT_EQ(question.context[1].position, 5u);
  EXPECT_EQ(question.context[1].tokens, 20u);
  EXPECT_EQ(question.position, 25u);
}

TEST_F(SequenceTest, DiscardPlansTheSameRowsAgain) {
  Sequence sequence = Make({SegmentOf(SegmentKind::kPrefix, 40, 0)}, 0);
  SequenceWork first, again;
  ASSERT_TRUE(sequence.Plan(20, &first));
  sequence.Discard();
  ASSERT_TRUE(sequence.Plan(20, &again));
  EXPECT_EQ(again.first_row, first.first_row);
  EXPECT_EQ(again.rows, first.rows);
  sequence.Commit();
  EXPECT_EQ(sequence.rows_computed(), 20u);
  ASSERT_TRUE(sequence.Plan(100, &again));
  EXPECT_EQ(again.first_row, 20u);
}

TEST_F(SequenceTest, ChangedWordLosesTheBlockForGood) {
  Sequence sequence = Make({SegmentOf(SegmentKind::kPrefix, 40, 0)}, 0);
  sequence.TakeHit(0, Slot(0));
  sequence.TakeHit(1, Slot(1));
  EXPECT_TRUE(sequence.CheckArena());
  words_[1].fetch_add(1);
  EXPECT_FALSE(sequence.CheckArena());
  EXPECT_TRUE(sequence.CheckArena());
  EXPECT_EQ(sequence.BlocksToAcquire(), (std::vector<std::uint32_t>{2}));  // block 1 is banned
  SequenceWork work;
  ASSERT_TRUE(sequence.Plan(100, &work));
  EXPECT_EQ(work.first_row, 16u);
}

TEST_F(SequenceTest, TornCopyIsMissing) {
  Sequence sequence = Make({SegmentOf(SegmentKind::kPrefix, 40, 0)}, 0);
  sequence.TakeHit(0, Slot(0));
  words_[0].fetch_add(1);
  EXPECT_FALSE(sequence.CopyOffArena());
  EXPECT_FALSE(sequence.ReadsArena());
  SequenceWork work;
  ASSERT_TRUE(sequence.Plan(100, &work));
  EXPECT_EQ(work.first_row, 0u);
}

TEST_F(SequenceTest, DroppedPlacesMayBeAcquiredAgain) {
  Sequence sequence = Make({SegmentOf(SegmentKind::kPrefix, 40, 0)}, 0);
  sequence.TakeHit(0, Slot(0));
  sequence.DropArena();
  EXPECT_EQ(sequence.BlocksToAcquire(), (std::vector<std::uint32_t>{0, 1, 2}));
}

TEST_F(SequenceTest, OffersEachFinishedFullBlockOnce) {
  Sequence sequence = Make({SegmentOf(SegmentKind::kPrefix, 40, 0)}, 10);
  SequenceWork work;
  while (sequence.Plan(100, &work)) {
  }
  EXPECT_TRUE(sequence.TakeBlocksToOffer().empty());  // planned is not computed
  sequence.Commit();
  EXPECT_EQ(sequence.TakeBlocksToOffer(), (std::vector<std::uint32_t>{0, 1}));  // 2 may still grow
  EXPECT_TRUE(sequence.TakeBlocksToOffer().empty());
  for (Token t = 0; t < 8; ++t) {
    sequence.Append(t);
    ASSERT_TRUE(sequence.Plan(100, &work));
    EXPECT_EQ(work.rows, 1u);
    sequence.Commit();
  }
  EXPECT_EQ(sequence.TakeBlocksToOffer(), (std::vector<std::uint32_t>{2}));
}

// On a device whose sampled tokens have keys and values of their own.
TEST_F(SequenceTest, BlocksWithSampledTokensMayBeNoOneElses) {
  Sequence sequence = Make({SegmentOf(SegmentKind::kPrefix, 40, 0)}, 30, false);
  SequenceWork work;
  while (sequence.Plan(100, &work)) {
  }
  sequence.Commit();
  for (Token t = 0; t < 30; ++t) {
    sequence.Append(t);
    ASSERT_TRUE(sequence.Plan(100, &work));
    sequence.Commit();
  }
  EXPECT_EQ(sequence.TakeBlocksToOffer(), (std::vector<std::uint32_t>{0, 1}));
}

// Here the sampled token begins a block, right behind one that was lost.
TEST_F(SequenceTest, ChunksHaveAPromptsTokensOrSampledOnes) {
  Sequence sequence = Make({SegmentOf(SegmentKind::kPrefix, 48, 0)}, 3);
  sequence.TakeHit(1, Slot(0));
  SequenceWork work;
  while (sequence.Plan(100, &work)) {
    EXPECT_FALSE(sequence.ChunkOf(work, LogitRows::kNone).is_generated);
  }
  sequence.Commit();
  sequence.Append(5);
  words_[0].fetch_add(1);
  EXPECT_FALSE(sequence.CheckArena());
  ASSERT_TRUE(sequence.Plan(100, &work));
  EXPECT_EQ(work.first_row, 16u);
  EXPECT_EQ(work.rows, 16u);
  EXPECT_FALSE(sequence.ChunkOf(work, LogitRows::kNone).is_generated);
  ASSERT_TRUE(sequence.Plan(100, &work));
  EXPECT_EQ(work.first_row, 48u);
  EXPECT_TRUE(sequence.ChunkOf(work, LogitRows::kLast).is_generated);
  EXPECT_FALSE(sequence.Plan(100, &work));

  // The last block of the prompt itself.
  Sequence other = Make({SegmentOf(SegmentKind::kPrefix, 32, 0)}, 3);
  other.TakeHit(1, Slot(1));
  while (other.Plan(100, &work)) {
  }
  other.Commit();
  other.Append(5);
  words_[1].fetch_add(1);
  EXPECT_FALSE(other.CheckArena());
  ASSERT_TRUE(other.Plan(100, &work));
  EXPECT_EQ(work.rows, 16u);
  EXPECT_FALSE(other.ChunkOf(work, LogitRows::kNone).is_generated);
  ASSERT_TRUE(other.Plan(100, &work));
  EXPECT_EQ(work.rows, 1u);
  EXPECT_TRUE(other.ChunkOf(work, LogitRows::kLast).is_generated);
}

}  // namespace
}  // namespace cairn
