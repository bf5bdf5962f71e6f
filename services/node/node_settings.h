#ifndef CAIRN_SERVICES_NODE_NODE_SETTINGS_H_
#define CAIRN_SERVICES_NODE_NODE_SETTINGS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "cairn/config/v1/node.pb.h"
#include "libs/node/options.h"
#include "libs/rpc/rpc_security.h"

namespace cairn {

// A node's configuration, checked, with every default filled in.
struct NodeSettings {
  NodeOptions options;  // but for dev_token, which is made when the run folder is ours
  std::string run_dir;
  std::string grpc_listen;
  RpcSecurity security;
  std::string placement_grpc;  // empty: nobody is told where prompts part
  RpcSecurity placement_security;
  absl::Duration placement_timeout = absl::Seconds(2);  // of one batch
  int copy_threads = 2;                                 // of the process
  absl::Duration drain_timeout;
};

// INVALID_ARGUMENT begins with the configuration's field: "arena.bytes: required". Reads the files
// that security.tls names; starts and makes nothing.
absl::StatusOr<NodeSettings> SettingsOf(const config::v1::Node& config);

}  // namespace cairn
#endif  // CAIRN_SERVICES_NODE_NODE_SETTINGS_H_
