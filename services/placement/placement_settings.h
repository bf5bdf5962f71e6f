#ifndef CAIRN_SERVICES_PLACEMENT_PLACEMENT_SETTINGS_H_
#define CAIRN_SERVICES_PLACEMENT_PLACEMENT_SETTINGS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "cairn/config/v1/placement.pb.h"
#include "libs/planner/planner.h"
#include "libs/rpc/rpc_security.h"

namespace cairn {

// A placement service's configuration, checked, with every default filled in.
struct PlacementSettings {
  planner::Planner::Options planner;
  std::string snapshot_dir;
  std::string grpc_listen;
  RpcSecurity security;
  absl::Duration snapshot_interval;
};

// INVALID_ARGUMENT begins with the configuration's field: "snapshot_dir: required". Reads the files
// that security.tls names; starts and makes nothing.
absl::StatusOr<PlacementSettings> SettingsOf(const config::v1::Placement& config);

}  // namespace cairn
#endif  // CAIRN_SERVICES_PLACEMENT_PLACEMENT_SETTINGS_H_
