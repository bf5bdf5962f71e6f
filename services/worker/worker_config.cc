#include "services/worker/worker_config.h"

#include <algorithm>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "libs/base/limits.h"
#include "libs/base/status_macros.h"
#include "libs/base/units.h"
#include "libs/rpc/host_port.h"
#include "libs/rpc/rpc_channel.h"
#include "services/worker/open_device.h"

namespace cairn {
namespace {

absl::Status Bad(absl::string_view field, absl::string_view fault) {
  return absl::InvalidArgumentError(absl::StrCat("field ", field, ": ", fault));
}

// `value`, or `otherwise` if it was left out (0), if it is within the bounds.
absl::StatusOr<std::uint64_t> Within(absl::string_view field, std::uint64_t value,
                                     std::uint64_t otherwise, std::uint64_t low,
                                     std::uint64_t high) {
  if (value == 0) return otherwise;
  if (value >= low && value <= high) return value;
  return Bad(field, absl::StrCat(value, " is not within ", low, " and ", high));
}

// A duration that was given, if it is within the bounds.
absl::Status TakeDuration(absl::string_view field, bool is_given,
                          const google::protobuf::Duration& given, absl::Duration low,
                          absl::Duration high, absl::Duration* out) {
  if (!is_given) return absl::OkStatus();
  const absl::Duration value = absl::Seconds(given.seconds()) + absl::Nanoseconds(given.nanos());
  if (value < low || value > high) {
    return Bad(field, absl::StrCat(absl::FormatDuration(value), " is not within ",
                                   absl::FormatDuration(low), " and ", absl::FormatDuration(high)));
  }
  *out = value;
  return absl::OkStatus();
}

absl::Status CheckAddress(absl::string_view field, const std::string& address) {
  const absl::Status parsed = ParseHostPort(address).status();
  return parsed.ok() ? parsed : Bad(field, parsed.message());
}

absl::Status SetHttp(const config::v1::Http& config, HttpServer::Options* http) {
  if (!config.listen().empty()) http->listen = config.listen();
  CAIRN_RETURN_IF_ERROR(CheckAddress("http.listen", http->listen));
  CAIRN_ASSIGN_OR_RETURN(const std::uint64_t connections,
                         Within("http.connections_max", config.connections_max(), 256, 1, 4096));
  http->connections_max = static_cast<std::uint32_t>(connections);
  CAIRN_ASSIGN_OR_RETURN(
      http->body_bytes_max,
      Within("http.body_bytes_max", config.body_bytes_max(), 16 * kMiB, kKiB, 64 * kMiB));
  return TakeDuration("http.idle_timeout", config.has_idle_timeout(), config.idle_timeout(),
                      absl::Seconds(1), absl::Hours(24), &http->idle_timeout);
}

absl::Status SetEngine(const config::v1::Engine& config, WorkerOptions* out) {
  CAIRN_ASSIGN_OR_RETURN(out->pool_bytes, Within("engine.pool_bytes", config.pool_bytes(), kGiB,
                                                 kMiB, limits::kPoolBytesMax));
  const std::uint32_t block_tokens = config.block_tokens() == 0 ? 16 : config.block_tokens();
  if (block_tokens != 16 && block_tokens != 32 && block_tokens != 64) {
    return Bad("engine.block_tokens", absl::StrCat(block_tokens, " is not 16, 32 or 64"));
  }
  out->device.block_tokens = block_tokens;
  if (config.kv_dtype() == "f32") {
    out->device.kv_dtype = KvDtype::kF32;
  } else if (!config.kv_dtype().empty() && config.kv_dtype() != "bf16") {
    return Bad("engine.kv_dtype", absl::StrCat("\"", config.kv_dtype(), "\" is not bf16 or f32"));
  }
  if (!config.tier().empty()) out->device.tier = config.tier();
  if (IsCudaTier(out->device.tier)) {
    if (out->device.kv_dtype != KvDtype::kBf16) {
      return Bad("engine.kv_dtype", absl::StrCat("tier ", out->device.tier, " has bf16 only"));
    }
  } else if (absl::Status known = HostDevice::CheckTier(out->device.tier); !known.ok()) {
    return Bad("engine.tier", absl::StrCat(known.message(), "; or of a Hopper GPU ", kCudaTier,
                                           ", ", kCudaWgmmaProductsTier, ", ", kCudaWgmmaTier));
  }
  const std::uint64_t processors = std::max(1u, std::thread::hardware_concurrency());
  CAIRN_ASSIGN_OR_RETURN(const std::uint64_t threads,
                         Within("engine.threads", config.threads(), processors, 1, 256));
  out->device.threads = static_cast<std::uint32_t>(threads);
  CAIRN_ASSIGN_OR_RETURN(
      const std::uint64_t rows,
      Within("engine.step_rows_max", config.step_rows_max(), 256, 1, limits::kStepRowsMax));
  out->engine.step_rows_max = static_cast<std::uint32_t>(rows);
  CAIRN_ASSIGN_OR_RETURN(
      const std::uint64_t running,
      Within("engine.running_max", config.running_max(), 64, 1, limits::kRequestsRunningMax));
  out->engine.running_max = static_cast<std::uint32_t>(running);
  CAIRN_ASSIGN_OR_RETURN(
      const std::uint64_t requests,
      Within("engine.requests_max", config.requests_max(), 256, 1, limits::kRequestsWaitingMax));
  out->engine.requests_max = static_cast<std::uint32_t>(requests);
  return absl::OkStatus();
}

absl::Status SetCache(const config::v1::Cache& config, WorkerOptions* out) {
  out->has_cache = !config.node_run_dir().empty();
  out->node_run_dir = config.node_run_dir();
  out->node_grpc = config.node_grpc();
  out->name_space = config.namespace_();
  out->salt = config.salt();
  out->numerics_any = config.numerics_any();
  constexpr absl::Duration kLongest = absl::Microseconds(limits::kDeadlineMicrosMax);
  ClientBlockCache::Options& cache = out->cache;
  cache.acquire_timeout = absl::Milliseconds(50);
  cache.offer_timeout = absl::Seconds(10);
  cache.remap_grace = absl::Seconds(5);
  CAIRN_RETURN_IF_ERROR(TakeDuration("cache.acquire_timeout", config.has_acquire_timeout(),
                                     config.acquire_timeout(), absl::Milliseconds(1), kLongest,
                                     &cache.acquire_timeout));
  CAIRN_RETURN_IF_ERROR(TakeDuration("cache.offer_timeout", config.has_offer_timeout(),
                                     config.offer_timeout(), absl::Milliseconds(1), kLongest,
                                     &cache.offer_timeout));
  CAIRN_RETURN_IF_ERROR(TakeDuration("cache.remap_grace", config.has_remap_grace(),
                                     config.remap_grace(), absl::ZeroDuration(), absl::Hours(1),
                                     &cache.remap_grace));
  if (!out->has_cache) return absl::OkStatus();
  if (!config.node_grpc().empty()) {
    CAIRN_RETURN_IF_ERROR(CheckAddress("cache.node_grpc", config.node_grpc()));
  }
  if ((out->name_space.empty() || out->salt.empty()) && !config.single_tenant()) {
    return Bad("cache.namespace", "namespace and salt may be empty only with single_tenant: true");
  }
  absl::StatusOr<RpcSecurity> security = LoadRpcSecurity(config.security());
  if (!security.ok()) {
    return absl::Status(security.status().code(),
                        absl::StrCat("field cache.", security.status().message()));
  }
  out->security = *std::move(security);
  if (config.security().has_tls() && config.node_grpc().empty()) {
    return Bad("cache.node_grpc", "is needed with tls: session tokens come from there");
  }
  return absl::OkStatus();
}

absl::Status SetPlacement(const config::v1::WorkerPlacement& config, WorkerOptions* out) {
  constexpr std::uint64_t kStatesMax = 1024, kGridTokensMax = 1 << 16;  // the service's own
  CAIRN_ASSIGN_OR_RETURN(const std::uint64_t states,
                         Within("placement.states_max", config.states_max(), 2, 1, kStatesMax));
  out->plans.states_max = static_cast<std::uint32_t>(states);
  CAIRN_ASSIGN_OR_RETURN(
      const std::uint64_t grid,
      Within("placement.grid_tokens", config.grid_tokens(), 64, 1, kGridTokensMax));
  out->plans.grid_tokens = static_cast<std::uint32_t>(grid);
  CAIRN_RETURN_IF_ERROR(TakeDuration("placement.timeout", config.has_timeout(), config.timeout(),
                                     absl::Milliseconds(1), absl::Minutes(10),
                                     &out->plans.timeout));
  out->placement_grpc = config.grpc();
  if (config.grpc().empty()) {
    return config.ByteSizeLong() == 0
               ? absl::OkStatus()
               : Bad("placement.grpc", "is required, where the section says anything else");
  }
  absl::StatusOr<RpcSecurity> security = LoadRpcSecurity(config.security());
  if (!security.ok()) {
    return absl::Status(security.status().code(),
                        absl::StrCat("field placement.", security.status().message()));
  }
  out->placement_security = *std::move(security);
  const absl::Status address =
      CheckServerAddress(config.grpc(), out->placement_security.is_dev_mode);
  return address.ok() ? address : Bad("placement.grpc", address.message());
}

}  // namespace

absl::StatusOr<WorkerOptions> ToWorkerOptions(const config::v1::Worker& config) {
  WorkerOptions out;
  if (config.model().file().empty()) return Bad("model.file", "is required");
  out.model_file = config.model().file();
  out.model_name = config.model().name();
  CAIRN_RETURN_IF_ERROR(SetHttp(config.http(), &out.http));
  CAIRN_RETURN_IF_ERROR(SetEngine(config.engine(), &out));
  CAIRN_RETURN_IF_ERROR(SetCache(config.cache(), &out));
  CAIRN_RETURN_IF_ERROR(SetPlacement(config.placement(), &out));
  CAIRN_RETURN_IF_ERROR(TakeDuration("drain_timeout", config.has_drain_timeout(),
                                     config.drain_timeout(), absl::ZeroDuration(), absl::Hours(1),
                                     &out.drain_timeout));
  return out;
}

}  // namespace cairn
