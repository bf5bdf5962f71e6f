#include "services/worker/session_tokens.h"

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cairn/node/v1/admin.grpc.pb.h"
#include "libs/base/status_macros.h"
#include "libs/rpc/rpc_channel.h"
#include "libs/rpc/status_convert.h"

namespace cairn {
namespace {

constexpr absl::Duration kOpenSessionTimeout = absl::Seconds(3);
constexpr int kLooks = 100;  // for a node that is away: 2 s
constexpr absl::Duration kLook = absl::Milliseconds(20);
constexpr std::int64_t kTokenSeconds = 300;  // only new sessions need it; each attempt asks anew

using TokenDone = absl::AnyInvocable<void(absl::StatusOr<AccessToken>)>;

// Asks for tokens, one call at a time, each on a thread of its own: the last reference to a channel
// must never go on a thread of gRPC's callback API, which would then wait for itself and free its
// queue twice.
class TokenAsker {
 public:
  TokenAsker(const std::shared_ptr<grpc::Channel>& channel, node::v1::OpenSessionRequest request)
      : channel_(channel),
        stub_(node::v1::NodeAdmin::NewStub(channel)),
        request_(std::move(request)) {}
  ~TokenAsker() { Forget(); }
  TokenAsker(const TokenAsker&) = delete;
  TokenAsker& operator=(const TokenAsker&) = delete;

  void Ask(TokenDone done) {
    Forget();  // the attempt that asked is over
    call_ = std::make_unique<Call>();
    call_->thread = std::thread([this, call = call_.get(), done = std::move(done)]() mutable {
      node::v1::OpenSessionResponse response;
      SetDeadline(call->first, kOpenSessionTimeout);
      grpc::Status status = stub_->OpenSession(&call->first, request_, &response);
      if (status.error_code() == grpc::StatusCode::UNAVAILABLE && IsBack(*call)) {
        SetDeadline(call->second, kOpenSessionTimeout);
        status = stub_->OpenSession(&call->second, request_, &response);
      }
      if (call->is_forgotten.load()) return;
      if (!status.ok()) return done(FromGrpcStatus(status));
      done(AccessToken{.token_id = response.token_id(), .token = response.token()});
    });
  }

 private:
  struct Call {
    grpc::ClientContext first;
    grpc::ClientContext second;
    std::atomic<bool> is_forgotten{false};
    std::thread thread;
  };
  // Once this returns, the last call's `done` is not called any more. A cancelled call ends at
  // once, a look soon.
  void Forget() {
    if (call_ == nullptr) return;
    call_->is_forgotten.store(true);
    call_->first.TryCancel();
    call_->second.TryCancel();
    call_->thread.join();
    call_.reset();
  }
  bool IsBack(const Call& call) {
    for (int i = 0; i < kLooks && !call.is_forgotten.load(); ++i) {
      if (HelpConnect(*channel_, kLook)) return true;
    }
    return false;
  }

  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<node::v1::NodeAdmin::Stub> stub_;
  const node::v1::OpenSessionRequest request_;
  std::unique_ptr<Call> call_;
};

node::v1::OpenSessionRequest RequestFor(const OpenSessionOptions& options) {
  node::v1::OpenSessionRequest request;
  node::v1::RootClaim& claim = *request.mutable_claim();
  claim.set_model(options.identity.model);
  claim.set_weights_digest(options.identity.weights_digest);
  claim.set_arch(options.identity.arch);
  claim.set_kv_layout(options.identity.kv_layout);
  claim.set_rope(options.identity.rope);
  claim.set_adapter(options.identity.adapter);
  claim.set_numerics(options.identity.numerics);
  claim.set_namespace_(options.name_space);
  claim.set_salt(options.salt);
  claim.set_block_tokens(options.block_tokens);
  request.mutable_ttl()->set_seconds(kTokenSeconds);
  return request;
}

}  // namespace

TokenSource DevTokenSource(const std::string& node_run_dir) {
  return [path = absl::StrCat(node_run_dir, "/token")](auto done) {
    std::ifstream in(path, std::ios::binary);
    if (!in) {
      done(absl::UnavailableError(absl::StrCat("cannot read ", path, ": is the node running?")));
      return;
    }
    char token[33];
    in.read(token, sizeof token);
    if (in.gcount() != 32) {
      done(absl::UnavailableError(absl::StrCat(path, " is no token of 32 bytes")));
      return;
    }
    done(AccessToken{.token_id = "dev", .token = std::string(token, 32)});
  };
}

absl::StatusOr<TokenSource> OpenSessionTokenSource(const OpenSessionOptions& options) {
  CAIRN_ASSIGN_OR_RETURN(
      std::shared_ptr<grpc::Channel> channel,
      NewRpcChannel({.address = options.node_grpc, .security = options.security}));
  auto asker = std::make_unique<TokenAsker>(channel, RequestFor(options));
  return TokenSource([asker = std::move(asker)](TokenDone done) { asker->Ask(std::move(done)); });
}

}  // namespace cairn
