#include "libs/rpc/rpc_channel.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "libs/base/limits.h"
#include "libs/base/status_macros.h"
#include "libs/rpc/host_port.h"
#include "libs/rpc/rpc_server.h"

namespace cairn {
namespace {

constexpr std::size_t kHostNameBytesMax = 253;

}  // namespace

absl::Status CheckServerAddress(const std::string& address, bool is_dev_mode) {
  const absl::StatusOr<HostPort> numeric = ParseHostPort(address);
  if (numeric.ok() && numeric->port == 0) {
    return absl::InvalidArgumentError(absl::StrCat(address, " has port 0, where nobody listens"));
  }
  if (is_dev_mode) return CheckListenAddress(address, /*is_dev_mode=*/true);
  if (numeric.ok()) return absl::OkStatus();
  const std::size_t colon = address.rfind(':');
  const std::string host = address.substr(0, colon == std::string::npos ? 0 : colon);
  const bool is_name =
      !host.empty() && host.size() <= kHostNameBytesMax &&
      std::all_of(host.begin(), host.end(), [](char c) {
        return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '-';
      });
  std::uint32_t port = 0;
  if (is_name && absl::SimpleAtoi(address.substr(colon + 1), &port) && port >= 1 && port <= 65535) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("\"", absl::CEscape(address.substr(0, 80)),
                   "\" is no address such as 10.0.0.7:7001, [::1]:7001 or placement.example:7001"));
}

absl::StatusOr<std::shared_ptr<grpc::Channel>> NewRpcChannel(const RpcChannelOptions& options) {
  CAIRN_RETURN_IF_ERROR(CheckServerAddress(options.address, options.security.is_dev_mode));
  std::shared_ptr<grpc::ChannelCredentials> credentials;
  if (options.security.is_dev_mode) {
    credentials = grpc::InsecureChannelCredentials();
  } else {
    grpc::SslCredentialsOptions ssl;
    ssl.pem_root_certs = options.security.ca;
    ssl.pem_cert_chain = options.security.certificate;
    ssl.pem_private_key = options.security.key;
    credentials = grpc::SslCredentials(ssl);
  }
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  // As the client does it on the data path (libs/client/backoff.h): gRPC's own wait between two
  // attempts grows to two minutes, and a node that was away for long would be found that late.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 5000);  // what one attempt may take
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 5000);
  arguments.SetMaxReceiveMessageSize(static_cast<int>(limits::kRpcAnswerBytesMax));
  return grpc::CreateCustomChannel(options.address, credentials, arguments);
}

void SetDeadline(grpc::ClientContext& context, absl::Duration timeout) {
  context.set_deadline(std::chrono::system_clock::now() + absl::ToChronoMilliseconds(timeout));
}

bool HelpConnect(grpc::Channel& channel, absl::Duration most) {
  return channel.WaitForConnected(std::chrono::system_clock::now() +
                                  absl::ToChronoMilliseconds(most));
}

}  // namespace cairn
