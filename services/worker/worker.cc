#include "services/worker/worker.h"

#include <unistd.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "libs/base/latch.h"
#include "libs/base/limits.h"
#include "libs/base/log.h"
#include "libs/base/sha256.h"
#include "libs/base/status_macros.h"
#include "libs/client/cache_client.h"
#include "libs/copier_threads/thread_copier.h"
#include "libs/gguf/gguf_file.h"
#include "libs/local_socket/local_socket.h"
#include "libs/loop_asio/asio_loop.h"
#include "libs/mapped_file/mapped_file.h"
#include "libs/memory_memfd/memfd_memory.h"
#include "libs/rpc/rpc_channel.h"
#include "libs/span/identity.h"
#include "libs/tokenizer/tokenizer.h"
#include "libs/transport_ucx/ucx_transport.h"
#include "services/worker/completion_service.h"
#include "services/worker/open_device.h"
#include "services/worker/session_tokens.h"

namespace cairn {
namespace {

ModelIdentity IdentityOf(const WorkerOptions& options, const OpenedDevice& opened,
                         const std::string& name, absl::Span<const std::byte> file) {
  return {.model = name,
          // Weights, dimensions, scaling: all of it is in the one file.
          .weights_digest = std::string(
              Sha256Of(absl::string_view(reinterpret_cast<const char*>(file.data()), file.size()))
                  .view()),
          .arch = "llama",
          .kv_layout = opened.device->layout().IdentityText(),
          .rope = opened.rope_text,
          .adapter = "",
          .numerics = options.numerics_any ? "" : opened.device->numerics()};
}

std::uint64_t RandomSeed() {
  std::uint64_t seed;
  std::memcpy(&seed, RandomBytes(sizeof seed).data(), sizeof seed);
  return seed;
}

absl::StatusOr<std::unique_ptr<Transport>> MakeTransport(Loop& loop, TransportProfile profile,
                                                         TransportReceiver& receiver) {
  const UcxProfile ucx = profile == TransportProfile::kSameUser ? UcxProfile::kSameHost
                                                                : UcxProfile::kSameHostOtherUser;
  CAIRN_ASSIGN_OR_RETURN(std::unique_ptr<UcxTransport> transport,
                         UcxTransport::Create(loop, receiver, {.profile = ucx}));
  return transport;
}

}  // namespace

struct Worker::Parts {
  explicit Parts(MappedFile file) : file(std::move(file)) {}

  absl::Status LoadModel(const WorkerOptions& options);
  absl::Status StartCache(const WorkerOptions& options);
  absl::Status StartPlans(const WorkerOptions& options);
  void StartEngine(const WorkerOptions& options);
  absl::Status StartHttp(const WorkerOptions& options);
  CompletionService::Health Health();
  void Stop();

  MappedFile file;
  GgufFile gguf;
  std::unique_ptr<Tokenizer> tokenizer;
  std::unique_ptr<Device> device;
  std::string tier;
  std::string model;
  ModelIdentity identity;
  Root root;
  MemfdMemorySource memory{{}};
  std::unique_ptr<OwnedMemory> pool;

  AsioLoop loop;  // the client's; also everyone's clock
  std::unique_ptr<ThreadCopier> copier;
  std::unique_ptr<LocalDialer> dialer;
  std::unique_ptr<CacheClient> client;
  std::unique_ptr<ClientBlockCache> cache;
  std::unique_ptr<PlanClient> plans;  // null: nobody says where states are wanted

  std::unique_ptr<Engine> engine;
  std::thread engine_thread;
  std::atomic<bool> is_stopping{false};
  std::unique_ptr<CompletionService> service;
  std::unique_ptr<HttpServer> http;
};

absl::Status Worker::Parts::LoadModel(const WorkerOptions& options) {
  CAIRN_ASSIGN_OR_RETURN(gguf, GgufFile::Parse(file.bytes()));
  CAIRN_ASSIGN_OR_RETURN(tokenizer, Tokenizer::Create(gguf.metadata()));
  CAIRN_ASSIGN_OR_RETURN(OpenedDevice opened, OpenDevice(gguf, options.device));
  if (tokenizer->size() > opened.device->shape().vocabulary) {
    return absl::InvalidArgumentError(absl::StrCat("the tokenizer has ", tokenizer->size(),
                                                   " tokens, the model's embedding ",
                                                   opened.device->shape().vocabulary));
  }
  model = options.model_name.empty() ? opened.model_name : options.model_name;
  identity = IdentityOf(options, opened, model, file.bytes());
  tier = opened.tier;
  device = std::move(opened.device);
  CAIRN_ASSIGN_OR_RETURN(const Digest256 fingerprint, FingerprintOf(identity));
  CAIRN_ASSIGN_OR_RETURN(
      root, RootOf(fingerprint, options.name_space, options.salt, options.device.block_tokens));
  CAIRN_ASSIGN_OR_RETURN(pool, memory.Create("cairn-worker-pool", options.pool_bytes));
  const std::uint64_t blocks = options.pool_bytes / device->layout().block_bytes();
  return device->Reserve({.blocks = static_cast<std::uint32_t>(blocks),
                          .rows = options.engine.step_rows_max,
                          .requests = options.engine.running_max});
}

absl::Status Worker::Parts::StartCache(const WorkerOptions& options) {
  loop.Start("cairn-client");
  if (!options.has_cache) return absl::OkStatus();
  TokenSource tokens = DevTokenSource(options.node_run_dir);
  if (!options.security.is_dev_mode) {
    CAIRN_ASSIGN_OR_RETURN(tokens,
                           OpenSessionTokenSource({.node_grpc = options.node_grpc,
                                                   .security = options.security,
                                                   .identity = identity,
                                                   .name_space = options.name_space,
                                                   .salt = options.salt,
                                                   .block_tokens = options.device.block_tokens}));
  }
  Latch started;
  loop.Post([&] {  // a client lives on its loop's thread from its first breath
    copier = std::make_unique<ThreadCopier>(loop, ThreadCopier::Options{.threads = 1});
    const std::string socket = absl::StrCat(options.node_run_dir, "/node.sock");
    dialer = NewSocketDialer(loop, socket);
    ClientPorts ports{.loop = loop,
                      .copier = *copier,
                      .transports =
                          [this](TransportProfile profile, TransportReceiver& receiver) {
                            return MakeTransport(loop, profile, receiver);
                          },
                      .dialer = dialer.get(),
                      .memory = &memory,
                      .pool = pool.get()};
    ClientOptions client_options;
    client_options.peer_name = socket;
    client_options.tokens = std::move(tokens);
    client_options.producer = absl::StrCat("cairn-worker-", ::getpid());
    client_options.identity = identity;
    client_options.name_space = options.name_space;
    client_options.salt = options.salt;
    client_options.block_tokens = options.device.block_tokens;
    client_options.block_bytes = device->layout().block_bytes();
    client_options.root = root;
    client_options.own_uid = ::geteuid();
    client_options.seed = RandomSeed();
    client = std::make_unique<CacheClient>(std::move(ports), std::move(client_options));
    client->Start();
    started.Set();
  });
  started.Wait();
  cache = std::make_unique<ClientBlockCache>(options.cache, *client, loop);
  return absl::OkStatus();
}

absl::Status Worker::Parts::StartPlans(const WorkerOptions& options) {
  if (options.placement_grpc.empty()) return absl::OkStatus();
  CAIRN_ASSIGN_OR_RETURN(
      std::shared_ptr<grpc::Channel> channel,
      NewRpcChannel({.address = options.placement_grpc, .security = options.placement_security}));
  plans = std::make_unique<PlanClient>(options.plans, loop, std::move(channel));
  return absl::OkStatus();
}

void Worker::Parts::StartEngine(const WorkerOptions& options) {
  engine = std::make_unique<Engine>(options.engine, *device, *tokenizer, *pool, cache.get(),
                                    plans.get(), loop);
  engine_thread = std::thread([this] {
    for (;;) {
      while (engine->RunStep()) {
      }
      if (is_stopping.load() && engine->is_idle()) return;
      engine->WaitForWork();
    }
  });
}

absl::Status Worker::Parts::StartHttp(const WorkerOptions& options) {
  service = std::make_unique<CompletionService>(
      CompletionService::Options{
          .model = model, .root = root, .block_tokens = options.device.block_tokens},
      *engine, *device, *tokenizer, [this] { return Health(); });
  CAIRN_ASSIGN_OR_RETURN(
      http,
      HttpServer::Start(options.http, [this](HttpRequest request, std::shared_ptr<HttpReply> r) {
        service->Handle(std::move(request), std::move(r));
      }));
  return absl::OkStatus();
}

CompletionService::Health Worker::Parts::Health() {
  const EngineStats stats = engine->stats();
  const char* const node =
      client == nullptr ? "none" : (client->is_connected() ? "connected" : "away");
  std::string body = absl::StrCat(
      "{\"status\":\"",
      stats.has_failed  ? "failed"
      : stats.is_closed ? "draining"
                        : "ok",
      "\",\"node\":\"", node, "\",\"root\":\"", root.ToHex(), "\",\"requests\":", stats.requests,
      ",\"running\":", stats.running, ",\"waiting\":", stats.waiting,
      ",\"tokens_prompted\":", stats.tokens_prompted, ",\"tokens_reused\":", stats.tokens_reused,
      ",\"tokens_computed\":", stats.tokens_computed,
      ",\"steps_thrown_away\":", stats.steps_thrown_away, ",\"steps_failed\":", stats.steps_failed,
      ",\"step_rows_max\":", stats.step_rows_max, ",\"requests_failed\":", stats.requests_failed,
      ",\"requests_acquired_again\":", stats.requests_acquired_again,
      ",\"requests_moved_off_arena\":", stats.requests_moved_off_arena,
      ",\"plans_by_service\":", stats.plans_by_service, ",\"plans_cached\":", stats.plans_cached,
      ",\"plans_balanced\":", stats.plans_balanced, ",\"blocks_offered\":", stats.blocks_offered,
      ",\"pool_blocks\":", stats.pool_blocks,
      ",\"pool_blocks_available\":", stats.pool_blocks_available, "}");
  return {.is_ready = !stats.is_closed, .body = std::move(body)};
}

void Worker::Parts::Stop() {
  if (engine != nullptr) engine->Drain();
  if (plans != nullptr) plans->Stop();  // a service that hangs holds nobody
  // The end of its session ends what is on loan to the client, whatever the node does.
  Latch stopped;
  if (client != nullptr) {
    loop.Post([&] { client->Stop([&] { stopped.Set(); }); });
  } else {
    stopped.Set();
  }
  if (engine != nullptr) {
    is_stopping.store(true);
    engine->Wake();
    engine_thread.join();  // returns when nothing is on loan any more
  }
  http.reset();
  stopped.Wait();
  loop.Stop();
  engine.reset();  // it lets go of what the others gave it
  cache.reset();
  plans.reset();
  client.reset();
  dialer.reset();
  copier.reset();
}

Worker::Worker(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Worker::~Worker() {
  if (parts_ != nullptr) parts_->Stop();
}

absl::StatusOr<std::unique_ptr<Worker>> Worker::Start(const WorkerOptions& options) {
  CAIRN_ASSIGN_OR_RETURN(MappedFile file, MappedFile::Open(options.model_file));
  auto parts = std::make_unique<Parts>(std::move(file));
  if (absl::Status s = parts->LoadModel(options); !s.ok()) {
    return absl::Status(s.code(), absl::StrCat(options.model_file, ": ", s.message()));
  }
  std::unique_ptr<Worker> worker(new Worker(std::move(parts)));
  CAIRN_RETURN_IF_ERROR(worker->parts_->StartCache(options));
  CAIRN_RETURN_IF_ERROR(worker->parts_->StartPlans(options));
  worker->parts_->StartEngine(options);
  CAIRN_RETURN_IF_ERROR(worker->parts_->StartHttp(options));
  LogEvent(LogLevel::kInfo, "worker_started")
      .With("http", worker->address())
      .With("model", worker->parts_->model)
      .With("tier", worker->parts_->tier)
      .With("root", worker->parts_->root.ToHex())
      .With("node", options.has_cache ? options.node_run_dir : "none");
  return worker;
}

void Worker::Drain(absl::AnyInvocable<void()> on_done) {
  parts_->engine->Close(std::move(on_done));
}

const std::string& Worker::address() const { return parts_->http->address(); }

}  // namespace cairn
