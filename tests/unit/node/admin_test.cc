#include "libs/node/admin.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/unit/node/node_world.h"

namespace cairn {
namespace {

class AdminTest : public NodeWorld {
 protected:
  void StartWith(int entries) {
    StartNode();
    peer_.emplace(LocalWithSession());
    Store(*peer_->peer, 0, entries);
  }
  absl::StatusOr<Explanation> Explain(RootChoice root, std::vector<Key> keys) {
    return Ask<Explanation>([&](AdminDone<Explanation> d) {
      node_->admin().Explain(std::move(root), std::move(keys), std::move(d));
    });
  }
  Root root() { return (*peer_)->welcome->root; }
  RawPeer& peer() { return *peer_->peer; }
  std::optional<PeerOnLoop> peer_;
};
INSTANTIATE_TEST_SUITE_P(Shards, AdminTest, testing::Values(1, 4));

TEST_P(AdminTest, StatusShowsConfigurationCountersAndRoots) {
  StartWith(5);
  const NodeStatus status = NodeStatusNow();
  EXPECT_EQ(status.shards, GetParam());
  EXPECT_EQ(status.arena_bytes, options_.arena_bytes);
  EXPECT_EQ(status.page_bytes, 4096u);
  EXPECT_TRUE(status.is_dev_mode);
  EXPECT_EQ(status.stats.shards.stored, 5u);
  EXPECT_EQ(status.stats.shards.stored_bytes, 5 * kBlockBytes);
  EXPECT_EQ(status.stats.shards.slots[static_cast<std::size_t>(SlotState::kReady)].bytes,
            5 * kBlockBytes);
  ASSERT_EQ(status.roots.size(), 1u);
  EXPECT_EQ(status.roots[0].model, "model");
  EXPECT_EQ(status.roots[0].entries, 5u);
  EXPECT_EQ(status.roots[0].sessions, 1u);
}

TEST_P(AdminTest, ListGivesEveryEntryOnceInSmallSteps) {
  StartWith(11);
  std::set<Key> seen;
  std::string cursor;
  int calls = 0;
  do {
    const auto list = Ask<EntryList>([&](AdminDone<EntryList> d) {
      node_->admin().List({.root = root()}, cursor, 3, std::move(d));
    });
    ASSERT_TRUE(list.ok()) << list.status();
    EXPECT_LE(list->entries.size(), 3u);
    for (const NamedEntry& e : list->entries) {
      EXPECT_TRUE(seen.insert(e.entry.id.key).second);
      EXPECT_EQ(e.root, root());
    }
    cursor = list->next_cursor;
  } while (!cursor.empty() && ++calls < 50);
  EXPECT_EQ(seen.size(), 11u);
  for (const char* bad : {"x", "9.0", "1", "0.0.0"}) {
    EXPECT_FALSE(Ask<EntryList>([&](AdminDone<EntryList> d) {
                   node_->admin().List({}, bad, 3, std::move(d));
                 }).ok())
        << bad;
  }
}

TEST_P(AdminTest, DescribeFindsAKeyAndSaysWhenThereIsNone) {
  StartWith(2);
  const auto found = Ask<std::vector<NamedEntry>>([&](AdminDone<std::vector<NamedEntry>> d) {
    node_->admin().Describe(KeyOf(1), {}, std::move(d));
  });
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found->size(), 1u);
  EXPECT_EQ(found->at(0).entry.bytes, kBlockBytes);
  EXPECT_EQ(found->at(0).entry.checksum, SumOf(BytesOf(1)));
  const auto missing = Ask<std::vector<NamedEntry>>([&](AdminDone<std::vector<NamedEntry>> d) {
    node_->admin().Describe(KeyOf(9), {}, std::move(d));
  });
  EXPECT_TRUE(absl::IsNotFound(missing.status()));
}

TEST_P(AdminTest, VerifyFindsAFlippedBit) {
  StartWith(9);
  const wire::Acquired got = Acquire(peer(), AcquireOf(4, 1));
  auto seen = peer().arena.at(got.hits[0].place.segment.value())->bytes();
  *const_cast<std::byte*>(seen.data() + got.hits[0].offset + 5) ^= std::byte{16};
  const auto all = Ask<VerifyReport>(
      [&](AdminDone<VerifyReport> d) { node_->admin().Verify({.is_all = true}, std::move(d)); });
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_EQ(all->checked, 9u);
  EXPECT_EQ(all->bad, 1u);
  EXPECT_EQ(ShardsNow().quarantined, 1u);
  const auto some = Ask<VerifyReport>([&](AdminDone<VerifyReport> d) {
    node_->admin().Verify({.keys = {KeyOf(1), KeyOf(2), KeyOf(4)}}, std::move(d));
  });
  ASSERT_TRUE(some.ok());
  EXPECT_EQ(some->checked, 2u);
  EXPECT_EQ(some->missing, 1u);
}

TEST_P(AdminTest, EvictLeavesThePinnedAlone) {
  StartWith(6);
  Acquire(peer(), AcquireOf(0, 2));
  const auto some = Ask<EvictReport>([&](AdminDone<EvictReport> d) {
    node_->admin().Evict({.root = {.root = root()}, .keys = {KeyOf(0), KeyOf(5), KeyOf(77)}},
                         std::move(d));
  });
  ASSERT_TRUE(some.ok());
  EXPECT_EQ(some->evicted, 1u);
  EXPECT_EQ(some->held, 1u);
  EXPECT_EQ(some->missing, 1u);
  const auto all = Ask<EvictReport>([&](AdminDone<EvictReport> d) {
    node_->admin().Evict({.root = {.root = root()}, .is_all = true}, std::move(d));
  });
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(all->evicted, 3u);
  EXPECT_EQ(all->held, 2u);
  EXPECT_EQ(ShardsNow().entries, 2u);
}

TEST_P(AdminTest, ChoiceMustBeKeysOrAll) {
  StartWith(1);
  for (const EntryChoice& choice :
       {EntryChoice{}, EntryChoice{.keys = {KeyOf(0)}, .is_all = true}}) {
    const auto refused = Ask<EvictReport>(
        [&](AdminDone<EvictReport> d) { node_->admin().Evict(choice, std::move(d)); });
    EXPECT_TRUE(absl::IsInvalidArgument(refused.status()));
  }
}

TEST_P(AdminTest, ExplainSaysWhyEachKeyIsThereOrNot) {
  options_.remote_listen = "127.0.0.1:0";
  StartWith(4);
  const auto evicted = Ask<EvictReport>(
      [&](AdminDone<EvictReport> d) { node_->admin().Evict({.keys = {KeyOf(1)}}, std::move(d)); });
  ASSERT_TRUE(evicted.ok());
  auto filler = RemoteWithSession();
  filler->Say(wire::Type::kOffer, OfferOf({EntryOf(8)}));
  ASSERT_TRUE(Until([&] { return !filler->wants.empty(); }));
  const auto why = Explain({.root = root()}, {KeyOf(0), KeyOf(1), KeyOf(8), KeyOf(99)});
  ASSERT_TRUE(why.ok()) << why.status();
  using State = KeyExplanation::State;
  EXPECT_TRUE(why->is_root_known);
  EXPECT_EQ(why->root_entries, 3u);
  EXPECT_EQ(why->keys[0].state, State::kPresent);
  EXPECT_EQ(why->keys[1].state, State::kGone);
  EXPECT_EQ(why->keys[1].gone_why, RemovalReason::kAsked);
  EXPECT_EQ(why->keys[2].state, State::kFilling);
  EXPECT_EQ(why->keys[3].state, State::kNeverSeen);
}

TEST_P(AdminTest, ExplainNamesWhatDiffersFromAnIdentityThatHasEntries) {
  StartWith(4);
  RootClaim claim{.identity = {.model = "model", .rope = "theta=2", .numerics = "n"},
                  .block_tokens = kBlockTokens};
  const auto why = Explain({.claim = claim}, {KeyOf(0)});
  ASSERT_TRUE(why.ok()) << why.status();
  EXPECT_FALSE(why->is_root_known);
  ASSERT_EQ(why->others.size(), 1u);
  EXPECT_EQ(why->others[0].differs_in, std::vector<std::string>{"rope"});
  EXPECT_EQ(why->others[0].entries, 4u);
  EXPECT_EQ(why->others[0].keys_present, 1u);
}

TEST_P(AdminTest, OpenSessionIsRefusedInDevMode) {
  StartWith(0);
  const auto token = Ask<SessionToken>([&](AdminDone<SessionToken> d) {
    node_->admin().OpenSession({.block_tokens = 16}, absl::Seconds(5), std::move(d));
  });
  EXPECT_TRUE(absl::IsFailedPrecondition(token.status()));
}

TEST_P(AdminTest, CallsAreLimitedAndRefusedWhileStopping) {
  options_.ceilings.admin_calls = 2;
  StartWith(4);
  int answered = 0;
  int refused = 0;
  for (int i = 0; i < 5; ++i) {
    node_->admin().Verify({.is_all = true}, [&](absl::StatusOr<VerifyReport> result) {
      ++answered;
      refused += absl::IsResourceExhausted(result.status()) ? 1 : 0;
    });
  }
  ASSERT_TRUE(Until([&] { return answered == 5; }));
  EXPECT_GE(refused, 3);
  bool is_stopped = false;
  node_loop_->Post([&] { node_->Stop([&] { is_stopped = true; }); });
  ASSERT_TRUE(Until([&] { return is_stopped; }));
  const auto late =
      Ask<NodeStatus>([&](AdminDone<NodeStatus> d) { node_->admin().Status(std::move(d)); });
  EXPECT_TRUE(absl::IsUnavailable(late.status()));
}

TEST_P(AdminTest, StopWaitsForAVerifyUnderWay) {
  StartWith(20);
  std::optional<absl::StatusOr<VerifyReport>> report;
  node_->admin().Verify({.is_all = true},
                        [&](absl::StatusOr<VerifyReport> r) { report.emplace(std::move(r)); });
  Settle(absl::Microseconds(40));
  bool is_stopped = false;
  node_loop_->Post([&] { node_->Stop([&] { is_stopped = true; }); });
  ASSERT_TRUE(Until([&] { return is_stopped; }));
  ASSERT_TRUE(report.has_value()) << "no call is left without its answer";
}

}  // namespace
}  // namespace cairn
