// Nodes that are refused, or that refuse: whatever is said while a session opens or lives.
#include "libs/client/session.h"
#include "tests/unit/client/client_world.h"

namespace cairn {
namespace {

using SessionRefusedTest = ClientWorld;

TEST_F(SessionRefusedTest, ANodeWithoutTheTokenIsNotBelieved) {
  node_->script().edit_local_welcome = [](wire::LocalWelcome& m, LocalChannel::Message&) {
    m.mac.bytes[0] ^= 1;
  };
  ExpectRefusal();
  EXPECT_EQ(node_->hellos(), 0u);
}

TEST_F(SessionRefusedTest, ARefusalOnTheChannelEndsTheAttempt) {
  node_->script().instead_of_local_welcome =
      wire::Encode(wire::LocalRefused{wire::WelcomeResult::kBadToken, "unknown token"});
  ExpectRefusal();
}

TEST_F(SessionRefusedTest, EachRefusalInWelcomeEndsTheAttempt) {
  for (const wire::WelcomeResult result :
       {wire::WelcomeResult::kBadVersion, wire::WelcomeResult::kBadToken,
        wire::WelcomeResult::kBadIdentity, wire::WelcomeResult::kFull,
        wire::WelcomeResult::kStopping}) {
    node_->script().edit_welcome = [&](wire::Welcome& m) {
      m.result = result;
      m.message = "no";
    };
    if (client_ == nullptr) {
      node_->Listen("");
      StartLocal();
    }
    const std::uint64_t failed = stats().attempts_failed;
    ASSERT_TRUE(world_.RunUntil([&] { return stats().attempts_failed > failed; },
                                absl::Seconds(60)));
  }
  EXPECT_EQ(stats().protocol_errors, 0u);
  node_->script().edit_welcome = nullptr;
  EXPECT_TRUE(RunUntilUp());
}

TEST_F(SessionRefusedTest, AnotherRootIsRefused) {
  node_->script().root = TestDigest(10);
  ExpectRefusal();
  EXPECT_GE(stats().roots_refused, 2u);
}

TEST_F(SessionRefusedTest, ChannelAndEndpointMustLeadToOneNode) {
  node_->script().edit_welcome = [](wire::Welcome& m) { m.node_boot.low ^= 1; };
  ExpectProtocolError();
}

TEST_F(SessionRefusedTest, AnotherVersionIsRefused) {
  node_->script().edit_challenge = [](wire::LocalChallenge& m) { m.version = 99; };
  ExpectRefusal();
}

TEST_F(SessionRefusedTest, NoiseOnTheChannelEndsTheAttempt) {
  node_->script().instead_of_challenge = "noise";
  ExpectProtocolError();
}

TEST_F(SessionRefusedTest, AnEmptyMessageOnTheChannelEndsTheAttempt) {
  node_->script().instead_of_challenge = std::string();
  ExpectProtocolError();
}

TEST_F(SessionRefusedTest, AWelcomeBeforeTheProofEndsTheAttempt) {
  node_->script().instead_of_challenge = wire::Encode(
      wire::LocalWelcome{.ticket = std::string(wire::kTicketBytes, 't')});
  ExpectProtocolError();
}

TEST_F(SessionRefusedTest, AProofFromTheNodeEndsTheAttempt) {
  node_->script().instead_of_challenge =
      wire::Encode(wire::LocalProof{.client_nonce = std::string(wire::kNonceBytes, 'n')});
  ExpectProtocolError();
}

TEST_F(SessionRefusedTest, SegmentsBeforeTheWelcomeEndTheAttempt) {
  node_->script().instead_of_local_welcome = wire::Encode(wire::LocalSegments{});
  ExpectProtocolError();
}

TEST_F(SessionRefusedTest, ASecondChallengeEndsTheAttempt) {
  node_->script().instead_of_local_welcome = wire::Encode(
      wire::LocalChallenge{.node_nonce = std::string(wire::kNonceBytes, 'n')});
  ExpectProtocolError();
}

TEST_F(SessionRefusedTest, ATruncatedWelcomeEndsTheAttempt) {
  node_->script().instead_of_local_welcome = std::string("\3\0\0", 3);
  ExpectProtocolError();
}

TEST_F(SessionRefusedTest, AGrantTooFewEndsTheAttempt) {
  node_->script().edit_local_welcome = [](wire::LocalWelcome&, LocalChannel::Message& message) {
    message.grants.pop_back();
  };
  ExpectProtocolError();
}

TEST_F(SessionRefusedTest, MoreSegmentsThanAnnouncedEndTheAttempt) {
  node_->script().segments = 4;
  node_->script().grants_per_message = 2;
  node_->script().edit_local_welcome = [](wire::LocalWelcome& m, LocalChannel::Message&) {
    m.segments_total = 3;
  };
  ExpectProtocolError();
}

TEST_F(SessionRefusedTest, SegmentsWithoutASegmentEndTheAttempt) {
  node_->script().edit_local_welcome = [this](wire::LocalWelcome& m, LocalChannel::Message&) {
    m.segments_total = 3;  // one more than there is
    node_loop_->Post([this] { node_->SayLocal(wire::Encode(wire::LocalSegments{})); });
  };
  ExpectProtocolError();
}

TEST_F(SessionRefusedTest, UnsealedMemoryEndsTheAttempt) {
  node_->script().edit_local_welcome = [](wire::LocalWelcome&, LocalChannel::Message& message) {
    message.grants[1] = FlawedHeapGrant(ScriptedNode::kSegmentBytes, HeapFlaw::kUnsealed);
  };
  ExpectProtocolError();
}

TEST_F(SessionRefusedTest, AMessageBeforeWelcomeEndsTheAttempt) {
  node_->script().instead_of_welcome = {wire::Type::kStored, wire::Encode(wire::Stored{})};
  ExpectProtocolError();
}

TEST_F(SessionRefusedTest, NoiseInsteadOfWelcomeEndsTheAttempt) {
  node_->script().instead_of_welcome = {wire::Type::kWelcome, "noise"};
  ExpectProtocolError();
}

TEST_F(SessionRefusedTest, AChallengeToATicketEndsTheAttempt) {
  node_->script().instead_of_welcome = {
      wire::Type::kChallenge, wire::Encode(wire::Challenge{std::string(wire::kNonceBytes, 'n')})};
  ExpectProtocolError();
}

TEST_F(SessionRefusedTest, ASecondChallengeOverTheNetworkEndsTheAttempt) {
  node_->script().instead_of_welcome = {
      wire::Type::kChallenge, wire::Encode(wire::Challenge{std::string(wire::kNonceBytes, 'n')})};
  node_->Listen("127.0.0.1:0");
  StartRemote();
  ASSERT_TRUE(world_.RunUntil([&] { return stats().protocol_errors >= 1; }, absl::Seconds(60)));
  EXPECT_EQ(node_->proofs(), 1u);
}

TEST_F(SessionRefusedTest, AWordOnTheChannelOfALiveSessionEndsIt) {
  UpLocal();
  node_->SayLocal(wire::Encode(wire::LocalSegments{}));
  ASSERT_TRUE(world_.RunUntil([&] { return !client_->has_session(); }, absl::Seconds(2)));
  EXPECT_EQ(stats().protocol_errors, 1u);
}

TEST_F(SessionRefusedTest, AMessageThatNoNodeSendsEndsTheSession) {
  for (const int type : {0, 1, 4, 5, 7, 8, 9, 10, 12, 14, 16, 31}) {
    if (client_ == nullptr) UpLocal();
    ASSERT_TRUE(RunUntilUp());
    const std::uint64_t errors = stats().protocol_errors;
    node_->Say(static_cast<wire::Type>(type), "");
    ASSERT_TRUE(world_.RunUntil([&] { return !client_->has_session(); }, absl::Seconds(2)));
    EXPECT_EQ(stats().protocol_errors, errors + 1) << type;
  }
}

TEST_F(SessionRefusedTest, NoiseInAnAnswerEndsTheSession) {
  for (const wire::Type type : {wire::Type::kAcquired, wire::Type::kPullFailed, wire::Type::kWant,
                                wire::Type::kStored}) {
    if (client_ == nullptr) UpLocal();
    ASSERT_TRUE(RunUntilUp());
    const std::uint64_t errors = stats().protocol_errors;
    node_->Say(type, "noise");
    ASSERT_TRUE(world_.RunUntil([&] { return !client_->has_session(); }, absl::Seconds(2)));
    EXPECT_EQ(stats().protocol_errors, errors + 1) << static_cast<int>(type);
  }
}

}  // namespace
}  // namespace cairn
