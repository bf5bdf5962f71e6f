#ifndef CAIRN_TOOLS_CAIRNCTL_SERVER_CALL_H_
#define CAIRN_TOOLS_CAIRNCTL_SERVER_CALL_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "libs/rpc/rpc_channel.h"
#include "libs/rpc/status_convert.h"
#include "tools/cairnctl/verb.h"

// What the clients of a node and of the placement service share. The only header here with gRPC.
namespace cairn {

// Where a verb's calls go. Every call has the deadline of --timeout.
struct CallTarget {
  absl::string_view kind;     // "node", for errors
  absl::string_view program;  // "cairn-node", for advice
  absl::string_view flag;     // that names it
  std::string endpoint;
  bool is_tls = false;
  absl::Duration timeout;
  std::shared_ptr<grpc::Channel> channel;  // connects at the first call
};

// The value of a flag; nullptr if it was not given.
const std::string* Given(const Invocation& call, absl::string_view flag);

// Fills what is behind `endpoint`, from --timeout, --ca, --cert and --key. Errors name the flag.
absl::Status Connect(const Invocation& call, absl::Duration timeout_default, CallTarget& target);

// What may help; empty: nothing.
std::string AdviceFor(const CallTarget& target, const absl::Status& status);

// One call. Errors say who was asked, and what to do next.
template <class Stub, class Request, class Response>
absl::StatusOr<Response> CallServer(const CallTarget& target, Stub& stub,
                                    grpc::Status (Stub::*method)(grpc::ClientContext*,
                                                                 const Request&, Response*),
                                    const Request& request) {
  grpc::ClientContext context;
  SetDeadline(context, target.timeout);
  Response response;
  const absl::Status status = FromGrpcStatus((stub.*method)(&context, request, &response));
  if (status.ok()) return response;
  const std::string advice = AdviceFor(target, status);
  return absl::Status(status.code(),
                      absl::StrCat(target.kind, " at ", target.endpoint, ": ", status.message(),
                                   advice.empty() ? "" : ". ", advice));
}

}  // namespace cairn
#endif  // CAIRN_TOOLS_CAIRNCTL_SERVER_CALL_H_
