// A worker without a model: stores a block for every key of a case (as `cairnctl keys` reads them)
// in a node in dev mode, asks for them again, and holds them pinned until its standard input ends.
//   usage: e2e_case_client RUN_DIR FILE CASE
// Prints "stored N", then "held N". Exit code 1: something was answered with a miss.
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "libs/base/checksum.h"
#include "libs/base/status_macros.h"
#include "libs/base/units.h"
#include "libs/client/cache_client.h"
#include "libs/copier_threads/thread_copier.h"
#include "libs/local_socket/local_socket.h"
#include "libs/loop_asio/asio_loop.h"
#include "libs/memory_memfd/memfd_memory.h"
#include "libs/transport_ucx/ucx_transport.h"
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
  CaseClient(std::string run_dir, KeyCase prompt)
      : run_dir_(std::move(run_dir)),
        prompt_(std::move(prompt)),
        keys_(prompt_.prompt.keys().begin(), prompt_.prompt.keys().end()),
        pool_(*memory_.Create("case-pool", keys_.size() * kBlockBytes)) {}

  int Run() {
    loop_.Post([this] {
      client_ = std::make_unique<CacheClient>(Ports(), Options());
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
              return std::unique_ptr<Transport>(std::move(made));
            },
            .dialer = dialer_.get(),
            .memory = &memory_,
            .pool = pool_.get()};
  }

  ClientOptions Options() {
    ClientOptions options;
    options.peer_name = run_dir_;
    options.tokens = [this](auto done) {
      std::ifstream in(run_dir_ + "/token", std::ios::binary);
      done(AccessToken{.token_id = "dev",
                       .token = std::string(std::istreambuf_iterator<char>(in), {})});
    };
    options.producer = "case-client";
    const ModelIdentity& id = prompt_.identity;
    options.identity = {id.model, id.weights_digest, id.arch,    id.kv_layout,
                        id.rope,  id.adapter,        id.numerics};
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
      std::memset(bytes.data(), static_cast<int>(i + 1), bytes.size());
      blocks.push_back({.key = keys_[i],
                        .bytes = bytes,
                        .checksum = ChecksumOf(bytes),
                        .depth = prompt_.block_tokens});
    }
    left_ = keys_.size();
    client_->Offer(std::move(blocks), Deadline(), [this](std::size_t, OfferResult result) {
      if (result != OfferResult::kStored) {
        ++missed_;
        std::cerr << "not stored: OfferResult " << static_cast<int>(result) << "\n";
      }
      if (--left_ > 0) return;
      std::cout << "stored " << keys_.size() - missed_ << std::endl;
      loop_.Post([this] { Acquire(); });
    });
  }

  void Acquire() {
    client_->Acquire({.keys = keys_, .kinds = {}, .deadline = Deadline()},
                     [this](AcquireAnswer answer) {
                       std::size_t held = 0;
                       for (const KeyAnswer& key : answer.keys) held += key.is_hit();
                       missed_ += keys_.size() - held;
                       answer_ = std::move(answer);
                       std::cout << "held " << held << std::endl;
                       (void)loop_.WatchReadable(STDIN_FILENO, [this] { OnInput(); });
                     });
  }

  void OnInput() {
    char piece[64];
    if (::read(STDIN_FILENO, piece, sizeof piece) > 0) return;
    loop_.Unwatch(STDIN_FILENO);
    answer_ = {};
    client_->Stop([this] { loop_.Post([this] { loop_.Stop(); }); });
  }

  const std::string run_dir_;
  const KeyCase prompt_;
  const std::vector<Key> keys_;
  MemfdMemorySource memory_{MemfdMemorySource::Options{}};
  const std::unique_ptr<OwnedMemory> pool_;
  AsioLoop loop_;
  ThreadCopier copier_{loop_, {.threads = 1}};
  const std::unique_ptr<LocalDialer> dialer_ = NewSocketDialer(loop_, run_dir_ + "/node.sock");
  std::unique_ptr<CacheClient> client_;
  std::size_t left_ = 0;
  std::size_t missed_ = 0;
  AcquireAnswer answer_;
};

}  // namespace
}  // namespace cairn

int main(int argc, char** argv) {
  cairn::SetUcxDefaults();
  if (argc != 4) return 2;
  absl::StatusOr<cairn::KeyCase> prompt = cairn::CaseOf(argv[2], argv[3]);
  if (!prompt.ok()) {
    std::cerr << prompt.status() << "\n";
    return 2;
  }
  return cairn::CaseClient(argv[1], *std::move(prompt)).Run();
}
