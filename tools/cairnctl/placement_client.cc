#include "tools/cairnctl/placement_client.h"

#include <utility>

#include "cairn/placement/v1/placement.grpc.pb.h"
#include "libs/base/status_macros.h"
#include "tools/cairnctl/server_call.h"

namespace cairn {

namespace pb = placement::v1;
using pb::Placement;

struct PlacementClient::State {
  CallTarget target{.kind = "placement service", .program = "cairn-placement", .flag = "placement"};
  std::unique_ptr<Placement::Stub> stub;

  template <class Method, class Request>
  auto Call(Method method, const Request& request) {
    return CallServer(target, *stub, method, request);
  }
};

absl::StatusOr<std::unique_ptr<PlacementClient>> PlacementClient::Of(const Invocation& call) {
  const std::string* const endpoint = Given(call, "placement");
  if (endpoint == nullptr) {
    return absl::InvalidArgumentError(
        "which placement service? Name it by --placement=HOST:PORT (CAIRN_PLACEMENT)");
  }
  auto state = std::make_unique<State>();
  state->target.endpoint = *endpoint;
  CAIRN_RETURN_IF_ERROR(Connect(call, absl::Seconds(10), state->target));
  state->stub = Placement::NewStub(state->target.channel);
  return std::unique_ptr<PlacementClient>(new PlacementClient(std::move(state)));
}

PlacementClient::PlacementClient(std::unique_ptr<State> state) : state_(std::move(state)) {}
PlacementClient::~PlacementClient() = default;
const std::string& PlacementClient::endpoint() const { return state_->target.endpoint; }

absl::StatusOr<pb::StatusResponse> PlacementClient::Status() {
  return state_->Call(&Placement::Stub::Status, pb::StatusRequest());
}
absl::StatusOr<pb::ListFamiliesResponse> PlacementClient::ListFamilies(
    const pb::ListFamiliesRequest& request) {
  return state_->Call(&Placement::Stub::ListFamilies, request);
}
absl::StatusOr<pb::PlanResponse> PlacementClient::Plan(const pb::PlanRequest& request) {
  return state_->Call(&Placement::Stub::Plan, request);
}
absl::StatusOr<pb::ExplainResponse> PlacementClient::Explain(const pb::ExplainRequest& request) {
  return state_->Call(&Placement::Stub::Explain, request);
}

ExitCode AskPlacement(const Invocation& call,
                      absl::FunctionRef<absl::StatusOr<ExitCode>(PlacementClient&)> ask) {
  absl::StatusOr<std::unique_ptr<PlacementClient>> client = PlacementClient::Of(call);
  return Told(call, client.ok() ? ask(**client) : client.status());
}

}  // namespace cairn
