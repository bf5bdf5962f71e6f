#include "tools/bench/bench_client.h"

#include <unistd.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "libs/base/status_macros.h"
#include "libs/local_socket/local_socket.h"
#include "libs/span/identity.h"
#include "libs/transport_ucx/ucx_transport.h"
#include "tools/bench/child_process.h"
#include "tools/bench/loop_call.h"
#include "tools/bench/meter.h"

namespace cairn::bench {
namespace {

constexpr std::uint32_t kBlockTokens = 16;
constexpr absl::Duration kLook = absl::Milliseconds(2);

ModelIdentity BenchIdentity(std::uint64_t block_bytes) {
  return {.model = "cairn-bench", .kv_layout = absl::StrCat("bytes ", block_bytes)};
}

absl::StatusOr<ClientOptions> OptionsOf(const BenchClient::Options& options) {
  const ModelIdentity identity = BenchIdentity(options.block_bytes);
  CAIRN_ASSIGN_OR_RETURN(const Digest256 fingerprint, FingerprintOf(identity));
  ClientOptions made;
  CAIRN_ASSIGN_OR_RETURN(made.root, RootOf(fingerprint, "bench", "", kBlockTokens));
  made.peer_name = options.peer_address.empty() ? options.run_dir : options.peer_address;
  made.tokens = [file = options.run_dir + "/token"](auto done) {
    std::ifstream in(file, std::ios::binary);
    done(AccessToken{.token_id = "dev",
                     .token = std::string(std::istreambuf_iterator<char>(in), {})});
  };
  made.producer = absl::StrCat("cairn-bench-", ::getpid());
  made.identity = identity;
  made.name_space = "bench";
  made.block_tokens = kBlockTokens;
  made.block_bytes = options.block_bytes;
  made.own_uid = ::geteuid();
  made.offered_bytes_max = options.offered_bytes_max;
  return made;
}

absl::StatusOr<std::unique_ptr<Transport>> MakeTransport(AsioLoop& loop, TransportProfile profile,
                                                         TransportReceiver& receiver) {
  UcxOptions options;
  if (profile == TransportProfile::kNetwork) options.profile = UcxProfile::kPeers;
  CAIRN_ASSIGN_OR_RETURN(std::unique_ptr<UcxTransport> made,
                         UcxTransport::Create(loop, receiver, options));
  return std::unique_ptr<Transport>(std::move(made));
}

}  // namespace

absl::StatusOr<std::unique_ptr<BenchClient>> BenchClient::Open(AsioLoop& loop, MemorySource& memory,
                                                               const Options& options) {
  std::unique_ptr<BenchClient> made(new BenchClient(loop, memory, options));
  absl::Status begun;
  bool is_up = false;
  CallOn(loop, [&](Task done) {
    begun = made->Begin();
    if (!begun.ok()) return done();
    made->TellWhenUp(NowSeconds() + absl::ToDoubleSeconds(kPatience),
                     [&, done = std::move(done)]() mutable {
                       is_up = made->client_->has_session();
                       done();
                     });
  });
  if (!begun.ok()) return begun;
  if (!is_up) return absl::UnavailableError("the node opens no session for us");
  return made;
}

absl::Status BenchClient::Begin() {
  CAIRN_ASSIGN_OR_RETURN(ClientOptions options, OptionsOf(options_));
  const bool is_remote = !options_.peer_address.empty();
  copier_ = std::make_unique<ThreadCopier>(loop_, ThreadCopier::Options{.threads = 1});
  if (!is_remote) dialer_ = NewSocketDialer(loop_, options_.run_dir + "/node.sock");
  ClientPorts ports{.loop = loop_,
                    .copier = *copier_,
                    .transports =
                        [&loop = loop_](TransportProfile profile, TransportReceiver& receiver) {
                          return MakeTransport(loop, profile, receiver);
                        },
                    .dialer = dialer_.get(),
                    .memory = is_remote ? nullptr : &memory_,
                    .pool = is_remote ? nullptr : options_.pool,
                    .remote_address = options_.peer_address};
  client_ = std::make_unique<CacheClient>(std::move(ports), std::move(options));
  client_->Start();
  return absl::OkStatus();
}

void BenchClient::TellWhenUp(double until, Task done) {
  if (client_->has_session() || NowSeconds() > until) return done();
  loop_.RunAt(loop_.Now() + kLook, [this, until, done = std::move(done)]() mutable {
    TellWhenUp(until, std::move(done));
  });
}

BenchClient::~BenchClient() {
  if (client_ == nullptr) return;
  CallOn(loop_, [this](Task done) {
    client_->Stop([this, done = std::move(done)]() mutable {
      loop_.Post([this, done = std::move(done)]() mutable {
        client_.reset();
        copier_.reset();
        dialer_.reset();
        done();
      });
    });
  });
}

Instant BenchClient::Deadline() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return Instant::FromNanos(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count()) +
         kPatience;
}

absl::Status BenchClient::Store(std::vector<OfferBlock> blocks) {
  constexpr std::size_t kAtOnce = 64;
  absl::Status status;
  for (std::size_t at = 0; at < blocks.size() && status.ok();) {
    std::uint64_t bytes = 0;
    std::vector<OfferBlock> some;
    while (at < blocks.size() && some.size() < kAtOnce &&
           (some.empty() || bytes + blocks[at].bytes.size() <= options_.offered_bytes_max)) {
      bytes += blocks[at].bytes.size();
      some.push_back(std::move(blocks[at++]));
    }
    CallOn(loop_, [&](Task done) {
      client_->Offer(
          std::move(some), Deadline(),
          [&, left = some.size(), done = std::move(done)](std::size_t, OfferResult result) mutable {
            if (result != OfferResult::kStored && status.ok()) {
              status =
                  absl::UnavailableError(absl::StrCat("a block was not stored: ", NameOf(result)));
            }
            if (--left == 0) done();
          });
    });
  }
  return status;
}

AcquireAnswer BenchClient::Acquire(const std::vector<Key>& keys) {
  AcquireAnswer answer;
  CallOn(loop_, [&](Task done) {
    client_->Acquire({.keys = keys, .kinds = {}, .deadline = Deadline()},
                     [&, done = std::move(done)](AcquireAnswer got) mutable {
                       answer = std::move(got);
                       done();
                     });
  });
  return answer;
}

Key KeyOf(std::uint64_t number) { return Sha256Of(absl::StrCat("cairn-bench ", number)); }

}  // namespace cairn::bench
