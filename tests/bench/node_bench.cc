// ACQUIRE of 1,000 keys against a node on simulated adapters: what the role itself costs.
#include <benchmark/benchmark.h>

#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"
#include "libs/base/check.h"
#include "libs/base/checksum.h"
#include "libs/base/log.h"
#include "libs/base/sha256.h"
#include "libs/copier_manual/manual_copier.h"
#include "libs/local_loopback/local_hub.h"
#include "libs/loop_manual/manual_world.h"
#include "libs/memory_heap/heap_memory.h"
#include "libs/node/node.h"
#include "libs/overlap/overlap_book.h"
#include "libs/transport_loopback/loopback_network.h"
#include "tests/support/raw_peer.h"

namespace cairn {
namespace {

constexpr int kKeys = 1000;
constexpr std::uint64_t kBlockBytes = 4096;

class NoLog final : public LogSink {
 public:
  void Write(absl::string_view) override {}
};

// A node with `shards` shards that has all keys, and one session.
struct World {
  explicit World(std::uint32_t shards) {
    SetLogSink(&no_log);
    NodeOptions options;
    options.segment_bytes = 8 * kMiB;
    options.arena_bytes = 8 * options.segment_bytes;
    options.shards = shards;
    options.dev_token = std::string(32, 't');
    NodePorts ports{
        .loop = front,
        .memory = memory,
        .shards = {},
        .local_listener = hub.NewListener(front, "/node.sock", {}),
        .make_transport = [this](LaneKind, TransportReceiver& r) {
          return absl::StatusOr<std::unique_ptr<Transport>>(network.NewTransport(front, r));
        }};
    for (std::uint32_t i = 0; i < shards; ++i) {
      ManualLoop& loop = shards == 1 ? front : world.AddLoop({.name = "shard"});
      copiers.push_back(std::make_unique<ManualCopier>(loop, ManualCopier::Options{}));
      ports.shards.push_back({loop, *copiers.back()});
    }
    node = *Node::Create(options, std::move(ports));
    CAIRN_CHECK(node->Start().ok());
    RawPeer::Options peer_options;
    peer_options.token = options.dev_token;
    peer_options.pool_bytes = kBlockBytes;
    peer_options.hello.block_tokens = 16;
    peer_options.hello.block_bytes = kBlockBytes;
    peer = std::make_unique<RawPeer>(
        far, memory, [this](TransportReceiver& r) { return network.NewTransport(far, r); },
        peer_options);
    peer->Meet(*hub.NewDialer(far, "/node.sock", {})->Dial());
    CAIRN_CHECK(world.RunUntil([&] { return peer->has_session(); }, absl::Seconds(10)));
    StoreAll();
  }
  ~World() {
    network.Crash(front);
    node.reset();
  }
  void StoreAll() {
    std::memset(peer->pool().data(), 1, kBlockBytes);
    wire::Offer offer{.request = RequestId(1), .remaining_us = 100'000'000};
    for (int i = 0; i < kKeys; ++i) {
      keys.push_back(Sha256Of(absl::StrCat(i)));
      offer.entries.push_back({.key = keys.back(),
                               .bytes = kBlockBytes,
                               .checksum = ChecksumOf(peer->pool()),
                               .depth = 16});
    }
    peer->Say(wire::Type::kOffer, offer);
    std::size_t stored = 0;
    CAIRN_CHECK(world.RunUntil(
        [&] {
          for (const wire::Stored& s : peer->stored) stored += s.entries.size();
          peer->stored.clear();
          return stored == kKeys;
        },
        absl::Seconds(100)));
  }

  NoLog no_log;
  ManualWorld world{{}};
  LoopbackNetwork network{1};
  LocalHub hub{{}};
  HeapMemorySource memory;
  ManualLoop& front = world.AddLoop({.name = "front"});
  ManualLoop& far = world.AddLoop({.name = "peer"});
  std::vector<std::unique_ptr<ManualCopier>> copiers;
  std::unique_ptr<Node> node;
  std::unique_ptr<RawPeer> peer;
  std::vector<Key> keys;
};

// Encode, send, scatter, look up, pin, cut, encode, decode, and the release that rides along.
void BM_AcquireAllHits(benchmark::State& state) {
  World w(static_cast<std::uint32_t>(state.range(0)));
  wire::Acquire acquire{.remaining_us = 1'000'000, .keys = w.keys};
  acquire.kinds.assign(kKeys, EntryKind::kKvBlock);
  std::uint64_t request = 1;
  for (auto _ : state) {
    acquire.request = RequestId(++request);
    w.peer->Say(wire::Type::kAcquire, acquire);
    w.world.RunUntil([&] { return !w.peer->acquired.empty(); }, absl::Seconds(1));
    CAIRN_CHECK(w.peer->acquired.size() == 1);
    CAIRN_CHECK(w.peer->acquired[0].hits.size() == kKeys);
    acquire.released = {w.peer->acquired[0].pin};
    w.peer->acquired.clear();
  }
}
BENCHMARK(BM_AcquireAllHits)->Arg(1)->Arg(4)->Unit(benchmark::kMicrosecond);

void BM_AcquireAllMisses(benchmark::State& state) {
  World w(static_cast<std::uint32_t>(state.range(0)));
  wire::Acquire acquire{.remaining_us = 1'000'000};
  for (int i = 0; i < kKeys; ++i) acquire.keys.push_back(Sha256Of(absl::StrCat("no ", i)));
  acquire.kinds.assign(kKeys, EntryKind::kKvBlock);
  std::uint64_t request = 1;
  for (auto _ : state) {
    acquire.request = RequestId(++request);
    w.peer->Say(wire::Type::kAcquire, acquire);
    w.world.RunUntil([&] { return !w.peer->acquired.empty(); }, absl::Seconds(1));
    CAIRN_CHECK(w.peer->acquired.size() == 1);
    w.peer->acquired.clear();
  }
}
BENCHMARK(BM_AcquireAllMisses)->Arg(1)->Arg(4)->Unit(benchmark::kMicrosecond);

// What it costs to see where a prompt of 1,000 blocks parts from a thousand others, of which the
// first range(0) blocks are everybody's.
void BM_Overlap(benchmark::State& state) {
  constexpr std::size_t kPrompts = 1000;
  const auto shared = static_cast<std::size_t>(state.range(0));
  std::vector<std::vector<Key>> prompts(kPrompts, std::vector<Key>(kKeys));
  std::vector<std::uint32_t> ends;
  for (std::size_t i = 0; i < kKeys; ++i) {
    ends.push_back(static_cast<std::uint32_t>(i + 1) * 16);
    const Key common = Sha256Of(absl::StrCat("common ", i));
    for (std::size_t p = 0; p < kPrompts; ++p) {
      prompts[p][i] = i < shared ? common : Sha256Of(absl::StrCat(p, " ", i));
    }
  }
  OverlapBook book(1 << 20, 1);
  std::size_t next = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(book.Observe(Root(), prompts[next], ends, ends.back()));
    next = (next + 1) % kPrompts;
  }
}
BENCHMARK(BM_Overlap)->Arg(0)->Arg(900)->Arg(1000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace cairn

BENCHMARK_MAIN();
