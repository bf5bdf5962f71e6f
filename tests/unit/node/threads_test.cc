// The node on real threads: one loop for the front and one for each shard, copies on their own.
// What the simulation cannot show is a data race: this runs under TSan.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "libs/base/bytes.h"
#include "libs/base/sha256.h"
#include "libs/copier_threads/thread_copier.h"
#include "libs/loop_asio/asio_loop.h"
#include "libs/memory_heap/heap_memory.h"
#include "libs/node/node.h"
#include "libs/transport_loopback/loopback_network.h"
#include "tests/support/raw_peer.h"

namespace cairn {
namespace {

constexpr std::uint64_t kBlockBytes = 16384;
constexpr int kKeys = 40;
constexpr std::uint64_t kPatienceMicros = 60'000'000;

std::string BytesOf(int key) {
  std::string out;
  while (out.size() < kBlockBytes) {
    absl::StrAppend(&out, Sha256Of(absl::StrCat(key, ".", out.size())).view());
  }
  return out;
}

class ThreadedNode {
 public:
  explicit ThreadedNode(std::uint32_t shards) {
    NodeOptions options;
    options.segment_bytes = 256 * kKiB;
    options.arena_bytes = 2 * shards * options.segment_bytes;
    options.shards = shards;
    options.dev_token = std::string(32, 't');
    options.remote_listen = "127.0.0.1:0";
    NodePorts ports{
        .loop = front_,
        .memory = memory_,
        .shards = {},
        .local_listener = {},
        .make_transport = [this](LaneKind, TransportReceiver& r) {
          return absl::StatusOr<std::unique_ptr<Transport>>(network_.NewTransport(front_, r));
        }};
    for (std::uint32_t i = 0; i < shards; ++i) {
      loops_.push_back(std::make_unique<AsioLoop>());
      copiers_.push_back(std::make_unique<ThreadCopier>(*loops_.back(), ThreadCopier::Options{1}));
      ports.shards.push_back({*loops_.back(), *copiers_.back()});
    }
    node_ = *Node::Create(options, std::move(ports));
    EXPECT_TRUE(node_->Start().ok());
    for (const auto& loop : loops_) loop->Start("shard");
    front_.Start("front");
  }
  ~ThreadedNode() {
    std::promise<void> stopped;
    front_.Post([&] { node_->Stop([&] { stopped.set_value(); }); });
    stopped.get_future().wait();
    front_.Stop();
    for (const auto& loop : loops_) loop->Stop();
    node_.reset();
  }
  NodeStatus Status() {
    // Shared: the one who sets it may still be at it when the waiting one has gone on.
    const auto status = std::make_shared<std::promise<NodeStatus>>();
    node_->admin().Status([status](absl::StatusOr<NodeStatus> s) { status->set_value(*s); });
    return status->get_future().get();
  }
  LoopbackNetwork& network() { return network_; }
  NodeAdmin& admin() { return node_->admin(); }

 private:
  LoopbackNetwork network_{1};
  HeapMemorySource memory_;
  AsioLoop front_;
  std::vector<std::unique_ptr<AsioLoop>> loops_;
  std::vector<std::unique_ptr<ThreadCopier>> copiers_;
  std::unique_ptr<Node> node_;
};

// A peer on a thread of its own that stores and reads the same keys as all others.
class Worker {
 public:
  Worker(ThreadedNode& node, const std::string& address, int number) : number_(number) {
    RawPeer::Options options;
    options.token = std::string(32, 't');
    options.hello.identity.model = "m";
    options.hello.block_tokens = 16;
    options.hello.block_bytes = kBlockBytes;
    options.hello.producer = absl::StrCat("worker-", number);
    peer_ = std::make_unique<RawPeer>(
        loop_, memory_, [&](TransportReceiver& r) { return node.network().NewTransport(loop_, r); },
        options);
    for (int i = 0; i < kKeys; ++i) bytes_.push_back(BytesOf(i));
    loop_.Start("worker");
    loop_.Post([this, address] {
      peer_->Dial(address);
      Step();
    });
  }
  ~Worker() {
    loop_.Stop();
    peer_.reset();
  }
  void Wait() { done_.get_future().wait(); }
  int wrong() const { return wrong_; }
  int right() const { return right_; }

 private:
  void Again() {
    loop_.RunAt(loop_.Now() + absl::Microseconds(200), [this] { Step(); });
  }
  void Step() {
    if (!peer_->has_session()) return Again();
    for (const wire::WantMessage& want : peer_->wants) {
      for (const wire::WantEntry& e : want.entries) {
        if (e.verdict != wire::Verdict::kWanted) continue;
        peer_->SendData({want.request, e.index},
                        AsBytes(bytes_[(want.request.value() + e.index) % kKeys]));
      }
    }
    peer_->wants.clear();
    for (const RawPeer::Data& data : peer_->data) {
      const int key = AskedKey(data.header.request, data.header.index);
      (data.bytes == bytes_[key] ? right_ : wrong_) += 1;
    }
    peer_->data.clear();
    // Some of it must have come back, however late the node's threads get their turn.
    if (++rounds_ > 150 && (right_ + wrong_ > 0 || peer_->is_closed)) {
      done_.set_value();
      return;
    }
    if (rounds_ % 2 == 0) {
      Offer();
    } else {
      Acquire();
    }
    Again();
  }
  void Offer() {
    wire::Offer offer{.request = RequestId(rounds_ * 10 + number_),
                      .remaining_us = kPatienceMicros};
    for (std::uint32_t i = 0; i < 5; ++i) {
      const int key = static_cast<int>((offer.request.value() + i) % kKeys);
      offer.entries.push_back({.key = Sha256Of(absl::StrCat("k", key)),
                               .bytes = kBlockBytes,
                               .checksum = ChecksumOf(AsBytes(bytes_[key])),
                               .depth = 16});
    }
    peer_->Say(wire::Type::kOffer, offer);
  }
  // Asks for what was offered a round before.
  static int AskedKey(RequestId request, std::uint32_t index) {
    return static_cast<int>((request.value() + 10 + index) % kKeys);
  }
  void Acquire() {
    wire::Acquire acquire{.request = RequestId(rounds_ * 10 + number_),
                          .remaining_us = kPatienceMicros,
                          .want = wire::Want::kPull};
    for (std::uint32_t i = 0; i < 6; ++i) {
      const int key = AskedKey(acquire.request, i);
      acquire.keys.push_back(Sha256Of(absl::StrCat("k", key)));
      acquire.kinds.push_back(EntryKind::kKvBlock);
    }
    for (const wire::Acquired& a : peer_->acquired) acquire.released.push_back(a.pin);
    peer_->acquired.clear();
    peer_->Say(wire::Type::kAcquire, acquire);
  }

  const int number_;
  AsioLoop loop_;
  HeapMemorySource memory_;
  std::vector<std::string> bytes_;
  std::unique_ptr<RawPeer> peer_;
  std::uint64_t rounds_ = 0;
  std::atomic<int> right_{0};
  std::atomic<int> wrong_{0};
  std::promise<void> done_;
};

void RunWith(std::uint32_t shards) {
  ThreadedNode node(shards);
  const std::string address = node.Status().remote_address;
  {
    std::vector<std::unique_ptr<Worker>> workers;
    for (int i = 0; i < 3; ++i) workers.push_back(std::make_unique<Worker>(node, address, i));
    for (int i = 0; i < 20; ++i) {
      node.Status();
      node.admin().Verify({.is_all = true}, [](absl::StatusOr<VerifyReport>) {});
    }
    int right = 0;
    for (auto& worker : workers) {
      worker->Wait();
      EXPECT_EQ(worker->wrong(), 0);
      right += worker->right();
    }
    EXPECT_GT(right, 0);
  }
  EXPECT_GT(node.Status().stats.shards.stored, 0u);
}

TEST(NodeThreadsTest, OneShardOnItsOwnThread) { RunWith(1); }
TEST(NodeThreadsTest, FourShards) { RunWith(4); }

}  // namespace
}  // namespace cairn
