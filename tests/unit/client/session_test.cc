#include "libs/client/session.h"

#include "libs/base/limits.h"
#include "libs/base/log.h"
#include "tests/unit/client/client_world.h"

namespace cairn {
namespace {

using SessionTest = ClientWorld;

TEST_F(SessionTest, LocalSessionOpens) {
  UpLocal();
  EXPECT_TRUE(node_->are_macs_right());
  EXPECT_TRUE(node_->has_session());
  EXPECT_EQ(node_->hello().identity.model, "model");
  EXPECT_EQ(node_->hello().block_tokens, 16u);
  EXPECT_EQ(node_->hello().block_bytes, kBlock);
  EXPECT_EQ(node_->hello().producer, "worker");
  EXPECT_EQ(node_->local_proof().pool_bytes, kPoolBytes);
  EXPECT_EQ(node_->local_proof().profile, wire::LocalProfile::kSameUser);
  EXPECT_EQ(profiles_, std::vector<TransportProfile>{TransportProfile::kSameUser});
  EXPECT_EQ(stats().sessions_opened, 1u);
  EXPECT_EQ(stats().attempts_failed, 0u);
  EXPECT_TRUE(client_->is_connected());
}

TEST_F(SessionTest, AClientWithoutAPoolGrantsNone) {
  UpLocal(false);
  EXPECT_EQ(node_->local_proof().pool_bytes, 0u);
}

TEST_F(SessionTest, UnequalUidsUseTheOtherProfile) {
  options_.own_uid = 8;
  UpLocal();
  EXPECT_EQ(node_->local_proof().profile, wire::LocalProfile::kOtherUser);
  EXPECT_EQ(profiles_, std::vector<TransportProfile>{TransportProfile::kOtherUser});
}

TEST_F(SessionTest, ManySegmentsComeInSeveralMessages) {
  node_->script().segments = 5;
  node_->script().grants_per_message = 2;
  UpLocal();
  EXPECT_TRUE(node_->has_session());
}

TEST_F(SessionTest, TheClientMayBeFirst) {
  StartLocal();
  world_.RunFor(absl::Seconds(20));
  const std::uint64_t failed = stats().attempts_failed;
  // Full jitter to 5 s: neither a busy loop nor a long sleep.
  EXPECT_GE(failed, 8u);
  EXPECT_LE(failed, 40u);
  node_->Listen("");
  EXPECT_TRUE(world_.RunUntil([&] { return client_->has_session(); }, absl::Seconds(6)));
}

TEST_F(SessionTest, RemoteSessionProvesTheToken) {
  UpRemote();
  EXPECT_TRUE(node_->are_macs_right());
  EXPECT_EQ(node_->proofs(), 1u);
  EXPECT_EQ(node_->hello().token_id, "dev");
  EXPECT_EQ(profiles_, std::vector<TransportProfile>{TransportProfile::kNetwork});
}

TEST_F(SessionTest, TheTokenIsReadAgainAtEachAttempt) {
  node_->script().token = "new secret";
  node_->Listen("");
  ExpectFails(2);
  EXPECT_GE(tokens_asked_, 2);
  token_ = AccessToken{"dev", "new secret"};
  EXPECT_TRUE(RunUntilUp());
}

TEST_F(SessionTest, WithoutATokenThereIsNoSession) {
  token_ = absl::NotFoundError("no token file");
  node_->Listen("");
  ExpectFails(2);
  EXPECT_EQ(node_->proofs(), 0u);
  token_ = AccessToken{"dev", "secret"};
  EXPECT_TRUE(RunUntilUp());
}

TEST_F(SessionTest, ATokenThatComesLateIsForgotten) {
  absl::AnyInvocable<void(absl::StatusOr<AccessToken>)> late;
  options_.tokens = [&](absl::AnyInvocable<void(absl::StatusOr<AccessToken>)> done) {
    late = std::move(done);
  };
  node_->Listen("");
  ExpectFails(1);
  StopClient();
  late(AccessToken{"dev", "secret"});  // the client is gone
  Settle();
  EXPECT_EQ(node_->proofs(), 0u);
}

TEST_F(SessionTest, ASilentNodeIsLeftAtTheAttemptsDeadline) {
  node_->script().stays_silent = true;
  node_->Listen("");
  StartLocal();
  world_.RunFor(absl::Milliseconds(4900));
  EXPECT_EQ(stats().attempts_failed, 0u);
  world_.RunFor(absl::Milliseconds(200));
  EXPECT_EQ(stats().attempts_failed, 1u);
  node_->script().stays_silent = false;
  EXPECT_TRUE(RunUntilUp());
}

TEST_F(SessionTest, AnIdentityTooLongForAHelloFails) {
  options_.identity.rope = std::string(limits::kFirstMessageBytesMax, 'r');
  ExpectRefusal();
  EXPECT_EQ(node_->hellos(), 0u);
}

TEST_F(SessionTest, WithoutATransportThereIsNoSession) {
  transport_error_ = absl::ResourceExhaustedError("need 5 MB in /dev/shm");
  ExpectRefusal();
  transport_error_ = absl::OkStatus();
  EXPECT_TRUE(RunUntilUp());
}

TEST_F(SessionTest, ARestartedNodeIsFoundAgain) {
  UpLocal();
  CrashNode();
  ASSERT_TRUE(world_.RunUntil([&] { return !client_->has_session(); }, absl::Seconds(2)));
  EXPECT_EQ(stats().sessions_lost, 1u);
  EXPECT_FALSE(client_->is_connected());
  NewNode();
  node_->script().node_boot = {11, 12};
  node_->script().arena_boot = {13, 14};
  node_->Listen("");
  ASSERT_TRUE(RunUntilUp());
  EXPECT_EQ(stats().sessions_opened, 2u);
  EXPECT_EQ(stats().node_restarts, 1u);
  EXPECT_EQ(stats().arenas_changed, 1u);
  EXPECT_EQ(profiles_.size(), 1u) << "the transport of a profile is made once";
}

// Promise 5: a line that names peer and phase.
class Lines : public LogSink {
 public:
  Lines() { SetLogSink(this); }
  ~Lines() override { SetLogSink(nullptr); }
  void Write(absl::string_view line) override { all += std::string(line) + "\n"; }
  std::string all;
};

TEST_F(SessionTest, ALossIsOneLineWithPeerAndPhase) {
  UpLocal();
  Lines lines;
  CrashNode();
  ASSERT_TRUE(world_.RunUntil([&] { return !client_->has_session(); }, absl::Seconds(2)));
  EXPECT_NE(lines.all.find("session_lost peer=/run/node.sock phase=up"), std::string::npos)
      << lines.all;
  world_.RunFor(absl::Seconds(30));
  EXPECT_EQ(lines.all.find("session_failed"), std::string::npos) << "held back: " << lines.all;
}

TEST_F(SessionTest, TheSameNodeAgainIsNoRestart) {
  UpLocal();
  network_.BreakEndpoints(*node_loop_);
  ASSERT_TRUE(world_.RunUntil([&] { return !client_->has_session(); }, absl::Seconds(2)));
  ASSERT_TRUE(RunUntilUp());
  EXPECT_EQ(stats().node_restarts, 0u);
  EXPECT_EQ(stats().arenas_changed, 0u);
}

TEST_F(SessionTest, TheEndOfTheChannelIsTheEndOfTheSession) {
  UpLocal();
  node_->CloseChannel();
  ASSERT_TRUE(world_.RunUntil([&] { return !client_->has_session(); }, absl::Seconds(2)));
  EXPECT_EQ(stats().sessions_lost, 1u);
}

TEST_F(SessionTest, AProvenNodeIsSoonAskedAgain) {
  StartLocal();
  world_.RunFor(absl::Seconds(30));  // the wait has grown to seconds
  node_->Listen("");
  ASSERT_TRUE(RunUntilUp());
  node_->Say(wire::Type::kStored, wire::Encode(wire::Stored{}));
  Settle();
  node_->CloseChannel();
  ASSERT_TRUE(world_.RunUntil([&] { return !client_->has_session(); }, absl::Seconds(2)));
  EXPECT_TRUE(world_.RunUntil([&] { return client_->has_session(); }, absl::Milliseconds(150)));
}

TEST_F(SessionTest, StopEndsAnAttempt) {
  node_->script().stays_silent = true;
  node_->Listen("");
  StartLocal();
  Settle();
  StopClient();
}

TEST_F(SessionTest, StopEndsTheWaitForTheNextAttempt) {
  StartLocal();
  ASSERT_TRUE(world_.RunUntil([&] { return stats().attempts_failed >= 1; }, absl::Seconds(1)));
  const int asked = tokens_asked_;
  StopClient();
  world_.RunFor(absl::Seconds(20));
  EXPECT_EQ(tokens_asked_, asked);
}

TEST_F(SessionTest, StopIsNoLoss) {
  UpLocal();
  bool is_done = false;
  client_->Stop([&] {
    is_done = true;
    EXPECT_EQ(client_->stats().sessions_lost, 0u);
  });
  EXPECT_FALSE(client_->has_session());
  ASSERT_TRUE(world_.RunUntil([&] { return is_done; }, absl::Seconds(2)));
  client_.reset();
  Settle();
  EXPECT_FALSE(node_->has_session());
}

TEST_F(SessionTest, AnAbandonedClientMayBeDestroyed) {
  UpLocal();
  network_.Crash(loop_);
  hub_.Crash(loop_);
  loop_.Crash();
  client_->Abandon();
  client_.reset();
  Settle();
  EXPECT_FALSE(node_->has_session());
}

}  // namespace
}  // namespace cairn
