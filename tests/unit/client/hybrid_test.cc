// Resume points: all of what they need, or nothing.
#include "tests/unit/client/acquire_world.h"

namespace cairn {
namespace {

class HybridTest : public AcquireWorld {
 protected:
  // Two KV blocks and a state at depth 32.
  wire::Acquire AskHybrid() {
    Ask(AcquireRequest{
        .keys = Keys(3),
        .kinds = {EntryKind::kKvBlock, EntryKind::kKvBlock, EntryKind::kState},
        .deadline = After(absl::Seconds(1)),
        .is_hybrid = true,
        .resume_depth_max = 47});
    return Asked();
  }
  void ReplyAt(const wire::Acquire& asked, std::uint64_t depth,
               std::vector<wire::Descriptor> hits) {
    wire::Acquired m;
    m.request = asked.request;
    m.pin = PinId(5);
    m.resume_depth = depth;
    m.hits = std::move(hits);
    node_->Say(wire::Type::kAcquired, wire::Encode(m));
    ASSERT_TRUE(RunUntilTold());
  }
  std::vector<wire::Descriptor> WholeHits() {
    std::vector<wire::Descriptor> hits = {node_->Fill(0, SlotAt(0), 'a'),
                                          node_->Fill(1, SlotAt(1), 'b'),
                                          node_->Fill(2, SlotAt(2), 'c')};
    hits[2].depth = 32;
    return hits;
  }
  void ExpectNothing() {
    EXPECT_EQ(answer_->resume_depth, 0u);
    for (const KeyAnswer& key : answer_->keys) EXPECT_FALSE(key.is_hit());
    EXPECT_EQ(Released(), std::vector<PinId>{PinId(5)});
  }
};

TEST_F(HybridTest, AWholeResumePointIsGiven) {
  UpLocal();
  const wire::Acquire asked = AskHybrid();
  EXPECT_TRUE(asked.is_hybrid);
  EXPECT_EQ(asked.resume_depth_max, 47u);
  ReplyAt(asked, 32, WholeHits());
  EXPECT_EQ(answer_->resume_depth, 32u);
  EXPECT_EQ(ResultOf(2), KeyResult::kHit);
}

TEST_F(HybridTest, ACorruptPartVoidsTheWhole) {
  UpLocal();
  const wire::Acquire asked = AskHybrid();
  std::vector<wire::Descriptor> hits = WholeHits();
  node_->SlotBytes(SlotAt(0))[5] ^= std::byte{1};
  ReplyAt(asked, 32, hits);
  EXPECT_EQ(ResultOf(0), KeyResult::kCorrupt);
  EXPECT_EQ(ResultOf(2), KeyResult::kIncomplete);
  ExpectNothing();
}

TEST_F(HybridTest, AMissingBlockVoidsTheWhole) {
  UpLocal();
  const wire::Acquire asked = AskHybrid();
  std::vector<wire::Descriptor> hits = WholeHits();
  hits.erase(hits.begin());
  ReplyAt(asked, 32, hits);
  ExpectNothing();
}

TEST_F(HybridTest, AStateOfAnotherDepthVoidsTheWhole) {
  UpLocal();
  const wire::Acquire asked = AskHybrid();
  std::vector<wire::Descriptor> hits = WholeHits();
  hits[2].depth = 16;
  ReplyAt(asked, 32, hits);
  ExpectNothing();
}

TEST_F(HybridTest, KvWithoutAResumePointIsWorthNothing) {
  UpLocal();
  const wire::Acquire asked = AskHybrid();
  ReplyAt(asked, 0, {node_->Fill(0, SlotAt(0), 'a')});
  ExpectNothing();
}

TEST_F(HybridTest, ADepthBeyondWhatWasAskedEndsTheSession) {
  UpLocal();
  const wire::Acquire asked = AskHybrid();
  ReplyAt(asked, 48, WholeHits());
  EXPECT_EQ(stats().protocol_errors, 1u);
}

}  // namespace
}  // namespace cairn
