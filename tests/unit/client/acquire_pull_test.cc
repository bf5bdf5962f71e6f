#include "tests/unit/client/pull_world.h"

// ACQUIRE that pulls what it finds.
namespace cairn {
namespace {

using AcquirePullTest = PullWorld;

TEST_F(AcquirePullTest, AnAcquireMayPullInOneRoundTrip) {
  UpRemote();
  AskPull(3);
  const wire::Acquire asked = Asked();
  EXPECT_EQ(asked.want, wire::Want::kPull);
  Reply(asked.request, {HitOf(0), HitOf(2)});
  SendData(asked.request, 0);
  SendData(asked.request, 2);
  ASSERT_TRUE(RunUntilTold());
  EXPECT_EQ(ResultOf(0), KeyResult::kHit);
  EXPECT_EQ(ResultOf(1), KeyResult::kAbsent);
  EXPECT_EQ(ResultOf(2), KeyResult::kHit);
  const HitBlock& block = answer_->keys[2].block;
  EXPECT_FALSE(block.in_place);
  EXPECT_EQ(block.bytes.data(), &landing_[2 * kBlock]);
  EXPECT_EQ(block.bytes.size(), kBlock);
  EXPECT_EQ(LandedByte(2), 's');
  EXPECT_TRUE(StillValid({block}));
  EXPECT_FALSE(answer_->pin.is_held()) << "the bytes are ours";
  ExpectAllReturned(3);
  Settle();
  EXPECT_EQ(node_->Count(wire::Type::kRelease), 1u);
  EXPECT_EQ(stats().pulled_bytes, 2 * kBlock);
  EXPECT_EQ(stats().landings_on_loan, 0u);
}

TEST_F(AcquirePullTest, DataMayComeBeforeTheAnswer) {
  UpRemote();
  AskPull(2);
  const wire::Acquire asked = Asked();
  SendData(asked.request, 0);
  SendData(asked.request, 1);
  Settle();
  EXPECT_FALSE(answer_.has_value());
  Reply(asked.request, {HitOf(0)});
  ASSERT_TRUE(RunUntilTold());
  EXPECT_EQ(ResultOf(0), KeyResult::kHit);
  EXPECT_EQ(ResultOf(1), KeyResult::kAbsent) << "the answer decides";
  ExpectAllReturned(2);
}

TEST_F(AcquirePullTest, AllMissesReturnEveryTarget) {
  UpRemote();
  AskPull(2);
  Reply(Asked().request, {});
  ASSERT_TRUE(RunUntilTold());
  EXPECT_EQ(ResultOf(1), KeyResult::kAbsent);
  ExpectAllReturned(2);
}

TEST_F(AcquirePullTest, ARefusedAcquireReturnsEveryTarget) {
  UpRemote();
  AskPull(2);
  node_->Say(wire::Type::kAcquired,
             wire::Encode(wire::Acquired{.request = Asked().request,
                                         .result = wire::AcquireResult::kOverloaded}));
  ASSERT_TRUE(RunUntilTold());
  EXPECT_EQ(ResultOf(1), KeyResult::kRefused);
  ExpectAllReturned(2);
}

TEST_F(AcquirePullTest, OfflineReturnsEveryTarget) {
  node_->Listen("127.0.0.1:0");
  StartRemote();
  AskPull(2);
  ASSERT_TRUE(RunUntilTold());
  EXPECT_EQ(ResultOf(0), KeyResult::kOffline);
  ExpectAllReturned(2);
}

TEST_F(AcquirePullTest, WhatHasLandedByTheDeadlineIsHit) {
  UpRemote();
  AskPull(2, absl::Milliseconds(20));
  const wire::Acquire asked = Asked();
  Reply(asked.request, {HitOf(0), HitOf(1)});
  SendData(asked.request, 1);
  ASSERT_TRUE(RunUntilTold());
  EXPECT_EQ(ResultOf(0), KeyResult::kDeadline);
  EXPECT_EQ(ResultOf(1), KeyResult::kHit);
  ExpectAllReturned(2);
}

TEST_F(AcquirePullTest, TheDeadlineEndsTheCallButNotTheLoan) {
  UpRemote();
  network_.HoldBulk();
  AskAndSend(absl::Milliseconds(20));
  ASSERT_TRUE(RunUntilTold());
  EXPECT_EQ(ResultOf(0), KeyResult::kDeadline);
  EXPECT_EQ(returned_[0], 0) << "late bytes may still land";
  EXPECT_EQ(stats().landings_on_loan, 1u);
  network_.ReleaseBulk();
  Settle();
  EXPECT_EQ(returned_[0], 1);
  EXPECT_EQ(stats().landings_on_loan, 0u);
}

TEST_F(AcquirePullTest, ADeadlineWhileSummingKeepsTheLoan) {
  UpRemote();
  copier_.holds = true;
  AskAndSend(absl::Milliseconds(20));
  ASSERT_TRUE(RunUntilTold());
  EXPECT_EQ(ResultOf(0), KeyResult::kDeadline);
  EXPECT_EQ(returned_[0], 0);
  copier_.Release();
  Settle();
  EXPECT_EQ(returned_[0], 1);
}

TEST_F(AcquirePullTest, WrongBytesAreCorruptAndSuspected) {
  UpRemote();
  AskPull(1);
  const wire::Acquire asked = Asked();
  wire::Descriptor hit = HitOf(0);
  hit.checksum = Checksum(1);
  Reply(asked.request, {hit});
  SendData(asked.request, 0);
  ASSERT_TRUE(RunUntilTold());
  EXPECT_EQ(ResultOf(0), KeyResult::kCorrupt);
  ExpectAllReturned(1);
  Settle();
  const auto suspect = wire::DecodeSuspect(node_->Last(wire::Type::kSuspect));
  EXPECT_EQ(suspect->pin, PinId(5));
  EXPECT_EQ(suspect->index, 0u);
}

TEST_F(AcquirePullTest, AFullCopierIsAMiss) {
  UpRemote();
  copier_.refuses = true;
  AskAndSend();
  ASSERT_TRUE(RunUntilTold());
  EXPECT_EQ(ResultOf(0), KeyResult::kBusy);
  ExpectAllReturned(1);
}

TEST_F(AcquirePullTest, AnEntryLargerThanItsTargetIsAMiss) {
  UpRemote();
  AskAndSend(absl::Seconds(1), kBlock / 2);
  ASSERT_TRUE(RunUntilTold());
  EXPECT_EQ(ResultOf(0), KeyResult::kPullFailed);
  ExpectAllReturned(1);
  Settle();
  EXPECT_EQ(stats().landings_refused, 1u);
  EXPECT_EQ(LandedByte(0), 0) << "not one byte has landed";
}

TEST_F(AcquirePullTest, AHitOfAnotherSizeThanTheIdentitysIsCorrupt) {
  options_.block_bytes = kBlock / 2;
  UpRemote();
  AskPull(1);
  const wire::Acquire asked = Asked();
  Reply(asked.request, {HitOf(0)});  // of kBlock bytes, and sound
  SendData(asked.request, 0);
  ASSERT_TRUE(RunUntilTold());
  EXPECT_EQ(ResultOf(0), KeyResult::kCorrupt);
  Settle();
  ExpectAllReturned(1);
  EXPECT_EQ(node_->Count(wire::Type::kRelease), 1u) << "nothing is held";
}

TEST_F(AcquirePullTest, AFailedTransferIsAMiss) {
  UpRemote();
  network_.SetFaults({.bulk_failures_per_million = 1'000'000});
  AskAndSend();
  ASSERT_TRUE(RunUntilTold());
  EXPECT_EQ(ResultOf(0), KeyResult::kPullFailed);
  ExpectAllReturned(1);
}

TEST_F(AcquirePullTest, TheLossOfTheSessionAnswersAtOnceAndTheLoanEndsLater) {
  UpRemote();
  network_.HoldBulk();
  AskPull(2, absl::Seconds(100));
  const wire::Acquire asked = Asked();
  Reply(asked.request, {HitOf(0), HitOf(1)});
  SendData(asked.request, 0);
  Settle();
  node_->CloseEndpoint();
  ASSERT_TRUE(RunUntilTold());
  EXPECT_EQ(ResultOf(0), KeyResult::kPullFailed) << "its transfer failed first";
  EXPECT_EQ(ResultOf(1), KeyResult::kLost);
  Settle();
  ExpectAllReturned(2);
}

TEST_F(AcquirePullTest, StopWaitsForALandingThatIsUnderWay) {
  UpRemote();
  network_.HoldBulk();
  AskAndSend(absl::Seconds(100));
  Settle();
  bool is_done = false;
  client_->Stop([&] {
    is_done = true;
    EXPECT_EQ(returned_[0], 1) << "no loan outlives Stop";
  });
  ASSERT_TRUE(world_.RunUntil([&] { return is_done; }, absl::Seconds(5)));
  client_.reset();
}

}  // namespace
}  // namespace cairn
