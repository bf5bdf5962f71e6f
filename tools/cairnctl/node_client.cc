#include "tools/cairnctl/node_client.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "cairn/node/v1/admin.grpc.pb.h"
#include "libs/base/status_macros.h"
#include "tools/cairnctl/server_call.h"

namespace cairn {
namespace {

using node::v1::NodeAdmin;

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

}  // namespace

struct NodeClient::State {
  CallTarget target{.kind = "node", .program = "cairn-node", .flag = "endpoint"};
  std::unique_ptr<NodeAdmin::Stub> stub;

  template <class Method, class Request>
  auto Call(Method method, const Request& request) {
    return CallServer(target, *stub, method, request);
  }
};

absl::StatusOr<std::unique_ptr<NodeClient>> NodeClient::Of(const Invocation& call,
                                                           absl::Duration timeout_default) {
  auto state = std::make_unique<State>();
  CAIRN_ASSIGN_OR_RETURN(state->target.endpoint, EndpointOf(call));
  CAIRN_RETURN_IF_ERROR(Connect(call, timeout_default, state->target));
  state->stub = NodeAdmin::NewStub(state->target.channel);
  return std::unique_ptr<NodeClient>(new NodeClient(std::move(state)));
}

NodeClient::NodeClient(std::unique_ptr<State> state) : state_(std::move(state)) {}
NodeClient::~NodeClient() = default;
const std::string& NodeClient::endpoint() const { return state_->target.endpoint; }

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
  return Told(call, client.ok() ? ask(**client) : client.status());
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
