#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "libs/base/status_macros.h"
#include "libs/memory_memfd/memfd_memory.h"
#include "tools/bench/bench_client.h"
#include "tools/bench/benches.h"
#include "tools/bench/contender.h"
#include "tools/bench/loop_call.h"
#include "tools/bench/started_node.h"
#include "tools/cairnctl/table.h"

namespace cairn::bench {
namespace {

constexpr std::uint64_t kBlockBytes = 16 * kKiB;
constexpr std::uint64_t kSegmentBytes = 64 * kMiB;
constexpr double kAimP99Us = 1000;
constexpr int kWarmUpCalls = 20;

struct Case {
  const char* name;
  const char* what;
  std::uint64_t stored_every;  // which keys the node has: every n-th; 0: none
  bool is_riding;              // the pin of the call before is released by this call, not earlier
};
constexpr Case kCases[] = {
    {"hits", "every key is there; the call before has been released", 1, false},
    {"hits_releasing", "the same; the release of the call before rides along", 1, true},
    {"half", "every second key is there; a release rides along", 2, true},
    {"misses", "no key is there", 0, false},
};

struct Found {
  Slice slice;
  std::vector<float> release_us;  // of the thread that drops a pin
  std::uint64_t hits = 0;
};

class AcquireRun {
 public:
  AcquireRun(const BenchCall& call, std::uint64_t keys, std::uint64_t calls)
      : call_(call), keys_(keys), calls_(calls) {}
  ~AcquireRun() {
    client_.reset();
    node_.reset();
    loop_.Stop();
  }

  absl::Status Prepare() {
    CAIRN_ASSIGN_OR_RETURN(folder_, ScratchFolder::Create());
    const std::uint64_t bytes = keys_ * kBlockBytes;
    CAIRN_ASSIGN_OR_RETURN(node_,
                           StartedNode::Start(*folder_,
                                              {.arena_bytes = RoundUp(2 * bytes, kSegmentBytes),
                                               .segment_bytes = kSegmentBytes},
                                              call_.termination));
    CAIRN_ASSIGN_OR_RETURN(pool_, memory_.Create("cairn-bench-pool", bytes));
    FillSource(pool_->bytes());
    loop_.Start("bench-client");
    CAIRN_ASSIGN_OR_RETURN(client_, BenchClient::Open(loop_, memory_,
                                                      {.run_dir = node_->run_dir(),
                                                       .block_bytes = kBlockBytes,
                                                       .pool = pool_.get(),
                                                       .offered_bytes_max = bytes}));
    std::vector<OfferBlock> blocks;
    for (std::uint64_t i = 0; i < keys_; ++i) {
      const auto block = pool_->bytes().subspan(i * kBlockBytes, kBlockBytes);
      blocks.push_back(
          {.key = KeyOf(i), .bytes = block, .checksum = ChecksumOf(block), .depth = 1});
    }
    return client_->Store(std::move(blocks));
  }

  absl::StatusOr<Found> Run(const Case& one) {
    std::vector<Key> keys;
    for (std::uint64_t i = 0; i < keys_; ++i) {
      const bool is_stored = one.stored_every != 0 && i % one.stored_every == 0;
      keys.push_back(KeyOf(is_stored ? i : (1ULL << 40) + i));
    }
    Found warm_up;
    CAIRN_RETURN_IF_ERROR(Repeat(one, keys, kWarmUpCalls, warm_up));
    Found found;
    const pid_t node = node_->pid();
    Meter meter(found.slice, {&node, 1});
    CAIRN_RETURN_IF_ERROR(Repeat(one, keys, calls_, found));
    meter.Stop();
    return found;
  }

 private:
  absl::Status Repeat(const Case& one, const std::vector<Key>& keys, std::uint64_t calls,
                      Found& found) {
    for (std::uint64_t i = 0; i < calls; ++i) {
      AcquireAnswer answer = Acquire(keys, found.slice);
      for (const KeyAnswer& key : answer.keys) {
        found.hits += key.is_hit() ? 1 : 0;
        if (key.is_hit() || key.result == KeyResult::kAbsent) continue;
        return absl::UnavailableError(absl::StrCat("a key ended ", NameOf(key.result)));
      }
      if (answer.pin.is_held()) {
        const double dropped_at = NowSeconds();
        answer.pin.Release();
        found.release_us.push_back(static_cast<float>((NowSeconds() - dropped_at) * 1e6));
        ++pins_;
      }
      if (!one.is_riding) WaitReleased();
      if (i % 64 == 0 &&
          call_.termination.Wait(absl::ZeroDuration()) == Termination::Event::kSignal) {
        return absl::CancelledError("interrupted");
      }
    }
    WaitReleased();
    return absl::OkStatus();
  }

  // Timed on the loop, from the call to its answer.
  AcquireAnswer Acquire(const std::vector<Key>& keys, Slice& slice) {
    AcquireAnswer answer;
    CallOn(loop_, [&](Task done) {
      const double asked_at = NowSeconds();
      client_->client().Acquire({.keys = keys, .kinds = {}, .deadline = BenchClient::Deadline()},
                                [&, asked_at, done = std::move(done)](AcquireAnswer got) mutable {
                                  slice.Add(0, NowSeconds() - asked_at);
                                  answer = std::move(got);
                                  done();
                                });
    });
    return answer;
  }

  // Until the client has told the node of every pin that was dropped.
  void WaitReleased() {
    CallOn(loop_, [this](Task done) { TellWhenReleased(std::move(done)); });
  }
  void TellWhenReleased(Task done) {
    if (client_->client().stats().pins_released >= pins_) return done();
    loop_.RunAt(loop_.Now() + absl::Milliseconds(1),
                [this, done = std::move(done)]() mutable { TellWhenReleased(std::move(done)); });
  }

  const BenchCall& call_;
  const std::uint64_t keys_;
  const std::uint64_t calls_;
  // Each outlives what stands below it.
  std::unique_ptr<ScratchFolder> folder_;
  MemfdMemorySource memory_{MemfdMemorySource::Options{}};
  std::unique_ptr<OwnedMemory> pool_;
  AsioLoop loop_;
  std::unique_ptr<StartedNode> node_;
  std::unique_ptr<BenchClient> client_;
  std::uint64_t pins_ = 0;  // dropped so far
};

boost::json::object JsonOf(const Case& one, Found& found) {
  const double calls = static_cast<double>(found.slice.operations);
  const double p99 = Quantile(found.slice.latencies_us, 0.99);
  return {{"case", one.name},
          {"calls", found.slice.operations},
          {"hits", found.hits},
          {"p50_us", Quantile(found.slice.latencies_us, 0.5)},
          {"p99_us", p99},
          {"max_us", Quantile(found.slice.latencies_us, 1.0)},
          {"aim_p99_us", kAimP99Us},
          {"is_met", p99 < kAimP99Us},
          {"release_p50_us", Quantile(found.release_us, 0.5)},
          {"release_p99_us", Quantile(found.release_us, 0.99)},
          {"node_cpu_us_per_call", found.slice.server_cpu_s * 1e6 / calls},
          {"client_cpu_us_per_call", found.slice.client_cpu_s * 1e6 / calls},
          {"others_cpu_share", found.slice.others_cpu_s / found.slice.seconds}};
}

void PrintCases(std::ostream& out, const boost::json::array& cases) {
  Table table({"CASE", "CALLS", "HITS", "p50 us", "p99 us", "max us", "AIM", "release p99 us",
               "node CPU us", "client CPU us", "others"});
  for (const boost::json::value& one : cases) {
    const auto show = [&](const char* name, double times = 1) {
      return absl::StrFormat("%.1f", one.at(name).to_number<double>() * times);
    };
    table.Add({std::string(one.at("case").as_string()),
               absl::StrCat(one.at("calls").to_number<std::uint64_t>()),
               absl::StrCat(one.at("hits").to_number<std::uint64_t>()), show("p50_us"),
               show("p99_us"), show("max_us"), one.at("is_met").as_bool() ? "met" : "missed",
               show("release_p99_us"), show("node_cpu_us_per_call"), show("client_cpu_us_per_call"),
               show("others_cpu_share", 100) + "%"});
  }
  table.Print(out);
  for (const Case& one : kCases) out << one.name << ": " << one.what << "\n";
}

absl::StatusOr<boost::json::value> RunAcquire(const BenchCall& call, bool is_quiet) {
  CAIRN_ASSIGN_OR_RETURN(const std::uint64_t keys, call.Number("keys", 1000, 10, 16384));
  CAIRN_ASSIGN_OR_RETURN(const std::uint64_t calls, call.Number("calls", 500, 1, 1'000'000));
  AcquireRun run(call, keys, calls);
  CAIRN_RETURN_IF_ERROR(run.Prepare());
  boost::json::array cases;
  for (const Case& one : kCases) {
    call.err << one.name << "\n";
    CAIRN_ASSIGN_OR_RETURN(Found found, run.Run(one));
    cases.push_back(JsonOf(one, found));
  }
  if (!is_quiet) PrintCases(call.out, cases);
  return boost::json::object{{"bench", "acquire"}, {"keys", keys}, {"cases", std::move(cases)}};
}

constexpr Flag kFlags[] = {
    {"keys", "N", "keys in one ACQUIRE (default 1000)"},
    {"calls", "N", "calls of each case (default 500)"},
};

}  // namespace

const Bench kAcquireBench = {
    .name = "acquire",
    .summary = "many keys in one ACQUIRE: lookup, pin, answer; and their release",
    .help =
        "A cairn-node and libs/client on one host. One call at a time, from the call to its\n"
        "answer on the client's loop: keys looked up, pinned, located in the mapping; their\n"
        "checksums have been verified before. Aim: p99 under 1 ms.\n"
        "A release is what dropping the pin costs the thread that drops it.",
    .flags = kFlags,
    .run = RunAcquire,
};

}  // namespace cairn::bench
