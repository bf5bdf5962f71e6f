#ifndef CAIRN_SERVICES_WORKER_SESSION_TOKENS_H_
#define CAIRN_SERVICES_WORKER_SESSION_TOKENS_H_

#include <string>

#include "absl/status/statusor.h"
#include "libs/client/client_options.h"
#include "libs/rpc/rpc_security.h"
#include "libs/span/identity.h"

namespace cairn {

// Dev mode: the node's token lies in `<node_run_dir>/token`, readable by its owner; it is read anew
// at each attempt, since a restarted node writes another one.
TokenSource DevTokenSource(const std::string& node_run_dir);

// mTLS: each attempt asks the node's OpenSession for a token of this root, on a thread of its own.
struct OpenSessionOptions {
  std::string node_grpc;  // "host:port"
  RpcSecurity security;
  ModelIdentity identity;
  std::string name_space;
  std::string salt;
  std::uint32_t block_tokens = 0;
};
// INVALID_ARGUMENT naming the file for certificates that cannot be used.
absl::StatusOr<TokenSource> OpenSessionTokenSource(const OpenSessionOptions& options);

}  // namespace cairn
#endif  // CAIRN_SERVICES_WORKER_SESSION_TOKENS_H_
