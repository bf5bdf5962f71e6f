#ifndef CAIRN_TESTS_UNIT_CLIENT_CLIENT_WORLD_H_
#define CAIRN_TESTS_UNIT_CLIENT_CLIENT_WORLD_H_

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "libs/base/checksum.h"
#include "libs/client/cache_client.h"
#include "libs/copier_manual/manual_copier.h"
#include "libs/local_loopback/local_hub.h"
#include "libs/loop_manual/manual_world.h"
#include "libs/memory_heap/heap_memory.h"
#include "libs/transport_loopback/loopback_network.h"
#include "tests/support/forwarding_transport.h"
#include "tests/support/scripted_node.h"

namespace cairn {

// A copier that refuses or waits when a test bids.
class TestCopier : public Copier {
 public:
  explicit TestCopier(Loop& loop) : under_(loop, {.seed = 5}) {}
  absl::Status Copy(absl::Span<std::byte> target, absl::Span<const std::byte> source,
                    absl::AnyInvocable<void(Checksum)> done) override {
    return under_.Copy(target, source, std::move(done));
  }
  absl::Status Sum(absl::Span<const std::byte> bytes,
                   absl::AnyInvocable<void(Checksum)> done) override {
    if (refuses) return absl::ResourceExhaustedError("as bidden");
    ++sums;
    if (!holds) return under_.Sum(bytes, std::move(done));
    held_.push_back({bytes, std::move(done)});
    return absl::OkStatus();
  }
  void Release() {
    holds = false;
    for (auto& [bytes, done] : std::exchange(held_, {})) {
      ASSERT_TRUE(under_.Sum(bytes, std::move(done)).ok());
    }
  }
  bool refuses = false;
  bool holds = false;
  int sums = 0;

 private:
  ManualCopier under_;
  std::deque<std::pair<absl::Span<const std::byte>, absl::AnyInvocable<void(Checksum)>>> held_;
};

// A transport whose sends fail when a test bids.
class TestTransport : public ForwardingTransport {
 public:
  TestTransport(std::unique_ptr<Transport> under, const absl::Status& send_error)
      : ForwardingTransport(std::move(under)), send_error_(send_error) {}
  absl::Status Send(EndpointId to, MessageType type, std::string body) override {
    if (!send_error_.ok()) return send_error_;
    return ForwardingTransport::Send(to, type, std::move(body));
  }
  absl::Status SendBulk(EndpointId to, MessageType type, std::string header,
                        absl::Span<const std::byte> bytes,
                        absl::AnyInvocable<void(absl::Status)> done) override {
    if (!send_error_.ok()) return send_error_;
    return ForwardingTransport::SendBulk(to, type, std::move(header), bytes, std::move(done));
  }

 private:
  const absl::Status& send_error_;
};

inline Digest256 TestDigest(std::uint8_t fill) {
  Digest256 digest;
  digest.bytes.fill(fill);
  return digest;
}

// One client and one scripted node on one host, or (remote) on two.
class ClientWorld : public ::testing::Test {
 protected:
  static constexpr char kPath[] = "/run/node.sock";
  static constexpr std::uint64_t kPoolBytes = 64 * 1024;
  static constexpr std::uint64_t kBlock = ScriptedNode::kSlotBytes;

  ClientWorld() {
    NewNode();
    auto pool = memory_.Create("pool", kPoolBytes);
    EXPECT_TRUE(pool.ok());
    pool_ = *std::move(pool);
    options_.peer_name = kPath;
    options_.tokens = [this](absl::AnyInvocable<void(absl::StatusOr<AccessToken>)> done) {
      ++tokens_asked_;
      done(token_);
    };
    options_.producer = "worker";
    options_.identity.model = "model";
    options_.block_tokens = 16;
    options_.block_bytes = kBlock;
    options_.root = TestDigest(9);
    options_.own_uid = 7;
    options_.seed = 1;
  }
  // Not in the destructor: what is told at the end may land in members of a derived test.
  void TearDown() override {
    StopClient();
    Settle();  // the node's side
    EXPECT_EQ(network_.loans(), 0u);
  }

  void NewNode() {
    node_loop_ = &world_.AddLoop({.name = "node", .clock_offset = absl::Seconds(77)});
    node_ = std::make_unique<ScriptedNode>(*node_loop_, network_, hub_, memory_, kPath,
                                           PeerProcess{.uid = 7, .pid = 1});
    node_->script().root = TestDigest(9);
  }
  // kill -9 of the node.
  void CrashNode() {
    network_.Crash(*node_loop_);
    hub_.Crash(*node_loop_);
    node_loop_->Crash();
    node_.reset();
  }

  TransportFactory Factory() {
    return [this](TransportProfile profile,
                  TransportReceiver& receiver) -> absl::StatusOr<std::unique_ptr<Transport>> {
      profiles_.push_back(profile);
      if (!transport_error_.ok()) return transport_error_;
      return std::make_unique<TestTransport>(network_.NewTransport(loop_, receiver), send_error_);
    };
  }
  void StartLocal(bool has_pool = true) {
    dialer_ = hub_.NewDialer(loop_, kPath, {.uid = 7, .pid = 2});
    client_ = std::make_unique<CacheClient>(ClientPorts{.loop = loop_,
                                                        .copier = copier_,
                                                        .transports = Factory(),
                                                        .dialer = dialer_.get(),
                                                        .memory = &memory_,
                                                        .pool = has_pool ? pool_.get() : nullptr},
                                            std::move(options_));
    client_->Start();
  }
  void StartRemote() {
    client_ = std::make_unique<CacheClient>(ClientPorts{.loop = loop_,
                                                        .copier = copier_,
                                                        .transports = Factory(),
                                                        .remote_address = node_->listening_at()},
                                            std::move(options_));
    client_->Start();
  }
  bool RunUntilUp() {
    return world_.RunUntil([this] { return client_->has_session(); }, absl::Seconds(30));
  }
  void StopClient() {
    if (client_ == nullptr) return;
    bool is_done = false;
    client_->Stop([&] { is_done = true; });
    EXPECT_TRUE(world_.RunUntil([&] { return is_done; }, absl::Seconds(30)));
    client_.reset();
  }
  void UpLocal(bool has_pool = true) {
    node_->Listen("");
    StartLocal(has_pool);
    ASSERT_TRUE(RunUntilUp());
  }
  void UpRemote() {
    node_->Listen("127.0.0.1:0");
    StartRemote();
    ASSERT_TRUE(RunUntilUp());
  }
  // Runs until the client has failed `attempts` times; no session may have come.
  void ExpectFails(std::uint64_t attempts) {
    StartLocal();
    ASSERT_TRUE(
        world_.RunUntil([&] { return stats().attempts_failed >= attempts; }, absl::Seconds(60)));
    EXPECT_EQ(stats().sessions_opened, 0u);
    EXPECT_FALSE(client_->has_session());
  }
  // A spoilt node is no node, is not believed, and is asked again.
  void ExpectProtocolError() {
    node_->Listen("");
    ExpectFails(2);
    EXPECT_GE(stats().protocol_errors, 2u);
  }
  void ExpectRefusal() {
    node_->Listen("");
    ExpectFails(2);
    EXPECT_EQ(stats().protocol_errors, 0u);
  }

  Instant After(absl::Duration d) { return loop_.Now() + d; }
  void Settle() { world_.RunFor(absl::Milliseconds(50)); }
  const ClientStats& stats() const { return client_->stats(); }

  ManualWorld world_{{.seed = 3}};
  LoopbackNetwork network_{4};
  LocalHub hub_{{.seed = 5}};
  HeapMemorySource memory_;
  ManualLoop& loop_ = world_.AddLoop({.name = "client"});
  ManualLoop* node_loop_ = nullptr;
  TestCopier copier_{loop_};
  std::unique_ptr<ScriptedNode> node_;
  std::unique_ptr<OwnedMemory> pool_;
  std::unique_ptr<LocalDialer> dialer_;
  absl::StatusOr<AccessToken> token_ = AccessToken{"dev", "secret"};
  int tokens_asked_ = 0;
  std::vector<TransportProfile> profiles_;
  absl::Status transport_error_;
  absl::Status send_error_;  // of every send, while it is not OK
  ClientOptions options_;
  std::unique_ptr<CacheClient> client_;
};

}  // namespace cairn
#endif  // CAIRN_TESTS_UNIT_CLIENT_CLIENT_WORLD_H_
