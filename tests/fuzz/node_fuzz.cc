// The node's message handlers, as hostile sessions would drive them: the input chooses messages
// whose fields are legal, absurd or garbage, DATA that nobody wanted, ends of sessions, and time
// between.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "libs/base/bytes.h"
#include "libs/base/check.h"
#include "libs/base/checksum.h"
#include "libs/base/log.h"
#include "libs/base/sha256.h"
#include "libs/copier_manual/manual_copier.h"
#include "libs/local_loopback/local_hub.h"
#include "libs/loop_manual/manual_world.h"
#include "libs/memory_heap/heap_memory.h"
#include "libs/node/node.h"
#include "libs/transport_loopback/loopback_network.h"
#include "tests/support/raw_peer.h"

namespace cairn {
namespace {

constexpr std::uint64_t kBlockBytes = 4096;

class NoLog final : public LogSink {
 public:
  void Write(absl::string_view) override {}
};

// Overlaps, whose sums must be sound whatever was asked.
class CheckedOverlaps final : public OverlapSink {
 public:
  void Report(const Overlap& overlap) override {
    CAIRN_CHECK(overlap.family != 0 && overlap.request_entry != 0);
    CAIRN_CHECK(overlap.depth <= overlap.request_length && overlap.depth <= overlap.entry_length);
    CAIRN_CHECK((overlap.depth > 0) == (overlap.entry != 0));
  }
};

class Fuzzed {
 public:
  explicit Fuzzed(absl::string_view input) : in_(input), bulk_(3 * kBlockBytes, 'b') {
    NodeOptions options;
    options.segment_bytes = 32 * kKiB;
    options.shards = in_.Get<std::uint8_t>() % 2 == 0 ? 1 : 2;
    options.arena_bytes = 4 * options.segment_bytes;
    options.dev_token = std::string(32, 't');
    options.remote_listen = "10.0.0.1:1";
    options.pin_age_max = absl::Milliseconds(5);
    options.ceilings.sends_queued = 8;
    options.overlap_blocks_max = 1 << 10;  // it forgets
    NodePorts ports{
        .loop = loop_,
        .memory = memory_,
        .shards = {},
        .local_listener = hub_.NewListener(loop_, "/s", {}),
        .make_transport =
            [this](LaneKind, TransportReceiver& r) {
              return absl::StatusOr<std::unique_ptr<Transport>>(network_.NewTransport(loop_, r));
            },
        .overlaps = &overlaps_};
    for (std::uint32_t i = 0; i < options.shards; ++i) ports.shards.push_back({loop_, copier_});
    node_ = *Node::Create(options, std::move(ports));
    CAIRN_CHECK(node_->Start().ok());
  }
  ~Fuzzed() {
    for (auto& peer : peers_) peer.reset();
    bool is_stopped = false;
    loop_.Post([&] { node_->Stop([&] { is_stopped = true; }); });
    CAIRN_CHECK(world_.RunUntil([&] { return is_stopped; }, absl::Seconds(60))) << "stop hangs";
    loop_.Crash();
  }
  void Run() {
    for (int i = 0; i < 200 && in_.left() > 0; ++i) Act();
  }

 private:
  RawPeer& Peer(std::size_t i) {
    if (peers_[i] == nullptr || peers_[i]->is_closed) {
      peers_[i].reset();
      RawPeer::Options options;
      options.token = std::string(32, 't');
      options.hello.block_tokens = 16;
      options.hello.block_bytes = kBlockBytes;
      options.pool_bytes = i == 0 ? 8 * kBlockBytes : 0;
      peers_[i] = std::make_unique<RawPeer>(
          far_, memory_, [&](TransportReceiver& r) { return network_.NewTransport(far_, r); },
          options);
      if (i == 0) {
        peers_[i]->Meet(*hub_.NewDialer(far_, "/s", {})->Dial());
      } else {
        peers_[i]->Dial("10.0.0.1:1");
      }
      world_.RunFor(absl::Milliseconds(1));
    }
    return *peers_[i];
  }
  Key SomeKey() { return Sha256Of(absl::StrCat(in_.Get<std::uint8_t>() % 8)); }
  PinId SomePin(const RawPeer& peer) {
    const std::uint8_t raw = in_.Get<std::uint8_t>();
    return peer.acquired.empty() || raw % 4 == 0 ? PinId(raw) : peer.acquired.back().pin;
  }
  std::uint64_t SomeMicros() { return std::uint64_t{in_.Get<std::uint8_t>()} * 20; }

  void Act() {
    const std::uint8_t op = in_.Get<std::uint8_t>();
    RawPeer& peer = Peer(op % 2);
    switch (op / 2 % 10) {
      case 0:
        Acquire(peer);
        break;
      case 1:
        Offer(peer);
        break;
      case 2:
        peer.Say(wire::Type::kRelease, wire::Release{{SomePin(peer), SomePin(peer)}});
        break;
      case 3:
        peer.Say(wire::Type::kSuspect, wire::Suspect{SomePin(peer), in_.Get<std::uint8_t>() % 9u});
        break;
      case 4:
        peer.Say(wire::Type::kPull, wire::Pull{.request = RequestId(in_.Get<std::uint8_t>()),
                                               .remaining_us = SomeMicros(),
                                               .pin = SomePin(peer),
                                               .indices = {0, in_.Get<std::uint8_t>() % 9u}});
        break;
      case 5: {
        const wire::OfferData header{RequestId(in_.Get<std::uint8_t>() % 32),
                                     in_.Get<std::uint8_t>() % 4u};
        const std::size_t bytes = 1 + in_.Get<std::uint8_t>() % 3 * kBlockBytes;
        peer.SendData(header, AsBytes(bulk_).first(bytes == 1 ? kBlockBytes : bytes - 1));
        break;
      }
      case 6: {
        const auto type = static_cast<wire::Type>(in_.Get<std::uint8_t>() % 24);
        peer.Send(type, std::string(in_.GetBytes(in_.Get<std::uint8_t>())));
        break;
      }
      case 7:
        world_.RunFor(absl::Microseconds(in_.Get<std::uint16_t>()));
        break;
      case 8:
        in_.Get<std::uint8_t>() % 2 == 0 ? peer.CloseChannel() : peer.CloseEndpoint();
        break;
      default:
        world_.RunFor(absl::Microseconds(30));
        break;
    }
  }
  void Acquire(RawPeer& peer) {
    wire::Acquire acquire{.request = RequestId(in_.Get<std::uint8_t>()),
                          .remaining_us = SomeMicros(),
                          .want = static_cast<wire::Want>(in_.Get<std::uint8_t>() % 2),
                          .is_hybrid = in_.Get<std::uint8_t>() % 4 == 0,
                          .resume_depth_max = in_.Get<std::uint64_t>()};
    for (std::uint8_t i = in_.Get<std::uint8_t>() % 6; i > 0; --i) {
      acquire.keys.push_back(SomeKey());
      acquire.kinds.push_back(static_cast<EntryKind>(in_.Get<std::uint8_t>() % 2));
    }
    if (in_.Get<std::uint8_t>() % 2 == 0) acquire.released = {SomePin(peer)};
    if (in_.Get<std::uint8_t>() % 2 == 0) {
      for (std::size_t i = 0; i < acquire.keys.size(); ++i) {
        const auto step = static_cast<std::uint32_t>(in_.Get<std::uint8_t>() % 17);  // 0: illegal
        acquire.ends.push_back((i == 0 ? 0 : acquire.ends.back()) + step);
      }
      acquire.prompt_tokens = (acquire.ends.empty() ? 1 : acquire.ends.back()) + 1;
    }
    peer.Say(wire::Type::kAcquire, acquire);
  }
  void Offer(RawPeer& peer) {
    wire::Offer offer{.request = RequestId(in_.Get<std::uint8_t>() % 32),
                      .remaining_us = SomeMicros()};
    for (std::uint8_t i = in_.Get<std::uint8_t>() % 4; i > 0; --i) {
      wire::OfferEntry entry{.key = SomeKey(),
                             .kind = static_cast<EntryKind>(in_.Get<std::uint8_t>() % 8 == 0),
                             .has_parent = in_.Get<std::uint8_t>() % 2 == 0,
                             .parent = SomeKey(),
                             .bytes = kBlockBytes,
                             .checksum = ChecksumOf(AsBytes(bulk_).first(kBlockBytes)),
                             .depth = in_.Get<std::uint8_t>()};
      const std::uint8_t absurd = in_.Get<std::uint8_t>();
      if (absurd % 8 == 0) entry.bytes = in_.Get<std::uint64_t>();
      if (absurd % 8 == 1) entry.pool_offset = in_.Get<std::uint64_t>();
      if (absurd % 8 == 2) entry.checksum = Checksum(in_.Get<std::uint64_t>());
      offer.entries.push_back(entry);
    }
    peer.Say(wire::Type::kOffer, offer);
  }

  ByteReader in_;
  const std::string bulk_;
  ManualWorld world_{{}};
  LoopbackNetwork network_{1};
  LocalHub hub_{{}};
  HeapMemorySource memory_;
  ManualLoop& loop_ = world_.AddLoop({.name = "node"});
  ManualLoop& far_ = world_.AddLoop({.name = "peers"});
  ManualCopier copier_{loop_, {}};
  CheckedOverlaps overlaps_;
  std::unique_ptr<Node> node_;
  std::unique_ptr<RawPeer> peers_[2];
};

}  // namespace
}  // namespace cairn

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* input, std::size_t size) {
  static cairn::NoLog no_log;
  cairn::SetLogSink(&no_log);
  if (size > 4096) return 0;
  cairn::Fuzzed fuzzed(absl::string_view(reinterpret_cast<const char*>(input), size));
  fuzzed.Run();
  return 0;
}
