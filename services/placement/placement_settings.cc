#include "services/placement/placement_settings.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "libs/base/status_macros.h"
#include "libs/rpc/rpc_server.h"

namespace cairn {
namespace {

constexpr std::size_t kPathBytesMax = 3000;  // below PATH_MAX, with room for the names inside

absl::Status Bad(absl::string_view field, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(field, ": ", what));
}

template <class T, class Option>
void SetIfGiven(T value, Option& option) {
  if (value != 0) option = value;
}

// What the planner's options are called in the configuration.
absl::Status InWordsOfTheConfig(const absl::Status& status) {
  for (const absl::string_view option : {"families_max", "entries_max"}) {
    if (absl::StartsWith(status.message(), option)) {
      return absl::InvalidArgumentError(absl::StrCat("memory.", status.message()));
    }
  }
  return status;
}

}  // namespace

absl::StatusOr<PlacementSettings> SettingsOf(const config::v1::Placement& config) {
  if (config.snapshot_dir().empty()) return Bad("snapshot_dir", "required");
  if (config.snapshot_dir().size() > kPathBytesMax ||
      config.snapshot_dir().find('\0') != std::string::npos) {
    return Bad("snapshot_dir", "no usable path");
  }
  PlacementSettings settings;
  settings.snapshot_dir = std::string(absl::StripSuffix(config.snapshot_dir(), "/"));
  CAIRN_ASSIGN_OR_RETURN(settings.security, LoadRpcSecurity(config.security()));
  settings.grpc_listen = config.grpc_listen().empty() ? "127.0.0.1:0" : config.grpc_listen();
  const absl::Status address =
      CheckListenAddress(settings.grpc_listen, settings.security.is_dev_mode);
  if (!address.ok()) return Bad("grpc_listen", address.message());
  settings.snapshot_interval = absl::Seconds(60);
  if (config.has_snapshot_interval()) {
    settings.snapshot_interval = absl::Seconds(config.snapshot_interval().seconds()) +
                                 absl::Nanoseconds(config.snapshot_interval().nanos());
  }
  if (settings.snapshot_interval < absl::Seconds(1) ||
      settings.snapshot_interval > absl::Hours(24)) {
    return Bad("snapshot_interval", absl::StrCat("from 1s to 24h, not ",
                                                 absl::FormatDuration(settings.snapshot_interval)));
  }
  SetIfGiven(config.memory().families_max(), settings.planner.families_max);
  SetIfGiven(config.memory().entries_max(), settings.planner.entries_max);
  SetIfGiven(config.grid_tokens(), settings.planner.grid_tokens);
  SetIfGiven(config.states_per_entry(), settings.planner.states_per_entry);
  CAIRN_RETURN_IF_ERROR(InWordsOfTheConfig(planner::Planner::Validate(settings.planner)));
  return settings;
}

}  // namespace cairn
