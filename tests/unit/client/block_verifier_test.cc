#include "libs/client/block_verifier.h"

#include "tests/unit/client/acquire_world.h"

namespace cairn {
namespace {

using BlockVerifierTest = AcquireWorld;

TEST_F(BlockVerifierTest, ASlotsGenerationIsSummedOnce) {
  UpLocal();
  Ask(1);
  const wire::Descriptor hit = node_->Fill(0, SlotAt(2), 'a');
  Reply(Asked(), {hit});
  ASSERT_TRUE(RunUntilTold());
  EXPECT_EQ(copier_.sums, 1);
  Ask(1);
  Reply(Asked(), {hit}, PinId(6));
  ASSERT_TRUE(RunUntilTold());
  EXPECT_EQ(copier_.sums, 1);
  EXPECT_EQ(stats().sums_spared, 1u);
  HitOne(2, 'b', PinId(7));  // the next generation
  EXPECT_EQ(copier_.sums, 2);
  EXPECT_EQ(ResultOf(0), KeyResult::kHit);
}

TEST_F(BlockVerifierTest, AnotherChecksumForAVerifiedSlotIsSummedAgain) {
  UpLocal();
  Ask(1);
  wire::Descriptor hit = node_->Fill(0, SlotAt(2), 'a');
  Reply(Asked(), {hit});
  ASSERT_TRUE(RunUntilTold());
  hit.checksum = Checksum(hit.checksum.value() ^ 1);
  Ask(1);
  Reply(Asked(), {hit}, PinId(6));
  ASSERT_TRUE(RunUntilTold());
  EXPECT_EQ(ResultOf(0), KeyResult::kCorrupt);
}

TEST_F(BlockVerifierTest, OneSumServesAllWhoWait) {
  UpLocal();
  copier_.holds = true;
  Ask(2);
  // The same span twice in one prompt: one stored block, two places.
  wire::Descriptor hit = node_->Fill(0, SlotAt(2), 'a');
  wire::Descriptor again = hit;
  again.index = 1;
  Reply(Asked(), {hit, again});
  Settle();
  EXPECT_FALSE(answer_.has_value()) << "nothing is handed over before it is verified";
  copier_.Release();
  ASSERT_TRUE(RunUntilTold());
  EXPECT_EQ(ResultOf(0), KeyResult::kHit);
  EXPECT_EQ(ResultOf(1), KeyResult::kHit);
  EXPECT_EQ(copier_.sums, 1);
  EXPECT_EQ(stats().sums_shared, 1u);
}

TEST_F(BlockVerifierTest, AFlippedBitIsAMissAndASuspect) {
  UpLocal();
  Ask(2);
  const wire::Descriptor bad = node_->Fill(0, SlotAt(0), 'a');
  const wire::Descriptor good = node_->Fill(1, SlotAt(1), 'b');
  node_->SlotBytes(SlotAt(0))[77] ^= std::byte{4};
  Reply(Asked(), {bad, good});
  ASSERT_TRUE(RunUntilTold());
  EXPECT_EQ(ResultOf(0), KeyResult::kCorrupt);
  EXPECT_TRUE(answer_->keys[0].block.bytes.empty());
  EXPECT_EQ(ResultOf(1), KeyResult::kHit);
  Settle();
  const auto suspect = wire::DecodeSuspect(node_->Last(wire::Type::kSuspect));
  EXPECT_EQ(suspect->pin, PinId(5));
  EXPECT_EQ(suspect->index, 0u);
  EXPECT_EQ(node_->Count(wire::Type::kSuspect), 1u);
  EXPECT_EQ(stats().suspects_sent, 1u);
  EXPECT_EQ(stats().of(KeyResult::kCorrupt), 1u);
}

TEST_F(BlockVerifierTest, ASharedSumIsSuspectedOnce) {
  UpLocal();
  Ask(2);
  wire::Descriptor hit = node_->Fill(0, SlotAt(0), 'a');
  node_->SlotBytes(SlotAt(0))[77] ^= std::byte{4};
  wire::Descriptor again = hit;
  again.index = 1;
  Reply(Asked(), {hit, again});
  ASSERT_TRUE(RunUntilTold());
  EXPECT_EQ(ResultOf(1), KeyResult::kCorrupt);
  EXPECT_EQ(Released(), std::vector<PinId>{PinId(5)}) << "nothing hit: nothing is held";
  EXPECT_EQ(node_->Count(wire::Type::kSuspect), 1u);
}

TEST_F(BlockVerifierTest, ASlotReusedWhileItIsSummedIsStale) {
  UpLocal();
  copier_.holds = true;
  Ask(1);
  Reply(Asked(), {node_->Fill(0, SlotAt(0), 'a')});
  Settle();
  node_->Fill(0, SlotAt(0), 'b');
  copier_.Release();
  ASSERT_TRUE(RunUntilTold());
  EXPECT_EQ(ResultOf(0), KeyResult::kStale);
  Settle();
  EXPECT_EQ(node_->Count(wire::Type::kSuspect), 0u) << "the word changed: no one's bytes are bad";
}

TEST_F(BlockVerifierTest, ASlotWhoseWordMovedIsStaleThoughItsBytesAreRight) {
  UpLocal();
  copier_.holds = true;
  Ask(1);
  Reply(Asked(), {node_->Fill(0, SlotAt(0), 'a')});
  Settle();
  node_->Advance(SlotAt(0));
  copier_.Release();
  ASSERT_TRUE(RunUntilTold());
  EXPECT_EQ(ResultOf(0), KeyResult::kStale);
}

TEST_F(BlockVerifierTest, AFullCopierIsAMiss) {
  UpLocal();
  copier_.refuses = true;
  HitOne(0, 'a');
  EXPECT_EQ(ResultOf(0), KeyResult::kBusy);
  EXPECT_EQ(Released(), std::vector<PinId>{PinId(5)});
}

TEST_F(BlockVerifierTest, ACheckAfterAReadFindsTheReuse) {
  UpLocal();
  HitOne(0, 'a');
  std::vector<HitBlock> hits = {answer_->keys[0].block};
  EXPECT_TRUE(StillValid(hits));
  node_->Fill(0, SlotAt(0), 'b');
  EXPECT_FALSE(StillValid(hits));
}

TEST_F(BlockVerifierTest, ForgottenSlotsAreSummedAgain) {
  options_.verified_slots_max = 1;
  UpLocal();
  Ask(1);
  const wire::Descriptor first = node_->Fill(0, SlotAt(0), 'a');
  Reply(Asked(), {first});
  ASSERT_TRUE(RunUntilTold());
  HitOne(1, 'b', PinId(6));
  EXPECT_EQ(stats().verified_evicted, 1u);
  Ask(1);
  Reply(Asked(), {first}, PinId(7));
  ASSERT_TRUE(RunUntilTold());
  EXPECT_EQ(copier_.sums, 3);
}

TEST_F(BlockVerifierTest, AnotherArenaVerifiesItsOwnSlots) {
  UpLocal();
  HitOne(0, 'a');
  answer_.reset();
  CrashNode();
  ASSERT_TRUE(world_.RunUntil([&] { return !client_->has_session(); }, absl::Seconds(2)));
  NewNode();
  node_->script().arena_boot = {13, 14};
  node_->Listen("");
  ASSERT_TRUE(RunUntilUp());
  seen_ = 0;
  HitOne(0, 'a');  // same slot, same generation, same bytes
  EXPECT_EQ(copier_.sums, 2);
}

TEST_F(BlockVerifierTest, AHitOfAnotherSizeThanTheIdentitysIsCorrupt) {
  UpLocal();
  Ask(AcquireRequest{.keys = Keys(2),
                     .kinds = {EntryKind::kKvBlock, EntryKind::kState},
                     .deadline = After(absl::Seconds(1))});
  Reply(Asked(), {node_->Fill(0, SlotAt(0), 'a', 2048), node_->Fill(1, SlotAt(1), 'b', 2048)});
  ASSERT_TRUE(RunUntilTold());
  EXPECT_EQ(ResultOf(0), KeyResult::kCorrupt);
  EXPECT_EQ(ResultOf(1), KeyResult::kHit) << "a state has its own size";
}

}  // namespace
}  // namespace cairn
