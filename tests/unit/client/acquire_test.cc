#include "libs/client/acquire_calls.h"

#include "libs/base/limits.h"
#include "tests/unit/client/acquire_world.h"

namespace cairn {
namespace {

using AcquireTest = AcquireWorld;

TEST_F(AcquireTest, HitsAreReadInPlaceAndHolesAreLegal) {
  UpLocal();
  Ask(4);
  const wire::Acquire asked = Asked();
  EXPECT_EQ(asked.keys, Keys(4));
  EXPECT_EQ(asked.want, wire::Want::kPlace);
  EXPECT_GT(asked.remaining_us, 900'000u);
  EXPECT_LE(asked.remaining_us, 1'000'000u);
  Reply(asked, {node_->Fill(1, SlotAt(0), 'a'), node_->Fill(3, SlotAt(7), 'b')});
  ASSERT_TRUE(RunUntilTold());
  EXPECT_EQ(ResultOf(0), KeyResult::kAbsent);
  EXPECT_EQ(ResultOf(1), KeyResult::kHit);
  EXPECT_EQ(ResultOf(2), KeyResult::kAbsent);
  EXPECT_EQ(ResultOf(3), KeyResult::kHit);
  const HitBlock& block = answer_->keys[3].block;
  ASSERT_EQ(block.bytes.size(), kBlock);
  EXPECT_EQ(static_cast<char>(block.bytes[100]), 'b');
  EXPECT_EQ(block.depth, 64u);
  EXPECT_TRUE(StillValid({block}));
  EXPECT_TRUE(answer_->pin.is_held());
  ASSERT_NE(answer_->mapping, nullptr);
  EXPECT_EQ(answer_->mapping->arena_boot(), (BootId{3, 4}));
  EXPECT_FALSE(answer_->mapping->lost_at().has_value());
  EXPECT_EQ(stats().of(KeyResult::kHit), 2u);
  EXPECT_EQ(stats().of(KeyResult::kAbsent), 2u);
  EXPECT_EQ(stats().keys_asked, 4u);
}

TEST_F(AcquireTest, APromptsLengthAndItsBlocksEndsTravelAndTheOverlapComesBack) {
  UpLocal();
  AcquireRequest request{.keys = Keys(2), .deadline = After(absl::Seconds(1))};
  request.prompt_tokens = 30;
  request.ends = {16, 30};
  Ask(std::move(request));
  const wire::Acquire asked = Asked();
  EXPECT_EQ(asked.prompt_tokens, 30u);
  EXPECT_EQ(asked.ends, (std::vector<std::uint32_t>{16, 30}));
  wire::Acquired m;
  m.request = asked.request;
  m.family = 77;
  m.overlap_depth = 16;
  node_->Say(wire::Type::kAcquired, wire::Encode(m));
  ASSERT_TRUE(RunUntilTold());
  EXPECT_EQ(answer_->family, 77u);
  EXPECT_EQ(answer_->overlap_depth, 16u);
}

TEST_F(AcquireTest, AnOverlapBeyondThePromptIsNone) {
  UpLocal();
  Ask(1);
  wire::Acquired m;
  m.request = Asked().request;
  m.family = 7;
  m.overlap_depth = 1;  // of a prompt that the node knows nothing of
  node_->Say(wire::Type::kAcquired, wire::Encode(m));
  ASSERT_TRUE(RunUntilTold());
  EXPECT_EQ(ResultOf(0), KeyResult::kAbsent) << "advice is not worth a session";
  EXPECT_EQ(answer_->family, 0u);
  EXPECT_EQ(answer_->overlap_depth, 0u);
}

TEST_F(AcquireTest, APinEndsByAgeCountedFromTheAsking) {
  UpLocal();
  const Instant asked_at = loop_.Now();
  HitOne(0, 'a');
  EXPECT_GE(answer_->pin_ends_at, asked_at + absl::Seconds(60));
  EXPECT_LE(answer_->pin_ends_at, asked_at + absl::Seconds(60) + absl::Microseconds(100));
}

TEST_F(AcquireTest, AllMissesHoldNothing) {
  UpLocal();
  Ask(2);
  Reply(Asked(), {});
  ASSERT_TRUE(RunUntilTold());
  EXPECT_EQ(ResultOf(0), KeyResult::kAbsent);
  EXPECT_FALSE(answer_->pin.is_held());
  EXPECT_EQ(answer_->mapping, nullptr);
  EXPECT_TRUE(Released().empty());
}

TEST_F(AcquireTest, NoKeysIsAnAnswerAtOnce) {
  UpLocal();
  Ask(0);
  ASSERT_TRUE(RunUntilTold());
  EXPECT_TRUE(answer_->keys.empty());
  EXPECT_EQ(node_->Count(wire::Type::kAcquire), 0u);
}

TEST_F(AcquireTest, OfflineIsAMiss) {
  StartLocal();
  Ask(3);
  ASSERT_TRUE(RunUntilTold());
  EXPECT_EQ(ResultOf(2), KeyResult::kOffline);
  EXPECT_EQ(stats().of(KeyResult::kOffline), 3u);
}

TEST_F(AcquireTest, AStoppingClientIsOffline) {
  UpLocal();
  Ask(1);
  bool is_done = false;
  client_->Stop([&] { is_done = true; });
  EXPECT_TRUE(answer_.has_value()) << "told when the session ended";
  EXPECT_EQ(ResultOf(0), KeyResult::kLost);
  Ask(1);
  ASSERT_TRUE(world_.RunUntil([&] { return is_done; }, absl::Seconds(1)));
  ASSERT_TRUE(answer_.has_value()) << "Stop waits for callbacks";
  EXPECT_EQ(ResultOf(0), KeyResult::kOffline);
  client_.reset();
}

// ---- deadlines and pins ----

TEST_F(AcquireTest, TheDeadlineEndsACallAndALatePinIsReleased) {
  UpLocal();
  Ask(2, absl::Milliseconds(5));
  const wire::Acquire asked = Asked();
  ASSERT_TRUE(RunUntilTold());
  EXPECT_EQ(ResultOf(0), KeyResult::kDeadline);
  EXPECT_FALSE(answer_->pin.is_held());
  Reply(asked, {node_->Fill(0, SlotAt(0), 'a')});
  EXPECT_EQ(Released(), std::vector<PinId>{PinId(5)});
  EXPECT_EQ(answers_, 1);
  EXPECT_EQ(stats().late_answers, 1u);
  Reply(asked, {});  // late, and nothing to release
  Settle();
  EXPECT_EQ(stats().late_answers, 2u);
  EXPECT_TRUE(client_->has_session());
}

TEST_F(AcquireTest, ADeadlineBeforeTheAskingIsAMiss) {
  UpLocal();
  Ask(1, absl::ZeroDuration());
  ASSERT_TRUE(RunUntilTold());
  EXPECT_EQ(ResultOf(0), KeyResult::kDeadline);
  Settle();
  EXPECT_EQ(node_->Count(wire::Type::kAcquire), 0u);
}

TEST_F(AcquireTest, WhatIsVerifiedByTheDeadlineIsHit) {
  UpLocal();
  Ask(1);
  const wire::Descriptor known = node_->Fill(0, SlotAt(0), 'a');
  Reply(Asked(), {known});
  ASSERT_TRUE(RunUntilTold());
  copier_.holds = true;
  Ask(3, absl::Milliseconds(20));
  Reply(Asked(), {known, node_->Fill(1, SlotAt(1), 'b')}, PinId(6));
  ASSERT_TRUE(RunUntilTold());
  EXPECT_EQ(ResultOf(0), KeyResult::kHit);
  EXPECT_EQ(ResultOf(1), KeyResult::kDeadline);
  EXPECT_TRUE(answer_->keys[1].block.bytes.empty());
  EXPECT_EQ(ResultOf(2), KeyResult::kAbsent);
  EXPECT_TRUE(answer_->pin.is_held());
  copier_.Release();
  Settle();
  EXPECT_EQ(stats().sums_done, 2u) << "it serves the next one";
  EXPECT_EQ(answers_, 2);
}

TEST_F(AcquireTest, AHugeDeadlineIsCutToWhatTravels) {
  UpLocal();
  Ask(1, absl::Hours(10));
  EXPECT_EQ(Asked().remaining_us, limits::kDeadlineMicrosMax);
}

TEST_F(AcquireTest, ADroppedPinIsReleasedByTheTimer) {
  UpLocal();
  HitOne(0, 'a');
  EXPECT_TRUE(Released().empty());
  answer_.reset();
  EXPECT_EQ(Released(), std::vector<PinId>{PinId(5)});
  EXPECT_EQ(node_->Count(wire::Type::kRelease), 1u);
  EXPECT_EQ(stats().pins_released, 1u);
}

TEST_F(AcquireTest, AReleaseRidesOnTheNextAcquire) {
  UpLocal();
  HitOne(0, 'a');
  answer_.reset();
  // The drop arrives as a task; the timer is 5 ms away.
  world_.RunFor(absl::Microseconds(50));
  Ask(1);
  EXPECT_EQ(Asked().released, std::vector<PinId>{PinId(5)});
  Settle();
  EXPECT_EQ(node_->Count(wire::Type::kRelease), 0u);
}

TEST_F(AcquireTest, PinsMoveAndAreReleasedOnce) {
  UpLocal();
  HitOne(0, 'a');
  HeldPin pin = std::move(answer_->pin);
  EXPECT_TRUE(pin.is_held());
  HeldPin other;
  other = std::move(pin);
  EXPECT_FALSE(pin.is_held());  // NOLINT(bugprone-use-after-move)
  answer_.reset();
  EXPECT_TRUE(Released().empty());
  other.Release();
  other.Release();
  EXPECT_EQ(Released(), std::vector<PinId>{PinId(5)});
}

TEST_F(AcquireTest, APinOfAnOldSessionIsNotReleasedInTheNext) {
  UpLocal();
  HitOne(0, 'a');
  node_->CloseChannel();
  ASSERT_TRUE(world_.RunUntil([&] { return !client_->has_session(); }, absl::Seconds(2)));
  ASSERT_TRUE(RunUntilUp());
  answer_.reset();
  EXPECT_TRUE(Released().empty());
  EXPECT_EQ(stats().pins_dropped, 1u);
}

TEST_F(AcquireTest, QueuedReleasesEndWithTheSession) {
  UpLocal();
  HitOne(0, 'a');
  answer_.reset();
  world_.RunFor(absl::Microseconds(50));  // queued, not sent
  node_->CloseChannel();
  ASSERT_TRUE(world_.RunUntil([&] { return !client_->has_session(); }, absl::Milliseconds(4)));
  ASSERT_TRUE(RunUntilUp());
  EXPECT_TRUE(Released().empty());
  EXPECT_EQ(stats().pins_dropped, 1u);
}

TEST_F(AcquireTest, APinMayOutliveTheClient) {
  UpLocal();
  HitOne(0, 'a');
  HeldPin pin = std::move(answer_->pin);
  const std::shared_ptr<const ArenaMapping> mapping = answer_->mapping;
  const HitBlock block = answer_->keys[0].block;
  StopClient();
  EXPECT_TRUE(mapping->lost_at().has_value());
  EXPECT_EQ(static_cast<char>(block.bytes[0]), 'a');
  pin.Release();
  Settle();
}

// ---- limits ----

TEST_F(AcquireTest, CallsInFlightAreCapped) {
  options_.calls_max = 2;
  UpLocal();
  std::vector<KeyResult> told;
  for (int i = 0; i < 3; ++i) {
    client_->Acquire(AcquireRequest{.keys = Keys(1), .deadline = After(absl::Seconds(1))},
                     [&](AcquireAnswer answer) { told.push_back(answer.keys[0].result); });
  }
  Settle();
  EXPECT_EQ(told, std::vector<KeyResult>{KeyResult::kBusy});
  world_.RunFor(absl::Seconds(1));
  EXPECT_EQ(told.size(), 3u);
}

TEST_F(AcquireTest, KeysBeyondAMessageAreMisses) {
  UpLocal();
  Ask(limits::kKeysPerMessageMax + 1);
  const wire::Acquire asked = Asked();
  EXPECT_EQ(asked.keys.size(), limits::kKeysPerMessageMax);
  Reply(asked, {node_->Fill(3, SlotAt(0), 'a')});
  ASSERT_TRUE(RunUntilTold());
  EXPECT_EQ(ResultOf(3), KeyResult::kHit);
  EXPECT_EQ(ResultOf(4), KeyResult::kAbsent);
  EXPECT_EQ(ResultOf(limits::kKeysPerMessageMax), KeyResult::kBusy);
  EXPECT_EQ(stats().of(KeyResult::kBusy), 1u);
}

TEST_F(AcquireTest, AFullEndpointIsAMissAndReleasesWait) {
  UpLocal();
  HitOne(0, 'a');
  answer_.reset();
  world_.RunFor(absl::Microseconds(50));  // the release is queued
  send_error_ = absl::ResourceExhaustedError("full");
  Ask(1);
  ASSERT_TRUE(RunUntilTold());
  EXPECT_EQ(ResultOf(0), KeyResult::kBusy);
  EXPECT_TRUE(Released().empty());
  EXPECT_EQ(stats().pins_released, 0u);
  send_error_ = absl::OkStatus();
  EXPECT_EQ(Released(), std::vector<PinId>{PinId(5)});
  EXPECT_EQ(stats().pins_released, 1u);
}

TEST_F(AcquireTest, AnEndpointThatIsGoneIsALostCall) {
  UpLocal();
  send_error_ = absl::NotFoundError("the endpoint is closed");
  Ask(1);
  ASSERT_TRUE(RunUntilTold());
  EXPECT_EQ(ResultOf(0), KeyResult::kLost);
}

TEST_F(AcquireTest, ASuspectThatCannotBeSentIsLeft) {
  UpLocal();
  copier_.holds = true;
  Ask(1);
  wire::Descriptor hit = node_->Fill(0, SlotAt(0), 'a');
  hit.checksum = Checksum(1);
  Reply(Asked(), {hit});
  Settle();
  send_error_ = absl::ResourceExhaustedError("full");
  copier_.Release();
  ASSERT_TRUE(RunUntilTold());
  EXPECT_EQ(ResultOf(0), KeyResult::kCorrupt);
  EXPECT_EQ(stats().suspects_sent, 0u);
}

}  // namespace
}  // namespace cairn
