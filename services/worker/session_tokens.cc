#include "services/worker/session_tokens.h"

#include <grpcpp/grpcpp.h>

#include <fstream>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cairn/node/v1/admin.grpc.pb.h"
#include "libs/base/status_macros.h"
#include "libs/rpc/rpc_channel.h"
#include "libs/rpc/status_convert.h"

namespace cairn {
namespace {

constexpr absl::Duration kOpenSessionTimeout = absl::Seconds(3);
constexpr std::int64_t kTokenSeconds = 300;  // only new sessions need it; each attempt asks anew

// One OpenSession under way; lives until its answer.
struct Call {
  grpc::ClientContext context;
  node::v1::OpenSessionRequest request;
  node::v1::OpenSessionResponse response;
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
  CAIRN_ASSIGN_OR_RETURN(RpcSecurity security, LoadRpcSecurity(options.security));
  CAIRN_ASSIGN_OR_RETURN(
      std::shared_ptr<grpc::Channel> channel,
      NewRpcChannel({.address = options.node_grpc, .security = std::move(security)}));
  std::shared_ptr<node::v1::NodeAdmin::Stub> stub = node::v1::NodeAdmin::NewStub(channel);
  return TokenSource([stub, request = RequestFor(options)](auto done) {
    auto call = std::make_shared<Call>();
    call->request = request;
    SetDeadline(call->context, kOpenSessionTimeout);
    auto shared_done = std::make_shared<decltype(done)>(std::move(done));
    stub->async()->OpenSession(&call->context, &call->request, &call->response,
                               [call, shared_done](const grpc::Status& status) {
                                 if (!status.ok()) {
                                   (*shared_done)(FromGrpcStatus(status));
                                   return;
                                 }
                                 (*shared_done)(AccessToken{.token_id = call->response.token_id(),
                                                            .token = call->response.token()});
                               });
  });
}

}  // namespace cairn
