#include "services/node/node_settings.h"

#include <unistd.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "libs/base/status_macros.h"
#include "libs/rpc/rpc_channel.h"
#include "libs/rpc/rpc_server.h"

namespace cairn {
namespace {

constexpr std::size_t kRunDirBytesMax = 3000;  // below PATH_MAX, with room for the names inside
constexpr std::uint32_t kCopyThreadsMax = 64;

absl::Status Bad(absl::string_view field, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(field, ": ", what));
}

absl::Duration DurationOf(const google::protobuf::Duration& duration) {
  return absl::Seconds(duration.seconds()) + absl::Nanoseconds(duration.nanos());
}

template <class T>
void SetIfGiven(T value, T& option) {
  if (value != 0) option = value;
}

// What NodeOptions calls a field, and what the configuration calls it.
constexpr struct {
  absl::string_view option;
  absl::string_view field;
} kFields[] = {
    {"segment_bytes", "arena.segment_bytes"},
    {"arena_bytes", "arena.bytes"},
    {"shards", "arena.shards"},
    {"sessions_max", "sessions.sessions_max"},
    {"hello_pending_max", "sessions.hello_pending_max"},
    {"pool_bytes_max", "sessions.pool_bytes_max"},
    {"pins_per_session_max", "pins.per_session_max"},
    {"pin_age_max", "pins.age_max"},
    {"overlap_blocks_max", "placement.overlap_blocks_max"},
};

absl::Status InWordsOfTheConfig(const absl::Status& status) {
  for (const auto& [option, field] : kFields) {
    absl::string_view rest = status.message();
    if (absl::ConsumePrefix(&rest, option) && absl::StartsWith(rest, ":")) {
      return absl::InvalidArgumentError(absl::StrCat(field, rest));
    }
  }
  return status;
}

NodeOptions OptionsOf(const config::v1::Node& config) {
  NodeOptions options;
  options.arena_bytes = config.arena().bytes();
  SetIfGiven<std::uint64_t>(config.arena().segment_bytes(), options.segment_bytes);
  SetIfGiven(config.arena().shards(), options.shards);
  options.own_uid = ::geteuid();
  options.serves_other_users = config.sessions().serve_other_users();
  SetIfGiven(config.sessions().sessions_max(), options.sessions_max);
  SetIfGiven(config.sessions().hello_pending_max(), options.hello_pending_max);
  SetIfGiven<std::uint64_t>(config.sessions().pool_bytes_max(), options.pool_bytes_max);
  options.remote_listen = config.peers().listen();
  if (config.pins().has_age_max()) options.pin_age_max = DurationOf(config.pins().age_max());
  SetIfGiven(config.pins().per_session_max(), options.pins_per_session_max);
  SetIfGiven<std::uint64_t>(config.placement().overlap_blocks_max(), options.overlap_blocks_max);
  return options;
}

absl::Status CheckAddress(absl::string_view field, const std::string& address, bool is_dev_mode) {
  const absl::Status status = CheckListenAddress(address, is_dev_mode);
  return status.ok() ? status : Bad(field, status.message());
}

absl::Status SetPlacement(const config::v1::NodePlacement& config, NodeSettings& settings) {
  settings.placement_security = settings.security;
  settings.placement_grpc = config.grpc();
  if (config.grpc().empty()) {
    return config.ByteSizeLong() == 0
               ? absl::OkStatus()
               : Bad("placement.grpc", "required, where the section says anything else");
  }
  if (config.has_security()) {
    absl::StatusOr<RpcSecurity> security = LoadRpcSecurity(config.security());
    if (!security.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("placement.", security.status().message()));
    }
    settings.placement_security = *std::move(security);
  }
  if (config.has_timeout()) settings.placement_timeout = DurationOf(config.timeout());
  if (settings.placement_timeout < absl::Milliseconds(1) ||
      settings.placement_timeout > absl::Minutes(10)) {
    return Bad("placement.timeout", absl::StrCat("from 1ms to 10m, not ",
                                                 absl::FormatDuration(settings.placement_timeout)));
  }
  const absl::Status status =
      CheckServerAddress(config.grpc(), settings.placement_security.is_dev_mode);
  return status.ok() ? status : Bad("placement.grpc", status.message());
}

}  // namespace

absl::StatusOr<NodeSettings> SettingsOf(const config::v1::Node& config) {
  if (config.run_dir().empty()) return Bad("run_dir", "required");
  if (config.run_dir().size() > kRunDirBytesMax ||
      config.run_dir().find('\0') != std::string::npos) {
    return Bad("run_dir", "no usable path");
  }
  if (config.arena().bytes() == 0) return Bad("arena.bytes", "required");
  NodeSettings settings;
  CAIRN_ASSIGN_OR_RETURN(settings.security, LoadRpcSecurity(config.security()));
  const bool is_dev_mode = settings.security.is_dev_mode;
  settings.options = OptionsOf(config);
  CAIRN_RETURN_IF_ERROR(InWordsOfTheConfig(Validate(settings.options)));
  if (is_dev_mode && settings.options.serves_other_users) {
    return Bad("sessions.serve_other_users", "needs security.tls: dev mode serves one user only");
  }
  settings.run_dir = config.run_dir();
  settings.grpc_listen = config.grpc_listen().empty() ? "127.0.0.1:0" : config.grpc_listen();
  CAIRN_RETURN_IF_ERROR(CheckAddress("grpc_listen", settings.grpc_listen, is_dev_mode));
  if (!settings.options.remote_listen.empty()) {
    CAIRN_RETURN_IF_ERROR(
        CheckAddress("peers.listen", settings.options.remote_listen, is_dev_mode));
  }
  CAIRN_RETURN_IF_ERROR(SetPlacement(config.placement(), settings));
  if (config.arena().copy_threads() > kCopyThreadsMax) {
    return Bad("arena.copy_threads", absl::StrCat("from 1 to ", kCopyThreadsMax, ", not ",
                                                  config.arena().copy_threads()));
  }
  SetIfGiven(static_cast<int>(config.arena().copy_threads()), settings.copy_threads);
  settings.drain_timeout =
      config.has_drain_timeout() ? DurationOf(config.drain_timeout()) : absl::Seconds(10);
  if (settings.drain_timeout > absl::Hours(1)) {
    return Bad("drain_timeout",
               absl::StrCat("at most 1h, not ", absl::FormatDuration(settings.drain_timeout)));
  }
  return settings;
}

}  // namespace cairn
