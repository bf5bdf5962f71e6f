#include "services/worker/session_tokens.h"

#include <grpcpp/grpcpp.h>

#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cairn/node/v1/admin.grpc.pb.h"
#include "libs/base/mutex.h"
#include "libs/base/status_macros.h"
#include "libs/rpc/rpc_channel.h"
#include "libs/rpc/status_convert.h"

namespace cairn {
namespace {

constexpr absl::Duration kOpenSessionTimeout = absl::Seconds(3);
constexpr std::int64_t kTokenSeconds = 300;  // only new sessions need it; each attempt asks anew

using TokenDone = absl::AnyInvocable<void(absl::StatusOr<AccessToken>)>;

// One OpenSession under way; lives until its answer, which may come when nobody waits any more.
class Call {
 public:
  explicit Call(TokenDone done) : done_(std::move(done)) {}
  // Once this returns, `done` is not called.
  void Forget() {
    {
      MutexLock lock(mutex_);
      done_ = nullptr;
    }
    context.TryCancel();  // may answer from inside
  }
  void Answer(absl::StatusOr<AccessToken> token) {
    MutexLock lock(mutex_);
    if (done_ != nullptr) std::exchange(done_, nullptr)(std::move(token));
    is_answered_ = true;
    answered_.NotifyAll();
  }
  void AwaitAnswer() {
    MutexLock lock(mutex_);
    while (!is_answered_) answered_.Wait(mutex_);
  }

  grpc::ClientContext context;
  node::v1::OpenSessionRequest request;
  node::v1::OpenSessionResponse response;

 private:
  Mutex mutex_;
  TokenDone done_ CAIRN_GUARDED_BY(mutex_);
  CondVar answered_;
  bool is_answered_ CAIRN_GUARDED_BY(mutex_) = false;
};

// Asks for tokens, one call at a time. Its end cancels the last one and waits until gRPC is done
// with it: the client that asked may go then, and its loop, and the process.
class TokenAsker {
 public:
  TokenAsker(const std::shared_ptr<grpc::Channel>& channel, node::v1::OpenSessionRequest request)
      : stub_(node::v1::NodeAdmin::NewStub(channel)), request_(std::move(request)) {}
  ~TokenAsker() {
    if (call_ == nullptr) return;
    call_->Forget();
    call_->AwaitAnswer();
  }
  TokenAsker(const TokenAsker&) = delete;
  TokenAsker& operator=(const TokenAsker&) = delete;

  void Ask(TokenDone done) {
    if (call_ != nullptr) call_->Forget();  // the attempt that asked is over
    call_ = std::make_shared<Call>(std::move(done));
    call_->request = request_;
    SetDeadline(call_->context, kOpenSessionTimeout);
    stub_->async()->OpenSession(&call_->context, &call_->request, &call_->response,
                                [call = call_](const grpc::Status& status) {
                                  if (!status.ok()) return call->Answer(FromGrpcStatus(status));
                                  call->Answer(AccessToken{.token_id = call->response.token_id(),
                                                           .token = call->response.token()});
                                });
  }

 private:
  const std::unique_ptr<node::v1::NodeAdmin::Stub> stub_;
  const node::v1::OpenSessionRequest request_;
  std::shared_ptr<Call> call_;
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
