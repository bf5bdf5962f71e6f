#include "tools/cairnctl/server_call.h"

#include <utility>

#include "libs/base/status_macros.h"

namespace cairn {
namespace {

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

}  // namespace

const std::string* Given(const Invocation& call, absl::string_view flag) {
  const auto it = call.flags.find(flag);
  return it == call.flags.end() ? nullptr : &it->second;
}

absl::Status Connect(const Invocation& call, absl::Duration timeout_default, CallTarget& target) {
  CAIRN_ASSIGN_OR_RETURN(const RpcSecurity security, SecurityOf(call));
  CAIRN_ASSIGN_OR_RETURN(target.timeout, TimeoutOf(call, timeout_default));
  target.is_tls = !security.is_dev_mode;
  absl::StatusOr<std::shared_ptr<grpc::Channel>> channel =
      NewRpcChannel({.address = target.endpoint, .security = security});
  if (!channel.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("--", target.flag, ": ",
                                                   channel.status().message(),
                                                   " (with TLS: --ca, --cert and --key)"));
  }
  target.channel = *std::move(channel);
  return absl::OkStatus();
}

std::string AdviceFor(const CallTarget& target, const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kUnavailable:
      return absl::StrCat("Is ", target.program, " running there",
                          target.is_tls ? ", and are the certificates from its authority?"
                                        : "? With TLS it needs --ca, --cert and --key.");
    case absl::StatusCode::kDeadlineExceeded:
      return "Give it longer: --timeout=1m.";
    case absl::StatusCode::kResourceExhausted:
      return absl::StrCat("Try again when the ", target.kind, " has less to do.");
    case absl::StatusCode::kPermissionDenied:
      return "Show a certificate: --ca, --cert and --key.";
    case absl::StatusCode::kUnimplemented:
      return absl::StrCat("Is this the gRPC address of a ", target.kind, ", and its version?");
    default:
      return "";
  }
}

}  // namespace cairn
