#include <gtest/gtest.h>

#include "libs/base/bytes.h"
#include "libs/base/log.h"
#include "tests/unit/node/write_world.h"

namespace cairn {
namespace {

using WritePathTest = WriteWorld;
INSTANTIATE_TEST_SUITE_P(Shards, WritePathTest, testing::Values(1, 4));

TEST_P(WritePathTest, OfferedBlocksAreCopiedCheckedAndFound) {
  StartNode();
  auto peer = LocalWithSession();
  std::vector<wire::OfferEntry> entries;
  for (int i = 0; i < 8; ++i) {
    PutInPool(*peer.peer, i, BytesOf(i));
    entries.push_back(EntryOf(i, i));
  }
  const wire::WantMessage want = Offer(*peer.peer, OfferOf(entries));
  ASSERT_EQ(want.entries.size(), 8u) << "one WANT names all";
  for (const wire::WantEntry& e : want.entries) EXPECT_EQ(e.verdict, wire::Verdict::kWanted);
  Settle();
  std::size_t stored = 0;
  for (const wire::Stored& s : peer->stored) stored += s.entries.size();
  EXPECT_EQ(stored, 8u);
  EXPECT_EQ(Acquire(*peer.peer, AcquireOf(0, 8)).hits.size(), 8u);
  EXPECT_EQ(Offer(*peer.peer, OfferOf({EntryOf(3, 3)})).entries[0].verdict, wire::Verdict::kStored);
  const ShardStats stats = ShardsNow();
  EXPECT_EQ(stats.loans, 0u);
  EXPECT_EQ(stats.offers_known, 1u);
}

TEST_P(WritePathTest, TornPutIsNeverPublished) {
  StartNode();
  auto peer = LocalWithSession();
  PutInPool(*peer.peer, 0, BytesOf(5));  // not what the checksum of key 1 says
  peer->Say(wire::Type::kOffer, OfferOf({EntryOf(1)}));
  ASSERT_TRUE(Until([&] { return !peer->stored.empty(); }));
  EXPECT_EQ(LastResult(*peer.peer), wire::StoreResult::kTorn);
  EXPECT_TRUE(Acquire(*peer.peer, AcquireOf(1, 1)).hits.empty());
  EXPECT_EQ(ShardsNow().put_torn, 1u);
  EXPECT_EQ(ShardsNow().slots[static_cast<std::size_t>(SlotState::kFilling)].slots, 0u);
}

TEST_P(WritePathTest, WhatCannotBeIsRefused) {
  StartNode();
  auto peer = LocalWithSession();
  wire::OfferEntry size = EntryOf(1);
  size.bytes = kBlockBytes / 2;
  wire::OfferEntry place = EntryOf(2, 16);
  wire::OfferEntry far = EntryOf(3);
  far.pool_offset = UINT64_MAX - 5;
  wire::OfferEntry depth = EntryOf(4);
  depth.depth = 0;
  const wire::WantMessage want = Offer(*peer.peer, OfferOf({size, place, far, depth}));
  ASSERT_EQ(want.entries.size(), 4u);
  for (const wire::WantEntry& e : want.entries) EXPECT_EQ(e.refusal, wire::Refusal::kMalformed);
  EXPECT_EQ(FrontNow().offers_refused, 4u);
}

TEST_P(WritePathTest, StatesOfASessionAreOfOneSize) {
  StartNode();
  auto peer = LocalWithSession();
  wire::OfferEntry first = EntryOf(1);
  first.kind = EntryKind::kState;
  first.bytes = 2 * kBlockBytes;
  wire::OfferEntry second = first;
  second.key = KeyOf(2);
  second.bytes = 3 * kBlockBytes;
  const wire::WantMessage want = Offer(*peer.peer, OfferOf({first, second}));
  EXPECT_EQ(want.entries[0].verdict, wire::Verdict::kWanted);
  EXPECT_EQ(want.entries[1].refusal, wire::Refusal::kMalformed);
}

TEST_P(WritePathTest, SecondOfferOfAKeyIsPendingAndMovesNothing) {
  StartNode();
  auto a = LocalWithSession();
  auto b = LocalWithSession();
  for (auto* p : {&a, &b}) PutInPool(*p->peer, 0, BytesOf(1));
  a.peer->Say(wire::Type::kOffer, OfferOf({EntryOf(1)}));
  b.peer->Say(wire::Type::kOffer, OfferOf({EntryOf(1)}));
  ASSERT_TRUE(Until([&] { return !a->stored.empty() && !b->stored.empty(); }));
  EXPECT_EQ(LastResult(*a.peer), wire::StoreResult::kStored);
  EXPECT_EQ(LastResult(*b.peer), wire::StoreResult::kStored);
  EXPECT_EQ(ShardsNow().stored, 1u);
}

TEST_P(WritePathTest, NextPendingOffererIsAskedWhenTheFirstSessionEnds) {
  options_.remote_listen = "127.0.0.1:0";
  StartNode();
  auto a = RemoteWithSession();
  auto b = LocalWithSession();
  EXPECT_EQ(Offer(*a.peer, OfferOf({EntryOf(1)})).entries[0].verdict, wire::Verdict::kWanted);
  PutInPool(*b.peer, 0, BytesOf(1));
  EXPECT_EQ(Offer(*b.peer, OfferOf({EntryOf(1)})).entries[0].verdict, wire::Verdict::kPending);
  a->CloseEndpoint();
  ASSERT_TRUE(Until([&] { return !b->stored.empty(); }));
  EXPECT_EQ(LastWant(*b.peer).verdict, wire::Verdict::kWanted);
  EXPECT_EQ(LastResult(*b.peer), wire::StoreResult::kStored);
  EXPECT_EQ(ShardsNow().pending_asked, 1u);
  EXPECT_EQ(ShardsNow().loans, 0u);
}

TEST_P(WritePathTest, NextPendingOffererIsAskedWhenTheFirstPutIsTorn) {
  StartNode();
  auto a = LocalWithSession();
  auto b = LocalWithSession();
  PutInPool(*a.peer, 0, BytesOf(2));
  PutInPool(*b.peer, 0, BytesOf(1));
  a.peer->Say(wire::Type::kOffer, OfferOf({EntryOf(1)}));
  ASSERT_TRUE(Until([&] { return !a->wants.empty(); }));
  b.peer->Say(wire::Type::kOffer, OfferOf({EntryOf(1)}));
  ASSERT_TRUE(Until([&] { return !a->stored.empty() && !b->stored.empty(); }));
  EXPECT_EQ(LastResult(*a.peer), wire::StoreResult::kTorn);
  EXPECT_EQ(LastResult(*b.peer), wire::StoreResult::kStored);
}

TEST_P(WritePathTest, PendingIsAnsweredByItsDeadline) {
  options_.remote_listen = "127.0.0.1:0";
  StartNode();
  auto a = RemoteWithSession();
  auto b = LocalWithSession();
  Offer(*a.peer, OfferOf({EntryOf(1)}, absl::Seconds(10)));
  Offer(*b.peer, OfferOf({EntryOf(1)}, absl::Seconds(1)));
  ASSERT_TRUE(Until([&] { return !b->stored.empty(); }, absl::Seconds(2)));
  EXPECT_EQ(LastResult(*b.peer), wire::StoreResult::kDeadline);
}

TEST_P(WritePathTest, RemoteDataLandsIsCheckedAndStored) {
  options_.remote_listen = "127.0.0.1:0";
  StartNode();
  auto peer = RemoteWithSession();
  const std::string good = BytesOf(1);
  const std::string bad = BytesOf(9);
  const wire::Offer offer = OfferOf({EntryOf(1), EntryOf(2)});
  const wire::WantMessage want = Offer(*peer.peer, offer);
  ASSERT_EQ(want.entries.size(), 2u);
  peer->SendData({offer.request, 0}, AsBytes(good));
  peer->SendData({offer.request, 1}, AsBytes(bad));
  std::map<std::uint32_t, wire::StoreResult> results;
  ASSERT_TRUE(Until([&] {
    for (const wire::Stored& s : peer->stored) {
      for (const wire::StoredEntry& e : s.entries) results[e.index] = e.result;
    }
    return results.size() == 2;
  }));
  EXPECT_EQ(results[0], wire::StoreResult::kStored);
  EXPECT_EQ(results[1], wire::StoreResult::kTorn);
  peer->SendData({offer.request, 0}, AsBytes(good));  // nobody asked
  ASSERT_TRUE(Until([&] { return peer->data_sent.size() == 3; }));
  EXPECT_FALSE(peer->data_sent.back().ok());
  EXPECT_EQ(FrontNow().landings_refused, 1u);
}

TEST_P(WritePathTest, DataOfAnotherSizeFailsTheEntry) {
  options_.remote_listen = "127.0.0.1:0";
  StartNode();
  auto peer = RemoteWithSession();
  const std::string large = BytesOf(1, 2 * kBlockBytes);
  const wire::Offer offer = OfferOf({EntryOf(1)});
  Offer(*peer.peer, offer);
  peer->SendData({offer.request, 0}, AsBytes(large));
  ASSERT_TRUE(Until([&] { return !peer->stored.empty(); }));
  EXPECT_EQ(LastResult(*peer.peer), wire::StoreResult::kFailed);
}

TEST_P(WritePathTest, DeadlineEndsTheCallNotTheLoan) {
  options_.remote_listen = "127.0.0.1:0";
  StartNode();
  auto peer = RemoteWithSession();
  network_.HoldBulk();
  const std::string bytes = BytesOf(1);
  const wire::Offer offer = OfferOf({EntryOf(1)}, absl::Milliseconds(500));
  Offer(*peer.peer, offer);
  peer->SendData({offer.request, 0}, AsBytes(bytes));
  ASSERT_TRUE(Until([&] { return !peer->stored.empty(); }));
  EXPECT_EQ(LastResult(*peer.peer), wire::StoreResult::kDeadline);
  ShardStats stats = ShardsNow();
  EXPECT_EQ(stats.loans, 1u);
  EXPECT_EQ(stats.loans_overdue, 1u);
  EXPECT_EQ(stats.slots[static_cast<std::size_t>(SlotState::kFilling)].slots, 1u);
  network_.ReleaseBulk();
  Settle();
  stats = ShardsNow();
  EXPECT_EQ(stats.loans, 0u);
  EXPECT_EQ(stats.entries, 0u) << "a fill that has ended is never published";
}

TEST_P(WritePathTest, WantedDataThatNeverComesGivesTheSlotBack) {
  options_.remote_listen = "127.0.0.1:0";
  StartNode();
  auto peer = RemoteWithSession();
  Offer(*peer.peer, OfferOf({EntryOf(1)}, absl::Milliseconds(500)));
  EXPECT_EQ(ShardsNow().loans, 1u);
  ASSERT_TRUE(Until([&] { return !peer->stored.empty(); }));
  Settle();
  EXPECT_EQ(ShardsNow().loans, 0u);
}

class CapturedLog : public LogSink {
 public:
  CapturedLog() { SetLogSink(this); }
  ~CapturedLog() override { SetLogSink(nullptr); }
  void Write(absl::string_view line) override { text += std::string(line) + "\n"; }
  std::string text;
};

TEST_P(WritePathTest, ProducersThatDisagreeAreNamedAndTheNewcomerRefused) {
  CapturedLog log;
  StartNode();
  auto a = LocalWithSession();
  auto b = LocalWithSession();
  Store(*a.peer, 1, 1);
  PutInPool(*b.peer, 0, BytesOf(2));
  wire::OfferEntry other = EntryOf(1);
  other.checksum = SumOf(BytesOf(2));
  EXPECT_EQ(Offer(*b.peer, OfferOf({other})).entries[0].verdict, wire::Verdict::kPending);
  ASSERT_TRUE(Until([&] { return b->wants.size() == 2; }));
  EXPECT_EQ(LastWant(*b.peer).refusal, wire::Refusal::kConflict);
  EXPECT_EQ(ShardsNow().conflicts, 1u);
  const wire::Acquired got = Acquire(*b.peer, AcquireOf(1, 1));
  EXPECT_EQ(InPlace(*b.peer, got.hits.at(0)), BytesOf(1)) << "the first completed writer wins";
}

TEST_P(WritePathTest, ConflictWithABadCopyOfOursLetsTheNewcomerIn) {
  StartNode();
  auto a = LocalWithSession();
  auto b = LocalWithSession();
  Store(*a.peer, 1, 1);
  const wire::Acquired got = Acquire(*a.peer, AcquireOf(1, 1));
  auto seen = a->arena.at(got.hits[0].place.segment.value())->bytes();
  *const_cast<std::byte*>(seen.data() + got.hits[0].offset) ^= std::byte{1};
  PutInPool(*b.peer, 0, BytesOf(2));
  wire::OfferEntry other = EntryOf(1);
  other.checksum = SumOf(BytesOf(2));
  b.peer->Say(wire::Type::kOffer, OfferOf({other}));
  ASSERT_TRUE(Until([&] { return !b->stored.empty(); }));
  EXPECT_EQ(LastResult(*b.peer), wire::StoreResult::kStored);
  EXPECT_EQ(ShardsNow().quarantined, 1u);
  EXPECT_EQ(ShardsNow().conflicts, 0u);
}

TEST_P(WritePathTest, SameOfferTwiceIsABreach) {
  options_.remote_listen = "127.0.0.1:0";
  StartNode();
  auto peer = RemoteWithSession();
  const wire::Offer offer = OfferOf({EntryOf(1)});
  Offer(*peer.peer, offer);
  peer->Say(wire::Type::kOffer, offer);
  EXPECT_TRUE(Until([&] { return peer->is_closed; }));
}

TEST_P(WritePathTest, SessionThatDiesWhileItsPoolIsCopiedEndsWhenTheCopyDoes) {
  StartNode();
  auto peer = LocalWithSession();
  std::vector<wire::OfferEntry> entries;
  for (int i = 0; i < 8; ++i) {
    PutInPool(*peer.peer, i, BytesOf(i));
    entries.push_back(EntryOf(i, i));
  }
  peer->Say(wire::Type::kOffer, OfferOf(entries));
  ASSERT_TRUE(Until([&] { return !peer->wants.empty(); }));
  Kill(peer);
  Settle();
  EXPECT_TRUE(NodeStatusNow().sessions.empty());
  EXPECT_EQ(ShardsNow().loans, 0u);
  EXPECT_EQ(ShardsNow().slots[static_cast<std::size_t>(SlotState::kFilling)].slots, 0u);
}

TEST_P(WritePathTest, ParentOnAnyShardIsRecordedAndLeavesLast) {
  StartNode();
  auto peer = LocalWithSession();
  Store(*peer.peer, 0, 1);
  wire::OfferEntry child = EntryOf(1);
  child.has_parent = true;
  child.parent = KeyOf(0);
  child.depth = 2 * kBlockTokens;
  PutInPool(*peer.peer, 0, BytesOf(1));
  peer->Say(wire::Type::kOffer, OfferOf({child}));
  Settle();
  const auto parent = Ask<std::vector<NamedEntry>>([&](AdminDone<std::vector<NamedEntry>> d) {
    node_->admin().Describe(KeyOf(0), {}, std::move(d));
  });
  ASSERT_TRUE(parent.ok()) << parent.status();
  EXPECT_EQ(parent->at(0).entry.children, 1u);
  EXPECT_EQ(parent->at(0).producer, "peer-1");
}

}  // namespace
}  // namespace cairn
