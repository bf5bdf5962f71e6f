#include <gtest/gtest.h>

#include "tests/unit/node/node_world.h"

namespace cairn {
namespace {

class SessionsTest : public NodeWorld {};
INSTANTIATE_TEST_SUITE_P(Shards, SessionsTest, testing::Values(1, 4));

std::uint64_t Refused(const FrontStats& stats, HelloRefusal why) {
  return stats.hello_refused[static_cast<std::size_t>(why)];
}

TEST_P(SessionsTest, LocalPeerWithTheTokenGetsArenaAndSession) {
  StartNode();
  auto peer = LocalWithSession();
  EXPECT_EQ(peer->arena.size(), 8u);
  EXPECT_EQ(peer->local_welcome->segments_total, 8u);
  EXPECT_EQ(peer->welcome->pins_max, options_.pins_per_session_max);
  const NodeStatus status = NodeStatusNow();
  ASSERT_EQ(status.sessions.size(), 1u);
  EXPECT_EQ(status.sessions[0].producer, "peer-1");
  EXPECT_EQ(status.sessions[0].root, peer->welcome->root);
  EXPECT_EQ(status.stats.front.hello_pending, 0u);
}

TEST_P(SessionsTest, WrongTokenGetsNoDescriptor) {
  StartNode();
  RawPeer::Options options = PeerOptions();
  options.token = std::string(32, 'x');
  auto peer = Local(options);
  ASSERT_TRUE(Until([&] { return peer->local_refused.has_value(); }));
  EXPECT_EQ(peer->local_refused->result, wire::WelcomeResult::kBadToken);
  EXPECT_TRUE(peer->arena.empty());
  EXPECT_EQ(Refused(FrontNow(), HelloRefusal::kBadToken), 1u);
}

TEST_P(SessionsTest, AnotherUserIsRefusedUnlessServed) {
  StartNode();
  auto peer = Local(PeerOptions(), {.uid = 77, .pid = 3});
  ASSERT_TRUE(Until([&] { return peer->local_refused.has_value(); }));
  EXPECT_NE(peer->local_refused->message.find("serves uid 0 only"), std::string::npos);

  CrashNode();
  options_.serves_other_users = true;
  StartNode();
  RawPeer::Options options = PeerOptions();
  auto wrong_profile = Local(options, {.uid = 77, .pid = 3});
  ASSERT_TRUE(Until([&] { return wrong_profile->local_refused.has_value(); }));
  options.profile = wire::LocalProfile::kOtherUser;
  auto right_profile = Local(options, {.uid = 77, .pid = 3});
  EXPECT_TRUE(Until([&] { return right_profile->has_session(); }));
}

TEST_P(SessionsTest, WrongTicketIsRefused) {
  StartNode();
  RawPeer::Options options = PeerOptions();
  options.sends_hello = false;
  auto peer = Local(options);
  ASSERT_TRUE(Until([&] { return peer->local_welcome.has_value(); }));
  wire::Hello hello = options.hello;
  hello.ticket = std::string(wire::kTicketBytes, '?');
  peer->Say(wire::Type::kHello, hello);
  ASSERT_TRUE(Until([&] { return peer->welcome.has_value(); }));
  EXPECT_EQ(peer->welcome->result, wire::WelcomeResult::kBadToken);
  EXPECT_EQ(FrontNow().sessions, 0u);
}

TEST_P(SessionsTest, AnythingButHelloClosesANewEndpoint) {
  StartNode();
  RawPeer::Options options = PeerOptions();
  options.sends_hello = false;
  auto early = Local(options);
  ASSERT_TRUE(Until([&] { return early->local_welcome.has_value(); }));
  early->Say(wire::Type::kAcquire, AcquireOf(0, 3));
  EXPECT_TRUE(Until([&] { return early->is_closed; }));

  auto large = Local(options);
  ASSERT_TRUE(Until([&] { return large->local_welcome.has_value(); }));
  large->Send(wire::Type::kHello, std::string(limits::kFirstMessageBytesMax + 1, 'x'));
  EXPECT_TRUE(Until([&] { return large->is_closed; }));

  auto bulk = Local(options);
  ASSERT_TRUE(Until([&] { return bulk->local_welcome.has_value(); }));
  bulk->SendData({RequestId(1), 0}, bulk->pool());
  EXPECT_TRUE(Until([&] { return bulk->is_closed; }));
  EXPECT_EQ(Refused(FrontNow(), HelloRefusal::kMalformed), 3u);
}

TEST_P(SessionsTest, MalformedMessageEndsTheSession) {
  StartNode();
  auto peer = LocalWithSession();
  peer->Send(wire::Type::kAcquire, "garbage");
  EXPECT_TRUE(Until([&] { return peer->is_closed; }));
  EXPECT_EQ(FrontNow().messages_malformed, 1u);
  EXPECT_EQ(FrontNow().sessions, 0u);
}

TEST_P(SessionsTest, SecondHelloEndsTheSession) {
  StartNode();
  auto peer = LocalWithSession();
  wire::Hello hello = peer->options().hello;
  hello.ticket = peer->local_welcome->ticket;
  peer->Say(wire::Type::kHello, hello);
  EXPECT_TRUE(Until([&] { return peer->is_closed; }));
}

TEST_P(SessionsTest, HandShakeHasADeadlineAndALimit) {
  options_.hello_pending_max = 2;
  StartNode();
  RawPeer::Options options = PeerOptions();
  options.sends_hello = false;
  auto a = Local(options);
  auto b = Local(options);
  ASSERT_TRUE(Until([&] { return a->local_welcome.has_value() && b->local_welcome.has_value(); }));
  auto c = Local(options);
  ASSERT_TRUE(Until([&] { return c->is_channel_closed; }));
  EXPECT_EQ(Refused(FrontNow(), HelloRefusal::kFull), 1u);
  Settle(options_.hello_deadline + absl::Seconds(1));
  EXPECT_TRUE(a->is_channel_closed);
  EXPECT_TRUE(b->is_channel_closed);
  EXPECT_EQ(Refused(FrontNow(), HelloRefusal::kDeadline), 2u);
  EXPECT_EQ(FrontNow().hello_pending, 0u);
  LocalWithSession();
}

TEST_P(SessionsTest, SessionsMaxRefusesTheNext) {
  options_.sessions_max = 1;
  StartNode();
  auto first = LocalWithSession();
  auto second = Local(PeerOptions());
  ASSERT_TRUE(Until([&] { return second->is_channel_closed; }));
  first->CloseChannel();
  Settle();
  LocalWithSession();
}

TEST_P(SessionsTest, SessionEndsWithItsChannelOrItsEndpoint) {
  StartNode();
  auto a = LocalWithSession();
  auto b = LocalWithSession();
  a->CloseChannel();
  EXPECT_TRUE(Until([&] { return a->is_closed; }));
  b->CloseEndpoint();
  EXPECT_TRUE(Until([&] { return b->is_channel_closed; }));
  EXPECT_EQ(FrontNow().sessions, 0u);
  EXPECT_EQ(FrontNow().sessions_ended, 2u);
  EXPECT_TRUE(NodeStatusNow().sessions.empty());
}

TEST_P(SessionsTest, PoolThatCouldFaultIsRefused) {
  options_.pool_bytes_max = 64 * kKiB;
  StartNode();
  RawPeer::Options options = PeerOptions();
  options.pool_bytes = 128 * kKiB;
  auto peer = Local(options);
  ASSERT_TRUE(Until([&] { return peer->local_refused.has_value(); }));
  EXPECT_EQ(Refused(FrontNow(), HelloRefusal::kBadPool), 1u);
}

TEST_P(SessionsTest, BlockThatFitsNoSegmentIsRefused) {
  StartNode();
  RawPeer::Options options = PeerOptions();
  options.hello.block_bytes = options_.segment_bytes;
  auto peer = Local(options);
  ASSERT_TRUE(Until([&] { return peer->welcome.has_value(); }));
  EXPECT_EQ(peer->welcome->result, wire::WelcomeResult::kBadIdentity);
}

TEST_P(SessionsTest, RemotePeerProvesItsToken) {
  options_.remote_listen = "127.0.0.1:0";
  StartNode();
  auto peer = RemoteWithSession();
  EXPECT_TRUE(peer->has_session());
  RawPeer::Options options = PeerOptions();
  options.pool_bytes = 0;
  options.token = std::string(32, 'x');
  auto stranger = Remote(options);
  ASSERT_TRUE(Until([&] { return stranger->welcome.has_value(); }));
  EXPECT_EQ(stranger->welcome->result, wire::WelcomeResult::kBadToken);
  options.token_id = "other";
  auto unknown = Remote(options);
  ASSERT_TRUE(Until([&] { return unknown->welcome.has_value(); }));
  EXPECT_EQ(unknown->welcome->result, wire::WelcomeResult::kBadToken);
}

TEST_P(SessionsTest, OpenedTokenIsGoodForItsRootUntilItExpires) {
  options_.dev_token.clear();
  StartNode();
  RawPeer::Options options = PeerOptions();
  RootClaim claim{.identity = {.model = "model", .rope = "theta=1", .numerics = "n"},
                  .block_tokens = kBlockTokens};
  const absl::StatusOr<SessionToken> token = Ask<SessionToken>([&](AdminDone<SessionToken> d) {
    node_->admin().OpenSession(claim, absl::Seconds(60), std::move(d));
  });
  ASSERT_TRUE(token.ok()) << token.status();
  options.token_id = token->id;
  options.token = token->secret;
  auto peer = Local(options);
  EXPECT_TRUE(Until([&] { return peer->has_session(); }));

  options.hello.identity.rope = "theta=2";
  auto other_root = Local(options);
  ASSERT_TRUE(Until([&] { return other_root->welcome.has_value(); }));
  EXPECT_EQ(other_root->welcome->result, wire::WelcomeResult::kBadToken);

  Settle(absl::Seconds(61));
  EXPECT_TRUE(peer->has_session() && !peer->is_closed) << "expiry ends no session";
  auto late = Local(options);
  ASSERT_TRUE(Until([&] { return late->local_refused.has_value(); }));
}

TEST_P(SessionsTest, StopEndsSessionsAndRefusesNewcomers) {
  StartNode();
  auto peer = LocalWithSession();
  Store(*peer.peer, 0, 4);
  const wire::Acquired hit = Acquire(*peer.peer, AcquireOf(0, 4));
  EXPECT_EQ(hit.hits.size(), 4u);
  bool is_stopped = false;
  node_loop_->Post([&] { node_->Stop([&] { is_stopped = true; }); });
  ASSERT_TRUE(Until([&] { return is_stopped; }));
  EXPECT_TRUE(Until([&] { return peer->is_closed; }));
  EXPECT_EQ(InPlace(*peer.peer, hit.hits[0]), BytesOf(0)) << "its mapping lives on";
  EXPECT_FALSE(hub_.NewDialer(*peer.loop, "/node.sock", {})->Dial().ok());
  EXPECT_EQ(network_.loans(), 0u);
}

}  // namespace
}  // namespace cairn
