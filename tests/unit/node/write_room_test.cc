#include "tests/unit/node/write_world.h"

namespace cairn {
namespace {

// Who finds room, who gives it up, and what nobody gets more of than its part.
using WriteRoomTest = WriteWorld;
INSTANTIATE_TEST_SUITE_P(Shards, WriteRoomTest, testing::Values(1, 4));

TEST_P(WriteRoomTest, FullArenaEvictsTailsFirstAndNeverThePinned) {
  options_.arena_bytes = options_.segment_bytes * options_.shards;
  StartNode();
  auto peer = LocalWithSession();
  Store(*peer.peer, 0, 1);
  const wire::Acquired pinned = Acquire(*peer.peer, AcquireOf(0, 1));
  ASSERT_EQ(pinned.hits.size(), 1u);
  Store(*peer.peer, 1, 300);
  const ShardStats stats = ShardsNow();
  EXPECT_GT(stats.evictions, 0u);
  EXPECT_EQ(WordOf(*peer.peer, pinned.hits[0]), pinned.hits[0].generation.value());
  EXPECT_EQ(InPlace(*peer.peer, pinned.hits[0]), BytesOf(0));
}

TEST_P(WriteRoomTest, EntriesOfAnotherSizeFindRoomInAFullArena) {
  StartNode();
  auto peer = LocalWithSession();
  const int per_arena = static_cast<int>(options_.arena_bytes / kBlockBytes);
  Store(*peer.peer, 0, 2 * per_arena);
  ASSERT_EQ(ShardsNow().segments_unassigned, 0u);
  const wire::Acquired pinned = Acquire(*peer.peer, AcquireOf(2 * per_arena - 1, 1));
  ASSERT_EQ(pinned.hits.size(), 1u);

  const std::string state = BytesOf(7, 5 * kBlockBytes / 2);
  PutInPool(*peer.peer, 0, state);
  wire::OfferEntry large = EntryOf(9999);
  large.kind = EntryKind::kState;
  large.bytes = state.size();
  large.checksum = SumOf(state);
  peer->Say(wire::Type::kOffer, OfferOf({large}));
  const std::size_t before = peer->stored.size();
  ASSERT_TRUE(Until([&] { return peer->stored.size() > before; }));
  EXPECT_EQ(LastResult(*peer.peer), wire::StoreResult::kStored);
  EXPECT_EQ(ShardsNow().segments_resized, 1u);
  EXPECT_EQ(ShardsNow().no_room, 0u);

  wire::Acquire ask = AcquireOf(9999, 1);
  ask.kinds = {EntryKind::kState};
  const wire::Acquired got = Acquire(*peer.peer, ask);
  ASSERT_EQ(got.hits.size(), 1u);
  EXPECT_EQ(InPlace(*peer.peer, got.hits[0]), state);
  EXPECT_EQ(InPlace(*peer.peer, pinned.hits[0]), BytesOf(2 * per_arena - 1)) << "pinned, so spared";
  EXPECT_EQ(WordOf(*peer.peer, pinned.hits[0]), pinned.hits[0].generation.value());
}

TEST_P(WriteRoomTest, MoreSizesThanSegmentsDoNotEmptyThemAtEveryPut) {
  options_.arena_bytes = options_.segment_bytes * options_.shards;
  StartNode();
  std::vector<PeerOnLoop> peers;  // a session has states of one size
  for (int size = 1; size <= 4; ++size) peers.push_back(LocalWithSession());
  for (int i = 0; i < 200; ++i) {
    RawPeer& peer = *peers[i % 4].peer;
    const std::string bytes = BytesOf(i, (1 + i % 4) * kBlockBytes);
    PutInPool(peer, 0, bytes);
    wire::OfferEntry entry = EntryOf(i);
    entry.kind = EntryKind::kState;
    entry.bytes = bytes.size();
    entry.checksum = SumOf(bytes);
    peer.Say(wire::Type::kOffer, OfferOf({entry}));
    Settle();
  }
  const ShardStats stats = ShardsNow();
  EXPECT_EQ(stats.offers, 200u);
  EXPECT_GT(stats.no_room, 0u);
  EXPECT_GT(stats.segments_resized, 0u) << "nor is it any size's for ever";
  EXPECT_LE(stats.segments_resized, stats.stored / 7) << "a segment has 7 slots of the largest";
}

TEST_P(WriteRoomTest, AllPinnedMeansNoRoom) {
  options_.arena_bytes = options_.segment_bytes * options_.shards;
  StartNode();
  auto peer = LocalWithSession();
  // As many as surely fill every shard; then pin all there is.
  Store(*peer.peer, 0, 250);
  Acquire(*peer.peer, AcquireOf(0, 250));
  int refused = 0;
  for (int i = 1000; i < 1040; ++i) {
    PutInPool(*peer.peer, 0, BytesOf(i));
    const wire::WantMessage want = Offer(*peer.peer, OfferOf({EntryOf(i)}));
    refused += want.entries[0].refusal == wire::Refusal::kNoRoom;
    Settle();
  }
  EXPECT_EQ(refused, 40);
  EXPECT_EQ(ShardsNow().no_room, 40u);
}

TEST_P(WriteRoomTest, OffersOfASessionAreCapped) {
  options_.offers_per_session_max = 2;
  options_.remote_listen = "127.0.0.1:0";
  StartNode();
  auto peer = RemoteWithSession();
  const wire::WantMessage want = Offer(*peer.peer, OfferOf({EntryOf(1), EntryOf(2), EntryOf(3)}));
  EXPECT_EQ(want.entries[2].refusal, wire::Refusal::kLimit);
}

TEST_P(WriteRoomTest, LoansAreCapped) {
  options_.loans_max = GetParam();
  options_.remote_listen = "127.0.0.1:0";
  StartNode();
  auto peer = RemoteWithSession();
  std::vector<wire::OfferEntry> entries;
  for (int i = 0; i < 40; ++i) entries.push_back(EntryOf(i));
  const wire::WantMessage want = Offer(*peer.peer, OfferOf(entries));
  std::uint32_t wanted = 0;
  for (const wire::WantEntry& e : want.entries) wanted += e.verdict == wire::Verdict::kWanted;
  EXPECT_EQ(wanted, GetParam()) << "one a shard";
}

}  // namespace
}  // namespace cairn
