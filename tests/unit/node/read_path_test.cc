#include <gtest/gtest.h>

#include "tests/unit/node/node_world.h"

namespace cairn {
namespace {

class ReadPathTest : public NodeWorld {};
INSTANTIATE_TEST_SUITE_P(Shards, ReadPathTest, testing::Values(1, 4));

TEST_P(ReadPathTest, HitsAnywhereAmongMisses) {
  StartNode();
  auto peer = LocalWithSession();
  Store(*peer.peer, 2, 3);
  const wire::Acquired got = Acquire(*peer.peer, AcquireOf(0, 8));
  ASSERT_EQ(got.hits.size(), 3u);
  EXPECT_NE(got.pin, PinId());
  for (int i = 0; i < 3; ++i) {
    const wire::Descriptor& hit = got.hits[i];
    EXPECT_EQ(hit.index, 2u + i);
    EXPECT_EQ(hit.checksum, SumOf(BytesOf(2 + i)));
    EXPECT_EQ(InPlace(*peer.peer, hit), BytesOf(2 + i));
    EXPECT_EQ(WordOf(*peer.peer, hit), hit.generation.value());
    EXPECT_GE(hit.offset, peer->local_welcome->segments[0].words_bytes);
  }
  EXPECT_EQ(ShardsNow().pins, 3u);
}

TEST_P(ReadPathTest, NothingHitNeedsNoRelease) {
  StartNode();
  auto peer = LocalWithSession();
  EXPECT_EQ(Acquire(*peer.peer, AcquireOf(0, 5)).pin, PinId());
  EXPECT_EQ(ShardsNow().misses, 5u);
}

TEST_P(ReadPathTest, PinsEndByReleaseByRideAlongAndBySession) {
  StartNode();
  auto peer = LocalWithSession();
  Store(*peer.peer, 0, 2);
  const PinId first = Acquire(*peer.peer, AcquireOf(0, 2)).pin;
  const PinId second = Acquire(*peer.peer, AcquireOf(0, 1)).pin;
  EXPECT_EQ(ShardsNow().pins, 3u);
  peer->Say(wire::Type::kRelease, wire::Release{{second, second, PinId(999)}});
  Settle();
  EXPECT_EQ(ShardsNow().pins, 2u);
  wire::Acquire riding = AcquireOf(7, 1);
  riding.released = {first};
  Acquire(*peer.peer, riding);
  EXPECT_EQ(ShardsNow().pins, 0u);
  Acquire(*peer.peer, AcquireOf(0, 2));
  peer->CloseChannel();
  Settle();
  EXPECT_EQ(ShardsNow().pins, 0u);
}

TEST_P(ReadPathTest, PinAges) {
  options_.pin_age_max = absl::Seconds(2);
  StartNode();
  auto peer = LocalWithSession();
  Store(*peer.peer, 0, 2);
  Acquire(*peer.peer, AcquireOf(0, 2));
  Settle(absl::Seconds(3));
  const ShardStats stats = ShardsNow();
  EXPECT_EQ(stats.pins, 0u);
  EXPECT_GE(stats.pins_aged, 1u);
  EXPECT_EQ(NodeStatusNow().sessions[0].pinned_keys, 0u);
}

TEST_P(ReadPathTest, KeysBeyondTheSessionsCapAreMisses) {
  options_.pins_per_session_max = 5;
  StartNode();
  auto peer = LocalWithSession();
  Store(*peer.peer, 0, 4);
  EXPECT_EQ(Acquire(*peer.peer, AcquireOf(0, 3)).hits.size(), 3u);
  const wire::Acquired capped = Acquire(*peer.peer, AcquireOf(0, 4));
  ASSERT_EQ(capped.hits.size(), 2u);
  EXPECT_EQ(capped.hits[1].index, 1u) << "in prompt order";
  EXPECT_EQ(capped.capped, 2u);
  EXPECT_EQ(ShardsNow().pins, 5u);
  auto other = LocalWithSession();
  EXPECT_EQ(Acquire(*other.peer, AcquireOf(0, 4)).hits.size(), 4u);
}

TEST_P(ReadPathTest, SessionSeesItsOwnRootOnly) {
  StartNode();
  auto peer = LocalWithSession();
  Store(*peer.peer, 0, 2);
  RawPeer::Options options = PeerOptions();
  options.hello.salt = "another tenant";
  auto other = Local(options);
  ASSERT_TRUE(Until([&] { return other->has_session(); }));
  EXPECT_TRUE(Acquire(*other.peer, AcquireOf(0, 2)).hits.empty());
}

TEST_P(ReadPathTest, AnswerPastTheDeadlinePinsNothing) {
  StartNode();
  auto peer = LocalWithSession();
  Store(*peer.peer, 0, 2);
  wire::Acquire late = AcquireOf(0, 2);
  late.remaining_us = 0;
  EXPECT_TRUE(Acquire(*peer.peer, late).hits.empty());
  Settle();
  EXPECT_EQ(ShardsNow().pins, 0u);
  EXPECT_EQ(FrontNow().acquires_late, 1u);
}

TEST_P(ReadPathTest, HybridPinsExactlyWhatTheDeepestResumePointNeeds) {
  StartNode();
  auto peer = LocalWithSession();
  Store(*peer.peer, 0, 3);
  for (const int blocks : {1, 2}) {  // states after 1 and 2 blocks
    wire::OfferEntry state = EntryOf(100 + blocks);
    state.kind = EntryKind::kState;
    state.depth = blocks * kBlockTokens;
    PutInPool(*peer.peer, 0, BytesOf(100 + blocks));
    const std::size_t before = peer->stored.size();
    peer->Say(wire::Type::kOffer, OfferOf({state}));
    ASSERT_TRUE(Until([&] { return peer->stored.size() > before; }));
  }
  wire::Acquire acquire = AcquireOf(0, 3);
  acquire.is_hybrid = true;
  acquire.resume_depth_max = 1000;
  for (const int i : {101, 102}) {
    acquire.keys.push_back(KeyOf(i));
    acquire.kinds.push_back(EntryKind::kState);
  }
  // All blocks were stored with the depth of a first block; a state needs KV of its own depth.
  EXPECT_EQ(Acquire(*peer.peer, acquire).resume_depth, kBlockTokens);
  Settle();
  EXPECT_EQ(ShardsNow().pins, 2u) << "one block and one state";
}

TEST_P(ReadPathTest, SuspectQuarantinesOnlyWhatTheNodeFindsBad) {
  StartNode();
  auto peer = LocalWithSession();
  Store(*peer.peer, 0, 1);
  const wire::Acquired got = Acquire(*peer.peer, AcquireOf(0, 1));
  peer->Say(wire::Type::kSuspect, wire::Suspect{got.pin, 0});
  Settle();
  EXPECT_EQ(ShardsNow().suspects_refuted, 1u);
  EXPECT_EQ(ShardsNow().entries, 1u);

  const auto seen = peer->arena.at(got.hits[0].place.segment.value())->bytes();
  auto* flipped = const_cast<std::byte*>(seen.data() + got.hits[0].offset + 77);
  *flipped ^= std::byte{4};
  peer->Say(wire::Type::kSuspect, wire::Suspect{got.pin, 0});
  Settle();
  ShardStats stats = ShardsNow();
  EXPECT_EQ(stats.quarantined, 1u);
  EXPECT_EQ(stats.entries, 0u);
  EXPECT_NE(WordOf(*peer.peer, got.hits[0]), got.hits[0].generation.value()) << "at once";
  EXPECT_EQ(stats.slots[static_cast<std::size_t>(SlotState::kQuarantined)].slots, 1u)
      << "still pinned";
  peer->Say(wire::Type::kRelease, wire::Release{{got.pin}});
  Settle();
  EXPECT_EQ(ShardsNow().slots[static_cast<std::size_t>(SlotState::kQuarantined)].slots, 0u);
  Store(*peer.peer, 0, 1);
  EXPECT_EQ(Acquire(*peer.peer, AcquireOf(0, 1)).hits.size(), 1u);
}

TEST_P(ReadPathTest, PullSendsDataAndFailsForWhatIsGone) {
  options_.remote_listen = "127.0.0.1:0";
  StartNode();
  auto writer = LocalWithSession();
  Store(*writer.peer, 0, 3);
  auto reader = RemoteWithSession();
  const wire::Acquired got = Acquire(*reader.peer, AcquireOf(0, 4));
  ASSERT_EQ(got.hits.size(), 3u);
  wire::Pull pull{
      .request = RequestId(50), .remaining_us = 1'000'000, .pin = got.pin, .indices = {0, 2, 3}};
  reader->Say(wire::Type::kPull, pull);
  ASSERT_TRUE(Until([&] { return reader->data.size() == 2 && reader->pulls_failed.size() == 1; }));
  for (const RawPeer::Data& data : reader->data) {
    EXPECT_EQ(data.bytes, BytesOf(static_cast<int>(data.header.index)));
    EXPECT_EQ(data.header.checksum, SumOf(data.bytes));
  }
  EXPECT_EQ(reader->pulls_failed[0].index, 3u);
  EXPECT_EQ(reader->pulls_failed[0].why, wire::PullFailure::kGone);
  reader->Say(wire::Type::kRelease, wire::Release{{got.pin}});
  pull.request = RequestId(51);
  reader->Say(wire::Type::kPull, pull);
  ASSERT_TRUE(Until([&] { return reader->pulls_failed.size() == 4; }));
  Settle();
  EXPECT_EQ(ShardsNow().holds, 0u);
  EXPECT_EQ(network_.loans(), 0u);
}

TEST_P(ReadPathTest, WantPullSendsAllHitsAtOnce) {
  options_.remote_listen = "127.0.0.1:0";
  options_.sends_per_session_max = 2;
  StartNode();
  auto writer = LocalWithSession();
  Store(*writer.peer, 0, 7);
  auto reader = RemoteWithSession();
  wire::Acquire acquire = AcquireOf(0, 9);
  acquire.want = wire::Want::kPull;
  EXPECT_EQ(Acquire(*reader.peer, acquire).hits.size(), 7u);
  ASSERT_TRUE(Until([&] { return reader->data.size() == 7; }));
}

TEST_P(ReadPathTest, SendHoldsItsSlotPastPinAndSession) {
  options_.remote_listen = "127.0.0.1:0";
  StartNode();
  auto writer = LocalWithSession();
  Store(*writer.peer, 0, 1);
  auto reader = RemoteWithSession();
  network_.HoldBulk();
  wire::Acquire acquire = AcquireOf(0, 1);
  acquire.want = wire::Want::kPull;
  const wire::Acquired got = Acquire(*reader.peer, acquire);
  reader->Say(wire::Type::kRelease, wire::Release{{got.pin}});
  ASSERT_TRUE(Until([&] { return network_.held_bulks() == 1; }));
  const auto evicted = Ask<EvictReport>(
      [&](AdminDone<EvictReport> d) { node_->admin().Evict({.is_all = true}, std::move(d)); });
  ASSERT_TRUE(evicted.ok());
  EXPECT_EQ(evicted->held, 1u);
  network_.ReleaseBulk();
  ASSERT_TRUE(Until([&] { return reader->data.size() == 1; }));
  EXPECT_EQ(reader->data[0].bytes, BytesOf(0));
  Settle();
  EXPECT_EQ(ShardsNow().holds, 0u);
}

TEST_P(ReadPathTest, QueuedSendsEndByTheirDeadline) {
  options_.remote_listen = "127.0.0.1:0";
  options_.sends_per_session_max = 1;
  StartNode();
  auto writer = LocalWithSession();
  Store(*writer.peer, 0, 3);
  auto reader = RemoteWithSession();
  network_.HoldBulk();
  wire::Acquire acquire = AcquireOf(0, 3, absl::Milliseconds(200));
  acquire.want = wire::Want::kPull;
  Acquire(*reader.peer, acquire);
  ASSERT_TRUE(Until([&] { return reader->pulls_failed.size() == 2; }));
  EXPECT_EQ(reader->pulls_failed[0].why, wire::PullFailure::kDeadline);
  EXPECT_EQ(ShardsNow().holds, 1u) << "only what is being sent";
  network_.ReleaseBulk();
  Settle();
  EXPECT_EQ(ShardsNow().holds, 0u);
}

}  // namespace
}  // namespace cairn
