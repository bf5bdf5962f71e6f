#ifndef CAIRN_LIBS_RPC_STATUS_CONVERT_H_
#define CAIRN_LIBS_RPC_STATUS_CONVERT_H_

#include "absl/status/status.h"

namespace grpc {
class Status;
}

namespace cairn {

// Between our statuses and gRPC's, both ways: the codes are the same canonical ones. The only place
// where either is turned into the other.
grpc::Status ToGrpcStatus(const absl::Status& status);
absl::Status FromGrpcStatus(const grpc::Status& status);

}  // namespace cairn
#endif  // CAIRN_LIBS_RPC_STATUS_CONVERT_H_
