#include "libs/rpc/rpc_channel.h"

#include <grpcpp/grpcpp.h>

#include <chrono>

#include "libs/base/limits.h"
#include "libs/base/status_macros.h"
#include "libs/rpc/rpc_server.h"

namespace cairn {

absl::StatusOr<std::shared_ptr<grpc::Channel>> NewRpcChannel(const RpcChannelOptions& options) {
  std::shared_ptr<grpc::ChannelCredentials> credentials;
  if (options.security.is_dev_mode) {
    CAIRN_RETURN_IF_ERROR(CheckListenAddress(options.address, /*is_dev_mode=*/true));
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

}  // namespace cairn
