#ifndef CAIRN_TOOLS_CAIRNCTL_NODE_CLIENT_H_
#define CAIRN_TOOLS_CAIRNCTL_NODE_CLIENT_H_

#include <memory>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "cairn/node/v1/admin.pb.h"
#include "tools/cairnctl/verb.h"

namespace cairn {

// NodeClient calls one node's NodeAdmin service, as the flags of an invocation say. Every call has
// the deadline of --timeout. Threads: one.
class NodeClient {
 public:
  // Connects when the first call is made. Errors name the flag.
  static absl::StatusOr<std::unique_ptr<NodeClient>> Of(const Invocation& call,
                                                        absl::Duration timeout_default);
  ~NodeClient();

  absl::StatusOr<node::v1::StatusResponse> Status();
  absl::StatusOr<node::v1::ListResponse> List(const node::v1::ListRequest& request);
  absl::StatusOr<node::v1::DescribeResponse> Describe(const node::v1::DescribeRequest& request);
  absl::StatusOr<node::v1::VerifyResponse> Verify(const node::v1::VerifyRequest& request);
  absl::StatusOr<node::v1::EvictResponse> Evict(const node::v1::EvictRequest& request);
  absl::StatusOr<node::v1::ExplainResponse> Explain(const node::v1::ExplainRequest& request);
  absl::StatusOr<node::v1::OpenSessionResponse> OpenSession(
      const node::v1::OpenSessionRequest& request);

  const std::string& endpoint() const;

 private:
  struct State;
  explicit NodeClient(std::unique_ptr<State> state);
  const std::unique_ptr<State> state_;
};

inline constexpr absl::Duration kTimeoutDefault = absl::Seconds(10);
// For verbs that walk the arena.
inline constexpr absl::Duration kLongTimeoutDefault = absl::Minutes(10);

// Runs `ask` with a client of the node that the flags name; errors, also those that `ask` returns,
// are told.
ExitCode AskNode(const Invocation& call, absl::Duration timeout_default,
                 absl::FunctionRef<absl::StatusOr<ExitCode>(NodeClient&)> ask);

// Says what a verb is about to change and whether to go on: --yes, or an answer on a terminal.
// CANCELLED: no. INVALID_ARGUMENT: nobody to ask, and no --yes.
absl::Status Confirm(const Invocation& call, absl::string_view what);

inline constexpr Flag kYesFlag = {"yes", "", "go on without asking"};

}  // namespace cairn
#endif  // CAIRN_TOOLS_CAIRNCTL_NODE_CLIENT_H_
