#include "tools/cairnctl/node_client.h"

#include <grpcpp/grpcpp.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "cairn/node/v1/admin.grpc.pb.h"
#include "libs/base/status_macros.h"
#include "libs/rpc/rpc_channel.h"
#include "libs/rpc/status_convert.h"

namespace cairn {
namespace {

using node::v1::NodeAdmin;

const std::string* Given(const Invocation& call, absl::string_view flag) {
  const auto it = call.flags.find(flag);
  return it == call.flags.end() ? nullptr : &it->second;
}

absl::StatusOr<std::string> EndpointOf(const Invocation& call) {
  const std::string* const endpoint = Given(call, "endpoint");
  const std::string* const run_dir = Given(call, "run-dir");
  if (endpoint != nullptr) return *endpoint;
  if (run_dir == nullptr) {
    return absl::InvalidArgumentError(
        "which node? Name it by --endpoint=HOST:PORT or --run-dir=DIR (CAIRN_ENDPOINT, "
        "CAIRN_RUN_DIR)");
  }
  const std::string path = absl::StrCat(*run_dir, "/grpc");
  std::ifstream file(path);
  std::string address;
  if (!std::getline(file, address) || address.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "no node runs in ", *run_dir, ": cannot read ", path, " (", std::strerror(errno),
        "). Start cairn-node with that run_dir, or name another"));
  }
  return address;
}

absl::StatusOr<RpcSecurity> SecurityOf(const Invocation& call) {
  config::v1::MutualTls files;
  int given = 0;
  for (const auto& [flag, file] : {std::pair{"ca", files.mutable_ca_file()},
                                   std::pair{"cert", files.mutable_certificate_file()},
                                   std::pair{"key", files.mutable_key_file()}}) {
    if (const std::string* const value = Given(call, flag)) {
      *file = *value;
      ++given;
    }
  }
  if (given == 0) return RpcSecurity{.is_dev_mode = true};
  if (given != 3) return absl::InvalidArgumentError("mTLS needs --ca, --cert and --key, all three");
  return LoadMutualTls(files);
}

absl::StatusOr<absl::Duration> TimeoutOf(const Invocation& call, absl::Duration timeout_default) {
  const std::string* const text = Given(call, "timeout");
  if (text == nullptr) return timeout_default;
  absl::Duration timeout;
  if (!absl::ParseDuration(*text, &timeout) || timeout <= absl::ZeroDuration() ||
      timeout > absl::Hours(24)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--timeout is a duration such as 500ms, 10s or 5m, not \"", *text, "\""));
  }
  return timeout;
}

absl::string_view AdviceFor(const absl::Status& status, bool is_tls) {
  switch (status.code()) {
    case absl::StatusCode::kUnavailable:
      return is_tls ? "Is cairn-node running there, and are the certificates from its authority?"
                    : "Is cairn-node running there? A node with TLS needs --ca, --cert and --key.";
    case absl::StatusCode::kDeadlineExceeded:
      return "Give it longer: --timeout=1m.";
    case absl::StatusCode::kResourceExhausted:
      return "Try again when the node has less to do.";
    case absl::StatusCode::kPermissionDenied:
      return "Show a certificate: --ca, --cert and --key.";
    case absl::StatusCode::kUnimplemented:
      return "Is this the node's gRPC address, and its version?";
    default:
      return "";
  }
}

}  // namespace

struct NodeClient::State {
  std::string endpoint;
  bool is_tls = false;
  absl::Duration timeout;
  std::unique_ptr<NodeAdmin::Stub> stub;

  template <class Request, class Response>
  absl::StatusOr<Response> Call(grpc::Status (NodeAdmin::Stub::*method)(grpc::ClientContext*,
                                                                        const Request&, Response*),
                                const Request& request) {
    grpc::ClientContext context;
    SetDeadline(context, timeout);
    Response response;
    const absl::Status status = FromGrpcStatus((stub.get()->*method)(&context, request, &response));
    if (status.ok()) return response;
    const absl::string_view advice = AdviceFor(status, is_tls);
    return absl::Status(status.code(), absl::StrCat("node at ", endpoint, ": ", status.message(),
                                                    advice.empty() ? "" : ". ", advice));
  }
};

absl::StatusOr<std::unique_ptr<NodeClient>> NodeClient::Of(const Invocation& call,
                                                           absl::Duration timeout_default) {
  auto state = std::make_unique<State>();
  CAIRN_ASSIGN_OR_RETURN(state->endpoint, EndpointOf(call));
  CAIRN_ASSIGN_OR_RETURN(const RpcSecurity security, SecurityOf(call));
  CAIRN_ASSIGN_OR_RETURN(state->timeout, TimeoutOf(call, timeout_default));
  state->is_tls = !security.is_dev_mode;
  absl::StatusOr<std::shared_ptr<grpc::Channel>> channel =
      NewRpcChannel({.address = state->endpoint, .security = security});
  if (!channel.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("--endpoint: ", channel.status().message(),
                                                   " (with TLS: --ca, --cert and --key)"));
  }
  state->stub = NodeAdmin::NewStub(*channel);
  return std::unique_ptr<NodeClient>(new NodeClient(std::move(state)));
}

NodeClient::NodeClient(std::unique_ptr<State> state) : state_(std::move(state)) {}
NodeClient::~NodeClient() = default;
const std::string& NodeClient::endpoint() const { return state_->endpoint; }

absl::StatusOr<node::v1::StatusResponse> NodeClient::Status() {
  return state_->Call(&NodeAdmin::Stub::Status, node::v1::StatusRequest());
}
absl::StatusOr<node::v1::ListResponse> NodeClient::List(const node::v1::ListRequest& request) {
  return state_->Call(&NodeAdmin::Stub::List, request);
}
absl::StatusOr<node::v1::DescribeResponse> NodeClient::Describe(
    const node::v1::DescribeRequest& request) {
  return state_->Call(&NodeAdmin::Stub::Describe, request);
}
absl::StatusOr<node::v1::VerifyResponse> NodeClient::Verify(
    const node::v1::VerifyRequest& request) {
  return state_->Call(&NodeAdmin::Stub::Verify, request);
}
absl::StatusOr<node::v1::EvictResponse> NodeClient::Evict(const node::v1::EvictRequest& request) {
  return state_->Call(&NodeAdmin::Stub::Evict, request);
}
absl::StatusOr<node::v1::ExplainResponse> NodeClient::Explain(
    const node::v1::ExplainRequest& request) {
  return state_->Call(&NodeAdmin::Stub::Explain, request);
}
absl::StatusOr<node::v1::OpenSessionResponse> NodeClient::OpenSession(
    const node::v1::OpenSessionRequest& request) {
  return state_->Call(&NodeAdmin::Stub::OpenSession, request);
}

ExitCode AskNode(const Invocation& call, absl::Duration timeout_default,
                 absl::FunctionRef<absl::StatusOr<ExitCode>(NodeClient&)> ask) {
  absl::StatusOr<std::unique_ptr<NodeClient>> client = NodeClient::Of(call, timeout_default);
  absl::StatusOr<ExitCode> code = client.ok() ? ask(**client) : client.status();
  if (code.ok() && !call.streams.out.flush()) {
    code = absl::UnavailableError("the answer could not be written");
  }
  if (code.ok()) return *code;
  call.streams.err << "cairnctl " << call.verb << ": " << code.status().message() << "\n";
  if (absl::IsInvalidArgument(code.status())) return kExitUsage;
  return absl::IsNotFound(code.status()) ? kExitNotFound : kExitFailed;
}

absl::Status Confirm(const Invocation& call, absl::string_view what) {
  call.streams.err << what << "\n";
  if (call.flags.contains("yes")) return absl::OkStatus();
  if (!call.is_terminal) {
    return absl::InvalidArgumentError("nobody to ask here, nothing was done: add --yes to go on");
  }
  call.streams.err << "Go on? [y/N] " << std::flush;
  std::string answer;
  std::getline(call.streams.in, answer);
  answer = absl::AsciiStrToLower(absl::StripAsciiWhitespace(answer));
  if (answer == "y" || answer == "yes") return absl::OkStatus();
  return absl::CancelledError("nothing was done");
}

}  // namespace cairn
