// What an ACQUIRE comes to when the session ends, and when the node says what none says.
#include "libs/base/limits.h"
#include "tests/unit/client/acquire_world.h"

namespace cairn {
namespace {

using AcquireLossTest = AcquireWorld;

// ---- loss ----

TEST_F(AcquireLossTest, TheLossOfTheSessionAnswersAtOnce) {
  UpLocal();
  Ask(2, absl::Seconds(100));
  Asked();
  CrashNode();
  ASSERT_TRUE(RunUntilTold());
  EXPECT_EQ(ResultOf(1), KeyResult::kLost);
  EXPECT_EQ(stats().of(KeyResult::kLost), 2u);
}

TEST_F(AcquireLossTest, ARequestKeepsTheMappingItStartedWith) {
  UpLocal();
  HitOne(0, 'a');
  const HitBlock block = answer_->keys[0].block;
  CrashNode();
  ASSERT_TRUE(world_.RunUntil([&] { return !client_->has_session(); }, absl::Seconds(2)));
  ASSERT_TRUE(answer_->mapping->lost_at().has_value());
  EXPECT_LE(*answer_->mapping->lost_at(), loop_.Now());
  EXPECT_TRUE(StillValid({block})) << "a dead node writes no more";
  EXPECT_EQ(static_cast<char>(block.bytes[9]), 'a');
  NewNode();
  node_->Listen("");
  ASSERT_TRUE(RunUntilUp());
  seen_ = 0;
  AcquireAnswer old = *std::move(answer_);
  HitOne(0, 'b');
  EXPECT_NE(answer_->mapping, old.mapping);
  EXPECT_EQ(static_cast<char>(block.bytes[9]), 'a');
}

TEST_F(AcquireLossTest, LossWhileVerifyingIsAMiss) {
  UpLocal();
  copier_.holds = true;
  Ask(1);
  wire::Descriptor bad = node_->Fill(0, SlotAt(0), 'a');
  bad.checksum = Checksum(1);
  Reply(Asked(), {bad});
  Settle();
  node_->CloseChannel();
  ASSERT_TRUE(RunUntilTold());
  EXPECT_EQ(ResultOf(0), KeyResult::kLost);
  EXPECT_FALSE(answer_->pin.is_held());
  ASSERT_TRUE(RunUntilUp());
  copier_.Release();
  Settle();
  EXPECT_EQ(node_->Count(wire::Type::kSuspect), 0u) << "that pin means nothing in this session";
}

TEST_F(AcquireLossTest, ACallFromInsideALossIsAnsweredToo) {
  UpLocal();
  KeyResult second = KeyResult::kHit;
  client_->Acquire(AcquireRequest{.keys = Keys(1), .deadline = After(absl::Seconds(9))},
                   [&](AcquireAnswer) {
                     client_->Acquire(
                         AcquireRequest{.keys = Keys(1), .deadline = After(absl::Seconds(9))},
                         [&](AcquireAnswer answer) { second = answer.keys[0].result; });
                   });
  node_->CloseChannel();
  ASSERT_TRUE(world_.RunUntil([&] { return second != KeyResult::kHit; }, absl::Seconds(1)));
  EXPECT_EQ(second, KeyResult::kOffline);
}

// ---- what a node may answer, and what none does ----

TEST_F(AcquireLossTest, ARefusedAcquireIsMisses) {
  UpLocal();
  for (const wire::AcquireResult result :
       {wire::AcquireResult::kOverloaded, wire::AcquireResult::kStopping}) {
    Ask(2);
    wire::Acquired m;
    m.request = Asked().request;
    m.result = result;
    node_->Say(wire::Type::kAcquired, wire::Encode(m));
    ASSERT_TRUE(RunUntilTold());
    EXPECT_EQ(ResultOf(1), KeyResult::kRefused);
  }
  EXPECT_TRUE(client_->has_session());
}

TEST_F(AcquireLossTest, ANodeThatKnowsNoSessionLosesIt) {
  UpLocal();
  Ask(1);
  wire::Acquired m;
  m.request = Asked().request;
  m.result = wire::AcquireResult::kNoSession;
  node_->Say(wire::Type::kAcquired, wire::Encode(m));
  ASSERT_TRUE(RunUntilTold());
  EXPECT_FALSE(client_->has_session());
  EXPECT_EQ(stats().protocol_errors, 0u);
}

TEST_F(AcquireLossTest, CappedKeysAreCounted) {
  UpLocal();
  Ask(2);
  wire::Acquired m;
  m.request = Asked().request;
  m.capped = 2;
  node_->Say(wire::Type::kAcquired, wire::Encode(m));
  ASSERT_TRUE(RunUntilTold());
  EXPECT_EQ(stats().keys_capped, 2u);
}

TEST_F(AcquireLossTest, DescriptorsOutsideTheArenaEndTheSession) {
  UpLocal();
  const wire::Descriptor good = node_->Fill(0, SlotAt(0), 'a');
  std::vector<wire::Descriptor> bad(11, good);
  bad[0].place.segment = SegmentId(2);
  bad[1].place.segment = SegmentId(UINT32_MAX);
  bad[2].place.slot = SlotId(ScriptedNode::kTableBytes / 8);
  bad[3].place.slot = SlotId(UINT32_MAX);
  bad[4].offset = 0;  // the table itself
  bad[5].offset = ScriptedNode::kSegmentBytes;
  bad[6].offset = UINT64_MAX - 4095;
  bad[7].offset = ScriptedNode::kTableBytes + 8;
  bad[8].bytes = 0;
  bad[9].bytes = ScriptedNode::kSegmentBytes - ScriptedNode::kTableBytes + 1;
  bad[10].bytes = limits::kEntryBytesMax;
  for (std::size_t i = 0; i < bad.size(); ++i) {
    SCOPED_TRACE(i);
    ExpectEndsSession(bad[i]);
  }
}

TEST_F(AcquireLossTest, AHitBeyondTheKeysEndsTheSession) {
  UpLocal();
  wire::Descriptor hit = node_->Fill(2, SlotAt(0), 'a');
  ExpectEndsSession(hit);
}

TEST_F(AcquireLossTest, HitsWithoutAPinEndTheSession) {
  UpLocal();
  Ask(1);
  Reply(Asked(), {node_->Fill(0, SlotAt(0), 'a')}, PinId(0));
  ASSERT_TRUE(RunUntilTold());
  EXPECT_EQ(stats().protocol_errors, 1u);
}

TEST_F(AcquireLossTest, APinWithoutHitsEndsTheSession) {
  UpLocal();
  Ask(1);
  node_->Say(wire::Type::kAcquired,
             wire::Encode(wire::Acquired{.request = Asked().request, .pin = PinId(4)}));
  ASSERT_TRUE(RunUntilTold());
  EXPECT_EQ(stats().protocol_errors, 1u);
}

TEST_F(AcquireLossTest, ARefusalWithHitsEndsTheSession) {
  UpLocal();
  Ask(1);
  node_->Say(wire::Type::kAcquired,
             wire::Encode(wire::Acquired{.request = Asked().request,
                                         .result = wire::AcquireResult::kOverloaded,
                                         .pin = PinId(4),
                                         .hits = {node_->Fill(0, SlotAt(0), 'a')}}));
  ASSERT_TRUE(RunUntilTold());
  EXPECT_EQ(stats().protocol_errors, 1u);
}

TEST_F(AcquireLossTest, ASecondAnswerEndsTheSession) {
  UpLocal();
  copier_.holds = true;
  Ask(1);
  const wire::Acquire asked = Asked();
  const wire::Descriptor hit = node_->Fill(0, SlotAt(0), 'a');
  Reply(asked, {hit});
  Reply(asked, {hit}, PinId(6));
  ASSERT_TRUE(RunUntilTold());
  EXPECT_EQ(ResultOf(0), KeyResult::kLost);
  EXPECT_EQ(stats().protocol_errors, 1u);
  copier_.Release();
  Settle();
}

TEST_F(AcquireLossTest, AResumeDepthThatWasNotAskedEndsTheSession) {
  UpLocal();
  Ask(1);
  node_->Say(wire::Type::kAcquired,
             wire::Encode(wire::Acquired{.request = Asked().request, .resume_depth = 1}));
  ASSERT_TRUE(RunUntilTold());
  EXPECT_EQ(stats().protocol_errors, 1u);
}

}  // namespace
}  // namespace cairn
