#ifndef CAIRN_TESTS_UNIT_NODE_NODE_WORLD_H_
#define CAIRN_TESTS_UNIT_NODE_NODE_WORLD_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "libs/base/checksum.h"
#include "libs/base/sha256.h"
#include "libs/copier_manual/manual_copier.h"
#include "libs/local_loopback/local_hub.h"
#include "libs/loop_manual/manual_world.h"
#include "libs/memory_heap/heap_memory.h"
#include "libs/node/node.h"
#include "libs/transport_loopback/loopback_network.h"
#include "tests/support/raw_peer.h"

namespace cairn {

// A node with 1 or 4 shards, and peers, in a simulated world. The parameter is the shard count.
class NodeWorld : public testing::TestWithParam<std::uint32_t> {
 protected:
  static constexpr std::uint64_t kBlockBytes = 8192;
  static constexpr std::uint32_t kBlockTokens = 16;

  NodeWorld() {
    options_.segment_bytes = 256 * kKiB;
    options_.arena_bytes = 8 * options_.segment_bytes;
    options_.shards = GetParam();
    options_.dev_token = token_;
  }
  ~NodeWorld() override { CrashNode(); }

  void StartNode() {
    NodePorts ports{.loop = NewLoop("node"),
                    .memory = memory_,
                    .shards = {},
                    .local_listener = {},
                    .make_transport = {},
                    .overlaps = overlaps_};
    node_loop_ = static_cast<ManualLoop*>(&ports.loop);
    node_loops_ = {node_loop_};
    for (std::uint32_t i = 0; i < options_.shards; ++i) {
      // One shard lives on the transport loop, as in production.
      ManualLoop& loop = options_.shards == 1 ? *node_loop_ : NewLoop(absl::StrCat("shard", i));
      if (&loop != node_loop_) node_loops_.push_back(&loop);
      copiers_.push_back(
          std::make_unique<ManualCopier>(loop, ManualCopier::Options{.seed = 7 + i}));
      ports.shards.push_back({loop, *copiers_.back()});
    }
    ports.local_listener = hub_.NewListener(*node_loop_, "/node.sock", {.uid = 0, .pid = 1});
    ports.make_transport = [this](LaneKind, TransportReceiver& receiver) {
      return absl::StatusOr<std::unique_ptr<Transport>>(
          network_.NewTransport(*node_loop_, receiver));
    };
    absl::StatusOr<std::unique_ptr<Node>> made = Node::Create(options_, std::move(ports));
    ASSERT_TRUE(made.ok()) << made.status();
    node_ = *std::move(made);
    ASSERT_TRUE(node_->Start().ok());
  }
  void CrashNode() {
    if (node_ == nullptr) return;
    network_.Crash(*node_loop_);
    hub_.Crash(*node_loop_);
    for (ManualLoop* loop : node_loops_) loop->Crash();
    node_.reset();
    copiers_.clear();
  }

  RawPeer::Options PeerOptions() {
    RawPeer::Options options;
    options.token = token_;
    options.pool_bytes = 16 * kBlockBytes;
    options.hello.identity.model = "model";
    options.hello.identity.rope = "theta=1";
    options.hello.identity.numerics = "n";
    options.hello.block_tokens = kBlockTokens;
    options.hello.block_bytes = kBlockBytes;
    options.hello.producer = absl::StrCat("peer-", ++peers_made_);
    return options;
  }
  struct PeerOnLoop {
    ManualLoop* loop;
    std::unique_ptr<RawPeer> peer;
    RawPeer* operator->() { return peer.get(); }
  };
  PeerOnLoop NewPeer(const RawPeer::Options& options) {
    ManualLoop& loop = NewLoop("peer");
    return {&loop,
            std::make_unique<RawPeer>(
                loop, memory_, [&](TransportReceiver& r) { return network_.NewTransport(loop, r); },
                options)};
  }
  // A peer on the node's host, its hand-shake under way.
  PeerOnLoop Local(const RawPeer::Options& options, PeerProcess process = {.uid = 0, .pid = 2}) {
    PeerOnLoop peer = NewPeer(options);
    absl::StatusOr<std::unique_ptr<LocalChannel>> channel =
        hub_.NewDialer(*peer.loop, "/node.sock", process)->Dial();
    EXPECT_TRUE(channel.ok()) << channel.status();
    if (channel.ok()) peer->Meet(*std::move(channel));
    return peer;
  }
  PeerOnLoop LocalWithSession() {
    PeerOnLoop peer = Local(PeerOptions());
    EXPECT_TRUE(Until([&] { return peer->has_session(); }));
    return peer;
  }
  PeerOnLoop Remote(const RawPeer::Options& options) {
    PeerOnLoop peer = NewPeer(options);
    peer->Dial(NodeStatusNow().remote_address);
    return peer;
  }
  PeerOnLoop RemoteWithSession() {
    RawPeer::Options options = PeerOptions();
    options.pool_bytes = 0;
    PeerOnLoop peer = Remote(options);
    EXPECT_TRUE(Until([&] { return peer->has_session(); }));
    return peer;
  }
  void Kill(PeerOnLoop& peer) {
    network_.Crash(*peer.loop);
    hub_.Crash(*peer.loop);
    peer.loop->Crash();
    peer.peer.reset();
  }

  template <class F>
  bool Until(F is_done, absl::Duration limit = absl::Seconds(20)) {
    return world_.RunUntil([&] { return is_done(); }, limit);
  }
  void Settle(absl::Duration span = absl::Milliseconds(20)) { world_.RunFor(span); }

  // ---- entries: key i has bytes that follow from i ----
  static Key KeyOf(int i) { return Sha256Of(absl::StrCat("key", i)); }
  static std::string BytesOf(int i, std::uint64_t bytes = kBlockBytes) {
    std::string out;
    while (out.size() < bytes) {
      absl::StrAppend(&out, Sha256Of(absl::StrCat("bytes", i, ".", out.size())).view());
    }
    out.resize(bytes);
    return out;
  }
  static Checksum SumOf(const std::string& bytes) {
    return ChecksumOf(
        absl::MakeConstSpan(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()));
  }
  // An entry whose bytes stand at block `at` of the peer's pool (or travel as DATA).
  wire::OfferEntry EntryOf(int i, int at = 0) {
    return {.key = KeyOf(i),
            .bytes = kBlockBytes,
            .checksum = SumOf(BytesOf(i)),
            .depth = kBlockTokens,
            .pool_offset = static_cast<std::uint64_t>(at) * kBlockBytes};
  }
  void PutInPool(RawPeer& peer, int at, const std::string& bytes) {
    std::memcpy(peer.pool().data() + at * kBlockBytes, bytes.data(), bytes.size());
  }
  wire::Offer OfferOf(std::vector<wire::OfferEntry> entries,
                      absl::Duration deadline = absl::Seconds(5)) {
    return {.request = RequestId(++requests_made_),
            .remaining_us = static_cast<std::uint64_t>(absl::ToInt64Microseconds(deadline)),
            .entries = std::move(entries)};
  }
  // Stores keys first..first+count-1 through `peer`; all must be stored.
  void Store(RawPeer& peer, int first, int count) {
    for (int i = first; i < first + count; ++i) {
      PutInPool(peer, 0, BytesOf(i));
      const std::size_t before = peer.stored.size();
      peer.Say(wire::Type::kOffer, OfferOf({EntryOf(i)}));
      ASSERT_TRUE(Until([&] { return peer.stored.size() > before; })) << "key " << i;
      ASSERT_EQ(peer.stored.back().entries.at(0).result, wire::StoreResult::kStored) << "key " << i;
    }
  }
  wire::Acquire AcquireOf(int first, int count, absl::Duration deadline = absl::Seconds(1)) {
    wire::Acquire acquire{
        .request = RequestId(++requests_made_),
        .remaining_us = static_cast<std::uint64_t>(absl::ToInt64Microseconds(deadline))};
    for (int i = first; i < first + count; ++i) {
      acquire.keys.push_back(KeyOf(i));
      acquire.kinds.push_back(EntryKind::kKvBlock);
    }
    return acquire;
  }
  wire::Acquired Acquire(RawPeer& peer, const wire::Acquire& message) {
    const std::size_t before = peer.acquired.size();
    peer.Say(wire::Type::kAcquire, message);
    EXPECT_TRUE(Until([&] { return peer.acquired.size() > before; }));
    return peer.acquired.size() > before ? peer.acquired.back() : wire::Acquired{};
  }
  // What the arena holds where a descriptor points.
  static std::string InPlace(RawPeer& peer, const wire::Descriptor& hit) {
    const auto bytes = peer.arena.at(hit.place.segment.value())->bytes();
    return std::string(reinterpret_cast<const char*>(bytes.data()) + hit.offset, hit.bytes);
  }
  static std::uint64_t WordOf(RawPeer& peer, const wire::Descriptor& hit) {
    const auto bytes = peer.arena.at(hit.place.segment.value())->bytes();
    std::uint64_t word;
    std::memcpy(&word, bytes.data() + 8 * hit.place.slot.value(), sizeof word);
    return word;
  }

  // ---- the node's own view ----
  template <class T, class Call>
  absl::StatusOr<T> Ask(Call call) {
    std::optional<absl::StatusOr<T>> answer;
    call(AdminDone<T>([&](absl::StatusOr<T> result) { answer.emplace(std::move(result)); }));
    EXPECT_TRUE(Until([&] { return answer.has_value(); }));
    return answer.has_value() ? *answer : absl::UnknownError("no answer");
  }
  NodeStatus NodeStatusNow() {
    return *Ask<NodeStatus>([&](AdminDone<NodeStatus> d) { node_->admin().Status(std::move(d)); });
  }
  ShardStats ShardsNow() { return NodeStatusNow().stats.shards; }
  FrontStats FrontNow() { return NodeStatusNow().stats.front; }

  ManualLoop& NewLoop(const std::string& name) {
    return world_.AddLoop({.name = name, .clock_offset = absl::Seconds(5)});
  }

  const std::string token_ = std::string(32, 't');
  OverlapSink* overlaps_ = nullptr;  // who learns where prompts part
  NodeOptions options_;
  ManualWorld world_{{.seed = 1}};
  LoopbackNetwork network_{2};
  LocalHub hub_{{.seed = 3}};
  HeapMemorySource memory_;
  ManualLoop* node_loop_ = nullptr;
  std::vector<ManualLoop*> node_loops_;
  std::vector<std::unique_ptr<ManualCopier>> copiers_;
  std::unique_ptr<Node> node_;
  int peers_made_ = 0;
  std::uint64_t requests_made_ = 0;
};

}  // namespace cairn
#endif  // CAIRN_TESTS_UNIT_NODE_NODE_WORLD_H_
