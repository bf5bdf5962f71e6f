#ifndef CAIRN_SERVICES_NODE_ADMIN_CONVERT_H_
#define CAIRN_SERVICES_NODE_ADMIN_CONVERT_H_

#include <vector>

#include "absl/status/statusor.h"
#include "cairn/node/v1/admin.pb.h"
#include "libs/node/admin.h"
#include "services/node/counters.h"

// Between the messages of proto/cairn/node/v1/admin.proto and the node's own types. What comes in
// is checked here: errors are INVALID_ARGUMENT and begin with the field.
namespace cairn {

absl::StatusOr<RootChoice> RootChoiceOf(const node::v1::RootChoice& choice);
absl::StatusOr<EntryChoice> EntryChoiceOf(const node::v1::EntryChoice& choice);
absl::StatusOr<Key> KeyOf(const std::string& bytes, absl::string_view field);
absl::StatusOr<std::vector<Key>> KeysOf(
    const google::protobuf::RepeatedPtrField<std::string>& keys);
RootClaim ClaimOf(const node::v1::RootClaim& claim);  // checked by the node

// What Status answers: the node's part, and its adapters'.
struct ProcessStatus {
  NodeStatus node;
  AdapterStats adapters;
};
void Fill(const ProcessStatus& process, node::v1::StatusResponse* out);
void Fill(const EntryList& list, node::v1::ListResponse* out);
void Fill(const std::vector<NamedEntry>& entries, node::v1::DescribeResponse* out);
void Fill(const VerifyReport& report, node::v1::VerifyResponse* out);
void Fill(const EvictReport& report, node::v1::EvictResponse* out);
void Fill(const Explanation& explanation, node::v1::ExplainResponse* out);
void Fill(const SessionToken& token, node::v1::OpenSessionResponse* out);

}  // namespace cairn
#endif  // CAIRN_SERVICES_NODE_ADMIN_CONVERT_H_
