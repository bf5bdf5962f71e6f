// A worker without a model: stores a block for every key of a case (as `cairnctl keys` reads them)
// in a node in dev mode, asks for them again, and holds them pinned until its standard input ends.
//   usage: e2e_case_client RUN_DIR FILE CASE [FILL [HOLD_FROM]]
// Prints "stored N", then "held N". Exit code 1: something was answered with a miss.
//   FILL       added to the bytes' values: two clients with unequal ones disagree. Default 0
//   HOLD_FROM  blocks from this one on are offered as messages whose DATA is kept back until "go"
//   is
//              read; then "stored N" is about the others, "withheld N" follows "held N", and
//              "stored N" of what was withheld comes last
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "libs/base/checksum.h"
#include "libs/base/status_macros.h"
#include "libs/base/units.h"
#include "libs/client/cache_client.h"
#include "libs/copier_threads/thread_copier.h"
#include "libs/local_socket/local_socket.h"
#include "libs/loop_asio/asio_loop.h"
#include "libs/memory_memfd/memfd_memory.h"
#include "libs/transport_ucx/ucx_transport.h"
#include "tests/e2e/holding_transport.h"
#include "tools/cairnctl/input_file.h"
#include "tools/cairnctl/json_text.h"
#include "tools/cairnctl/key_case.h"

namespace cairn {
namespace {

constexpr std::uint64_t kBlockBytes = 4 * kKiB;

absl::StatusOr<KeyCase> CaseOf(const std::string& file, const std::string& name) {
  CAIRN_ASSIGN_OR_RETURN(const std::string text, ReadInput(file, std::cin));
  CAIRN_ASSIGN_OR_RETURN(const boost::json::value input, ParseJson(text));
  for (const boost::json::value& one : input.at("cases").as_array()) {
    absl::StatusOr<KeyCase> read = ReadKeyCase(one);
    if (read.ok() && read->name == name) return read;
  }
  return absl::NotFoundError("no such case");
}

class CaseClient {
 public:
  struct Options {
    std::string run_dir;
    int fill = 0;
    std::size_t hold_from = SIZE_MAX;
  };
  CaseClient(Options options, KeyCase prompt)
      : options_(std::move(options)),
        prompt_(std::move(prompt)),
        keys_(prompt_.prompt.keys().begin(), prompt_.prompt.keys().end()),
        pool_(*memory_.Create("case-pool", keys_.size() * kBlockBytes)) {}

  int Run() {
    loop_.Post([this] {
      client_ = std::make_unique<CacheClient>(Ports(), ClientOptionsOf());
      client_->Start();
      OfferWhenUp();
    });
    loop_.Run();
    client_.reset();
    return missed_ == 0 ? 0 : 1;
  }

 private:
  ClientPorts Ports() {
    return {.loop = loop_,
            .copier = copier_,
            .transports = [this](TransportProfile, TransportReceiver& receiver)
                -> absl::StatusOr<std::unique_ptr<Transport>> {
              CAIRN_ASSIGN_OR_RETURN(std::unique_ptr<UcxTransport> made,
                                     UcxTransport::Create(loop_, receiver, {}));
              auto holding =
                  std::make_unique<HoldingTransport>(std::move(made), loop_, options_.hold_from);
              transport_ = holding.get();
              return std::unique_ptr<Transport>(std::move(holding));
            },
            .dialer = dialer_.get(),
            .memory = &memory_,
            .pool = is_holding() ? nullptr : pool_.get()};
  }

  bool is_holding() const { return options_.hold_from < keys_.size(); }

  ClientOptions ClientOptionsOf() {
    ClientOptions options;
    options.peer_name = options_.run_dir;
    options.tokens = [this](auto done) {
      std::ifstream in(options_.run_dir + "/token", std::ios::binary);
      done(AccessToken{.token_id = "dev",
                       .token = std::string(std::istreambuf_iterator<char>(in), {})});
    };
    options.producer = "case-client";
    options.identity = prompt_.identity;
    options.name_space = prompt_.name_space;
    options.salt = prompt_.salt;
    options.block_tokens = prompt_.block_tokens;
    options.block_bytes = kBlockBytes;
    options.root = prompt_.root;
    options.own_uid = ::geteuid();
    options.offered_bytes_max = pool_->bytes().size();
    return options;
  }

  Instant Deadline() { return loop_.Now() + absl::Seconds(60); }

  void OfferWhenUp() {
    if (!client_->has_session()) {
      loop_.RunAt(loop_.Now() + absl::Milliseconds(5), [this] { OfferWhenUp(); });
      return;
    }
    std::vector<OfferBlock> blocks;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      const auto bytes = pool_->bytes().subspan(i * kBlockBytes, kBlockBytes);
      std::memset(bytes.data(), static_cast<int>(i + 1) + options_.fill, bytes.size());
      blocks.push_back({.key = keys_[i],
                        .bytes = bytes,
                        .checksum = ChecksumOf(bytes),
                        .depth = prompt_.block_tokens});
    }
    first_.left = std::min(keys_.size(), options_.hold_from);
    late_.left = keys_.size() - first_.left;
    client_->Offer(std::move(blocks), Deadline(), [this](std::size_t i, OfferResult result) {
      Part& part = i < options_.hold_from ? first_ : late_;
      ++(result == OfferResult::kStored ? part.stored : missed_);
      if (result != OfferResult::kStored) {
        std::cerr << "not stored: OfferResult " << static_cast<int>(result) << std::endl;
      }
      if (--part.left > 0) return;
      std::cout << "stored " << part.stored << std::endl;
      if (&part == &first_) loop_.Post([this] { Acquire(); });
    });
  }

  void Acquire() {
    std::vector<Key> keys(keys_);
    if (is_holding()) keys.resize(options_.hold_from);
    client_->Acquire({.keys = std::move(keys), .kinds = {}, .deadline = Deadline()},
                     [this](AcquireAnswer answer) {
                       std::size_t held = 0;
                       for (const KeyAnswer& key : answer.keys) held += key.is_hit();
                       missed_ += answer.keys.size() - held;
                       answer_ = std::move(answer);
                       std::cout << "held " << held << std::endl;
                       if (is_holding())
                         std::cout << "withheld " << transport_->held() << std::endl;
                       (void)loop_.WatchReadable(STDIN_FILENO, [this] { OnInput(); });
                     });
  }

  // "go", or the end.
  void OnInput() {
    char piece[64];
    if (::read(STDIN_FILENO, piece, sizeof piece) > 0) return transport_->LetGo();
    loop_.Unwatch(STDIN_FILENO);
    answer_ = {};
    client_->Stop([this] { loop_.Post([this] { loop_.Stop(); }); });
  }

  // Of the blocks of an offer: those that go at once, and those that are withheld.
  struct Part {
    std::size_t left = 0;
    std::size_t stored = 0;
  };
  const Options options_;
  const KeyCase prompt_;
  const std::vector<Key> keys_;
  MemfdMemorySource memory_{MemfdMemorySource::Options{}};
  const std::unique_ptr<OwnedMemory> pool_;
  AsioLoop loop_;
  ThreadCopier copier_{loop_, {.threads = 1}};
  const std::unique_ptr<LocalDialer> dialer_ =
      NewSocketDialer(loop_, options_.run_dir + "/node.sock");
  HoldingTransport* transport_ = nullptr;  // the client's
  std::unique_ptr<CacheClient> client_;
  Part first_;
  Part late_;
  std::size_t missed_ = 0;
  AcquireAnswer answer_;
};

}  // namespace
}  // namespace cairn

int main(int argc, char** argv) {
  cairn::SetUcxDefaults();
  if (argc < 4 || argc > 6) return 2;
  absl::StatusOr<cairn::KeyCase> prompt = cairn::CaseOf(argv[2], argv[3]);
  if (!prompt.ok()) {
    std::cerr << prompt.status() << "\n";
    return 2;
  }
  cairn::CaseClient::Options options{.run_dir = argv[1]};
  if (argc > 4 && !absl::SimpleAtoi(argv[4], &options.fill)) return 2;
  if (argc > 5 && !absl::SimpleAtoi(argv[5], &options.hold_from)) return 2;
  return cairn::CaseClient(std::move(options), *std::move(prompt)).Run();
}
