#include "libs/client/pull_calls.h"

#include "tests/unit/client/pull_world.h"

namespace cairn {
namespace {

using PullTest = PullWorld;

TEST_F(PullTest, PullFetchesWhatAnAcquireFound) {
  UpRemote();
  const HeldPin pin = Pinned(2);
  Pull(pin, 2);
  const wire::Pull asked = PullAsked();
  EXPECT_EQ(asked.pin, PinId(5));
  EXPECT_EQ(asked.indices, (std::vector<std::uint32_t>{0, 1}));
  SendData(asked.request, 1);
  SendData(asked.request, 0);
  ASSERT_TRUE(RunUntilPulled());
  EXPECT_EQ(*pulled_, (std::vector<KeyResult>{KeyResult::kHit, KeyResult::kHit}));
  EXPECT_EQ(LandedByte(1), 's');
  ExpectAllReturned(2);
  EXPECT_TRUE(pin.is_held());
}

TEST_F(PullTest, APullThatTheNodeGivesUpIsAMiss) {
  UpRemote();
  const HeldPin pin = Pinned(2);
  Pull(pin, 2);
  const wire::Pull asked = PullAsked();
  node_->Say(wire::Type::kPullFailed,
             wire::Encode(wire::PullFailed{asked.request, 1, wire::PullFailure::kGone}));
  node_->Say(wire::Type::kPullFailed,  // once more, and for nobody: late words
             wire::Encode(wire::PullFailed{asked.request, 1, wire::PullFailure::kGone}));
  node_->Say(wire::Type::kPullFailed,
             wire::Encode(wire::PullFailed{RequestId(9999), 1, wire::PullFailure::kGone}));
  SendData(asked.request, 0);
  ASSERT_TRUE(RunUntilPulled());
  EXPECT_EQ(*pulled_, (std::vector<KeyResult>{KeyResult::kHit, KeyResult::kPullFailed}));
  ExpectAllReturned(2);
  EXPECT_EQ(stats().pulls, 2u);
  EXPECT_EQ(stats().pulls_failed, 1u);
}

TEST_F(PullTest, APullEndsAtItsDeadline) {
  UpRemote();
  const HeldPin pin = Pinned(1);
  Pull(pin, 1, absl::Milliseconds(20));
  ASSERT_TRUE(RunUntilPulled());
  EXPECT_EQ(*pulled_, std::vector<KeyResult>{KeyResult::kDeadline});
  ExpectAllReturned(1);
}

TEST_F(PullTest, ADeadlineBeforeThePullIsAMiss) {
  UpRemote();
  const HeldPin pin = Pinned(1);
  Pull(pin, 1, absl::ZeroDuration());
  ASSERT_TRUE(RunUntilPulled());
  EXPECT_EQ(*pulled_, std::vector<KeyResult>{KeyResult::kDeadline});
  ExpectAllReturned(1);
}

TEST_F(PullTest, APullOfNothingIsAnswered) {
  UpRemote();
  const HeldPin pin = Pinned(1);
  Pull(pin, 0);
  ASSERT_TRUE(RunUntilPulled());
  EXPECT_TRUE(pulled_->empty());
}

TEST_F(PullTest, AnOldPinPullsNothing) {
  UpRemote();
  const HeldPin pin = Pinned(1);
  node_->CloseEndpoint();
  ASSERT_TRUE(world_.RunUntil([&] { return !client_->has_session(); }, absl::Seconds(2)));
  Pull(pin, 1);
  ASSERT_TRUE(RunUntilPulled());
  EXPECT_EQ(*pulled_, std::vector<KeyResult>{KeyResult::kOffline});
  ASSERT_TRUE(RunUntilUp());
  pulled_.reset();
  Pull(pin, 1);
  ASSERT_TRUE(RunUntilPulled());
  EXPECT_EQ(*pulled_, std::vector<KeyResult>{KeyResult::kLost});
  EXPECT_EQ(node_->Count(wire::Type::kPull), 0u);
  EXPECT_EQ(returned_[0], 2);
}

TEST_F(PullTest, APullThatCannotBeSentIsTold) {
  UpRemote();
  const HeldPin pin = Pinned(1);
  send_error_ = absl::ResourceExhaustedError("full");
  Pull(pin, 1);
  ASSERT_TRUE(RunUntilPulled());
  EXPECT_EQ(*pulled_, std::vector<KeyResult>{KeyResult::kBusy});
  pulled_.reset();
  send_error_ = absl::NotFoundError("the endpoint is closed");
  Pull(pin, 1);
  ASSERT_TRUE(RunUntilPulled());
  EXPECT_EQ(*pulled_, std::vector<KeyResult>{KeyResult::kLost});
  EXPECT_EQ(returned_[0], 2);
}

TEST_F(PullTest, PullsAreCapped) {
  options_.calls_max = 1;
  UpRemote();
  const HeldPin pin = Pinned(1);
  client_->Pull(pin, Items(1), After(absl::Seconds(1)), [](std::vector<KeyResult>) {});
  Pull(pin, 1);
  world_.RunFor(absl::Milliseconds(1));
  ASSERT_TRUE(pulled_.has_value());
  EXPECT_EQ(*pulled_, std::vector<KeyResult>{KeyResult::kBusy});
}

// ---- bulk that no node sends ----

TEST_F(PullTest, BulkThatNobodyWaitsForIsRefused) {
  UpRemote();
  SendData(RequestId(77), 0);
  Settle();
  EXPECT_EQ(stats().landings_refused, 1u);
  EXPECT_TRUE(client_->has_session());
  ASSERT_EQ(node_->bulks_sent().size(), 1u);
  EXPECT_FALSE(node_->bulks_sent()[0].ok());
}

TEST_F(PullTest, ASecondDataOfAnEntryIsRefused) {
  UpRemote();
  AskPull(1);
  const wire::Acquire asked = Asked();
  SendData(asked.request, 0);
  SendData(asked.request, 0);
  Settle();
  EXPECT_EQ(stats().landings_refused, 1u);
  Reply(asked.request, {HitOf(0)});
  ASSERT_TRUE(RunUntilTold());
  EXPECT_EQ(ResultOf(0), KeyResult::kHit);
}

TEST_F(PullTest, AHeaderThatLiesAboutItsSizeEndsTheSession) {
  UpRemote();
  AskPull(1);
  const wire::Acquire asked = Asked();
  node_->SayBulk(wire::Type::kPullData,
                 wire::Encode(wire::PullData{asked.request, 0, kBlock + 1, Checksum(1)}), sent_);
  ASSERT_TRUE(RunUntilTold());
  EXPECT_EQ(ResultOf(0), KeyResult::kLost);
  EXPECT_EQ(stats().protocol_errors, 1u);
  Settle();
  ExpectAllReturned(1);
}

TEST_F(PullTest, ANoiseHeaderEndsTheSession) {
  UpRemote();
  node_->SayBulk(wire::Type::kPullData, "noise", sent_);
  ASSERT_TRUE(world_.RunUntil([&] { return !client_->has_session(); }, absl::Seconds(2)));
  EXPECT_EQ(stats().protocol_errors, 1u);
}

TEST_F(PullTest, BulkOfAnotherTypeEndsTheSession) {
  UpRemote();
  node_->SayBulk(wire::Type::kOfferData, wire::Encode(wire::OfferData{}), sent_);
  ASSERT_TRUE(world_.RunUntil([&] { return !client_->has_session(); }, absl::Seconds(2)));
  EXPECT_EQ(stats().protocol_errors, 1u);
}

}  // namespace
}  // namespace cairn
