#ifndef CAIRN_TOOLS_CAIRNCTL_PLACEMENT_CLIENT_H_
#define CAIRN_TOOLS_CAIRNCTL_PLACEMENT_CLIENT_H_

#include <memory>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "cairn/placement/v1/placement.pb.h"
#include "tools/cairnctl/verb.h"

namespace cairn {

// PlacementClient calls one placement service, as the flags of an invocation say. Every call has
// the deadline of --timeout (10 s). Threads: one.
class PlacementClient {
 public:
  // Connects when the first call is made. Errors name the flag.
  static absl::StatusOr<std::unique_ptr<PlacementClient>> Of(const Invocation& call);
  ~PlacementClient();

  absl::StatusOr<placement::v1::StatusResponse> Status();
  absl::StatusOr<placement::v1::ListFamiliesResponse> ListFamilies(
      const placement::v1::ListFamiliesRequest& request);
  absl::StatusOr<placement::v1::PlanResponse> Plan(const placement::v1::PlanRequest& request);
  absl::StatusOr<placement::v1::ExplainResponse> Explain(
      const placement::v1::ExplainRequest& request);

  const std::string& endpoint() const;

 private:
  struct State;
  explicit PlacementClient(std::unique_ptr<State> state);
  const std::unique_ptr<State> state_;
};

// Runs `ask` with a client of the service that the flags name; errors, also those that `ask`
// returns, are told.
ExitCode AskPlacement(const Invocation& call,
                      absl::FunctionRef<absl::StatusOr<ExitCode>(PlacementClient&)> ask);

}  // namespace cairn
#endif  // CAIRN_TOOLS_CAIRNCTL_PLACEMENT_CLIENT_H_
