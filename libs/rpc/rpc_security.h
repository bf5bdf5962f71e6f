#ifndef CAIRN_LIBS_RPC_RPC_SECURITY_H_
#define CAIRN_LIBS_RPC_RPC_SECURITY_H_

#include <string>

#include "absl/status/statusor.h"
#include "cairn/config/v1/security.pb.h"

namespace cairn {

// How the two ends of a gRPC connection know each other: by certificates that both show and check,
// or not at all, and then on loopback only (`is_dev_mode`).
struct RpcSecurity {
  bool is_dev_mode = false;
  // PEM texts; empty in dev mode.
  std::string ca;
  std::string certificate;
  std::string key;
};

// Reads the files and checks that they are what they should be, and that the key is the
// certificate's. INVALID_ARGUMENT begins with the field: "ca_file: cannot read FILE: ...".
absl::StatusOr<RpcSecurity> LoadMutualTls(const config::v1::MutualTls& files);
// The same for a `security` section: exactly one of tls and dev_mode_without_tls. Errors begin with
// "security" or "security.tls.<field>".
absl::StatusOr<RpcSecurity> LoadRpcSecurity(const config::v1::Security& security);

}  // namespace cairn
#endif  // CAIRN_LIBS_RPC_RPC_SECURITY_H_
