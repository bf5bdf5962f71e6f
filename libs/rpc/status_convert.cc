#include "libs/rpc/status_convert.h"

#include <grpcpp/support/status.h>

#include <string>

namespace cairn {
namespace {

// Messages may end on a terminal, and travel in an HTTP header of bounded size.
constexpr std::size_t kMessageBytesMax = 2048;

}  // namespace

static_assert(static_cast<int>(absl::StatusCode::kUnauthenticated) == grpc::UNAUTHENTICATED);
static_assert(static_cast<int>(absl::StatusCode::kInvalidArgument) == grpc::INVALID_ARGUMENT);

grpc::Status ToGrpcStatus(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()),
                      std::string(status.message().substr(0, kMessageBytesMax)));
}

absl::Status FromGrpcStatus(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  const int code = status.error_code();
  const bool is_known = code > 0 && code <= static_cast<int>(absl::StatusCode::kUnauthenticated);
  return absl::Status(is_known ? static_cast<absl::StatusCode>(code) : absl::StatusCode::kUnknown,
                      status.error_message().substr(0, kMessageBytesMax));
}

}  // namespace cairn
