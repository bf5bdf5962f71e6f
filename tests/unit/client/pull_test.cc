#include "libs/client/pull_calls.h"

#include <cstring>

#include "tests/unit/client/client_world.h"

namespace cairn {
namespace {

class PullTest : public ClientWorld {
 protected:
  static constexpr std::size_t kTargets = 4;

  PullTest() : landing_(kTargets * kBlock), sent_(kBlock) {
    std::memset(sent_.data(), 's', sent_.size());
  }
  PullTarget Target(std::size_t i, std::uint64_t bytes = kBlock) {
    return PullTarget{absl::MakeSpan(landing_).subspan(i * kBlock, bytes),
                      [this, i] { ++returned_[i]; }};
  }
  char LandedByte(std::size_t target) const {
    return static_cast<char>(landing_[target * kBlock + 11]);
  }
  // ACQUIRE that wants to pull `count` keys into the first targets.
  void AskPull(std::size_t count, absl::Duration within = absl::Seconds(1),
               std::uint64_t target_bytes = kBlock) {
    AcquireRequest request;
    request.deadline = After(within);
    request.want = wire::Want::kPull;
    for (std::size_t i = 0; i < count; ++i) {
      request.keys.push_back(TestDigest(static_cast<std::uint8_t>(i)));
      request.targets.push_back(Target(i, target_bytes));
    }
    client_->Acquire(std::move(request),
                     [this](AcquireAnswer answer) { answer_ = std::move(answer); });
  }
  wire::Acquire Asked() {
    EXPECT_TRUE(world_.RunUntil([&] { return node_->Count(wire::Type::kAcquire) > 0; },
                                absl::Seconds(1)));
    return *wire::DecodeAcquire(node_->Last(wire::Type::kAcquire));
  }
  wire::Descriptor HitOf(std::uint32_t index) {
    wire::Descriptor hit;
    hit.index = index;
    hit.bytes = kBlock;
    hit.checksum = ChecksumOf(sent_);
    hit.depth = 16;
    return hit;
  }
  void Reply(RequestId request, std::vector<wire::Descriptor> hits) {
    wire::Acquired m;
    m.request = request;
    m.pin = hits.empty() ? PinId(0) : PinId(5);
    m.hits = std::move(hits);
    node_->Say(wire::Type::kAcquired, wire::Encode(m));
  }
  void SendData(RequestId request, std::uint32_t index) {
    node_->SayBulk(
        wire::Type::kPullData,
        wire::Encode(wire::PullData{request, index, sent_.size(), ChecksumOf(sent_)}), sent_);
  }
  bool RunUntilTold() {
    return world_.RunUntil([this] { return answer_.has_value(); }, absl::Seconds(5));
  }
  KeyResult ResultOf(std::size_t key) const { return answer_->keys[key].result; }
  // A pin of the live session, by an ACQUIRE in place; `count` remote hits.
  HeldPin Pinned(std::uint32_t count) {
    AcquireRequest request;
    request.deadline = After(absl::Seconds(1));
    std::vector<wire::Descriptor> hits;
    for (std::uint32_t i = 0; i < count; ++i) {
      request.keys.push_back(TestDigest(static_cast<std::uint8_t>(i)));
      hits.push_back(HitOf(i));
    }
    client_->Acquire(std::move(request),
                     [this](AcquireAnswer answer) { answer_ = std::move(answer); });
    Reply(Asked().request, hits);
    EXPECT_TRUE(RunUntilTold());
    for (std::uint32_t i = 0; i < count; ++i) {
      EXPECT_EQ(ResultOf(i), KeyResult::kHit);
      EXPECT_TRUE(answer_->keys[i].block.bytes.empty());
      EXPECT_EQ(answer_->keys[i].entry_bytes, kBlock);
    }
    EXPECT_EQ(answer_->mapping, nullptr);
    return std::move(answer_->pin);
  }
  std::vector<PullItem> Items(std::uint32_t count) {
    std::vector<PullItem> items;
    for (std::uint32_t i = 0; i < count; ++i) {
      items.push_back(PullItem{i, kBlock, ChecksumOf(sent_), Target(i)});
    }
    return items;
  }
  void Pull(const HeldPin& pin, std::uint32_t count, absl::Duration within = absl::Seconds(1)) {
    client_->Pull(pin, Items(count), After(within),
                  [this](std::vector<KeyResult> results) { pulled_ = std::move(results); });
    EXPECT_FALSE(pulled_.has_value()) << "told inside the call";
  }
  wire::Pull PullAsked() {
    EXPECT_TRUE(world_.RunUntil([&] { return node_->Count(wire::Type::kPull) > 0; },
                                absl::Seconds(1)));
    return *wire::DecodePull(node_->Last(wire::Type::kPull));
  }
  bool RunUntilPulled() {
    return world_.RunUntil([this] { return pulled_.has_value(); }, absl::Seconds(5));
  }
  void ExpectAllReturned(std::size_t count) {
    for (std::size_t i = 0; i < kTargets; ++i) EXPECT_EQ(returned_[i], i < count ? 1 : 0) << i;
  }

  std::vector<std::byte> landing_;
  std::vector<std::byte> sent_;
  int returned_[kTargets] = {};
  std::optional<AcquireAnswer> answer_;
  std::optional<std::vector<KeyResult>> pulled_;
};

TEST_F(PullTest, AnAcquireMayPullInOneRoundTrip) {
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

TEST_F(PullTest, DataMayComeBeforeTheAnswer) {
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

TEST_F(PullTest, AllMissesReturnEveryTarget) {
  UpRemote();
  AskPull(2);
  Reply(Asked().request, {});
  ASSERT_TRUE(RunUntilTold());
  EXPECT_EQ(ResultOf(1), KeyResult::kAbsent);
  ExpectAllReturned(2);
}

TEST_F(PullTest, ARefusedAcquireReturnsEveryTarget) {
  UpRemote();
  AskPull(2);
  node_->Say(wire::Type::kAcquired,
             wire::Encode(wire::Acquired{.request = Asked().request,
                                         .result = wire::AcquireResult::kOverloaded}));
  ASSERT_TRUE(RunUntilTold());
  EXPECT_EQ(ResultOf(1), KeyResult::kRefused);
  ExpectAllReturned(2);
}

TEST_F(PullTest, OfflineReturnsEveryTarget) {
  node_->Listen("127.0.0.1:0");
  StartRemote();
  AskPull(2);
  ASSERT_TRUE(RunUntilTold());
  EXPECT_EQ(ResultOf(0), KeyResult::kOffline);
  ExpectAllReturned(2);
}

TEST_F(PullTest, WhatHasLandedByTheDeadlineIsHit) {
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

TEST_F(PullTest, TheDeadlineEndsTheCallButNotTheLoan) {
  UpRemote();
  network_.HoldBulk();
  AskPull(1, absl::Milliseconds(20));
  const wire::Acquire asked = Asked();
  Reply(asked.request, {HitOf(0)});
  SendData(asked.request, 0);
  ASSERT_TRUE(RunUntilTold());
  EXPECT_EQ(ResultOf(0), KeyResult::kDeadline);
  EXPECT_EQ(returned_[0], 0) << "late bytes may still land";
  EXPECT_EQ(stats().landings_on_loan, 1u);
  network_.ReleaseBulk();
  Settle();
  EXPECT_EQ(returned_[0], 1);
  EXPECT_EQ(stats().landings_on_loan, 0u);
}

TEST_F(PullTest, ADeadlineWhileSummingKeepsTheLoan) {
  UpRemote();
  copier_.holds = true;
  AskPull(1, absl::Milliseconds(20));
  const wire::Acquire asked = Asked();
  Reply(asked.request, {HitOf(0)});
  SendData(asked.request, 0);
  ASSERT_TRUE(RunUntilTold());
  EXPECT_EQ(ResultOf(0), KeyResult::kDeadline);
  EXPECT_EQ(returned_[0], 0);
  copier_.Release();
  Settle();
  EXPECT_EQ(returned_[0], 1);
}

TEST_F(PullTest, WrongBytesAreCorruptAndSuspected) {
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

TEST_F(PullTest, AFullCopierIsAMiss) {
  UpRemote();
  copier_.refuses = true;
  AskPull(1);
  const wire::Acquire asked = Asked();
  Reply(asked.request, {HitOf(0)});
  SendData(asked.request, 0);
  ASSERT_TRUE(RunUntilTold());
  EXPECT_EQ(ResultOf(0), KeyResult::kBusy);
  ExpectAllReturned(1);
}

TEST_F(PullTest, AnEntryLargerThanItsTargetIsAMiss) {
  UpRemote();
  AskPull(1, absl::Seconds(1), kBlock / 2);
  const wire::Acquire asked = Asked();
  Reply(asked.request, {HitOf(0)});
  SendData(asked.request, 0);
  ASSERT_TRUE(RunUntilTold());
  EXPECT_EQ(ResultOf(0), KeyResult::kPullFailed);
  ExpectAllReturned(1);
  Settle();
  EXPECT_EQ(stats().landings_refused, 1u);
  EXPECT_EQ(LandedByte(0), 0) << "not one byte has landed";
}

TEST_F(PullTest, AHitOfAnotherSizeThanTheIdentitysIsCorrupt) {
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

TEST_F(PullTest, AFailedTransferIsAMiss) {
  UpRemote();
  network_.SetFaults({.bulk_failures_per_million = 1'000'000});
  AskPull(1);
  const wire::Acquire asked = Asked();
  Reply(asked.request, {HitOf(0)});
  SendData(asked.request, 0);
  ASSERT_TRUE(RunUntilTold());
  EXPECT_EQ(ResultOf(0), KeyResult::kPullFailed);
  ExpectAllReturned(1);
}

TEST_F(PullTest, TheLossOfTheSessionAnswersAtOnceAndTheLoanEndsLater) {
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

TEST_F(PullTest, StopWaitsForALandingThatIsUnderWay) {
  UpRemote();
  network_.HoldBulk();
  AskPull(1, absl::Seconds(100));
  const wire::Acquire asked = Asked();
  Reply(asked.request, {HitOf(0)});
  SendData(asked.request, 0);
  Settle();
  bool is_done = false;
  client_->Stop([&] {
    is_done = true;
    EXPECT_EQ(returned_[0], 1) << "no loan outlives Stop";
  });
  ASSERT_TRUE(world_.RunUntil([&] { return is_done; }, absl::Seconds(5)));
  client_.reset();
}

// ---- PULL ----

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
