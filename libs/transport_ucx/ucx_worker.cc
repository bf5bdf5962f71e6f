#include "libs/transport_ucx/ucx_worker.h"

#include <sys/statvfs.h>
#include <ucp/api/ucp.h>
#include <ucs/config/global_opts.h>
#include <ucs/debug/debug.h>
#include <ucs/debug/log_def.h>

#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "libs/base/log.h"
#include "libs/base/units.h"

namespace cairn {
namespace {

constexpr char kShmFolder[] = "/dev/shm";
constexpr std::uint64_t kWorkerShmBytes = 5 * kMiB;  // 4.3 MB measured

// UCX's own lines go to stdout; ours go through one logger. Limited: a peer can provoke them.
ucs_log_func_rc_t LogUcxLine(const char* file, unsigned line, const char* function,
                             ucs_log_level_t level, const ucs_log_component_config_t* component,
                             const char* message, va_list arguments) {
  if (level > UCS_LOG_LEVEL_WARN) return UCS_LOG_FUNC_RC_CONTINUE;
  static LogLimiter limiter(absl::Seconds(1));
  std::uint64_t held_back = 0;
  if (level != UCS_LOG_LEVEL_FATAL && !limiter.Admit(&held_back)) return UCS_LOG_FUNC_RC_STOP;
  char text[512];
  std::vsnprintf(text, sizeof text, message, arguments);
  LogEvent(level == UCS_LOG_LEVEL_WARN ? LogLevel::kWarning : LogLevel::kError, "ucx_reported")
      .With("text", text)
      .With("source", absl::StrCat(file, ":", line))
      .With("held_back", held_back);
  return UCS_LOG_FUNC_RC_STOP;
}

std::string NeedOfShm() {
  return absl::StrCat("a UCX worker needs ", kWorkerShmBytes / kMiB, " MB in ", kShmFolder);
}

absl::Status CheckShm() {
  struct statvfs space {};
  if (::statvfs(kShmFolder, &space) != 0) return absl::OkStatus();  // UCX will tell
  const std::uint64_t free_bytes = static_cast<std::uint64_t>(space.f_bavail) * space.f_frsize;
  if (free_bytes >= kWorkerShmBytes) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat(NeedOfShm(), "; free are ", free_bytes / kMiB, " MB"));
}

absl::StatusOr<UcxContext> MakeContext(const UcxOptions& options) {
  ucp_config_t* config = nullptr;
  ucs_status_t status = ucp_config_read(nullptr, nullptr, &config);
  if (status != UCS_OK) return UcxStatus(status, "ucp_config_read");
  const bool is_shm = options.profile == UcxProfile::kSameHost;
  const std::string device = options.profile == UcxProfile::kPeers ? options.device : "lo";
  ucp_config_modify(config, "TLS", is_shm ? "posix,self" : "tcp,self");
  if (!is_shm) ucp_config_modify(config, "NET_DEVICES", device.c_str());
  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES;
  params.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;  // never RMA: see SECURITY.md
  ucp_context_h context = nullptr;
  status = ucp_init(&params, config, &context);
  ucp_config_release(config);
  if (status != UCS_OK) {
    return UcxStatus(status, absl::StrCat("ucp_init on device ", is_shm ? "posix" : device));
  }
  return UcxContext(context);
}

}  // namespace

void SetUcxDefaults() {
  const std::pair<const char*, const char*> settings[] = {
      // Peer failure handling on shared memory, which UCX would drop otherwise.
      {"UCX_POSIX_ERROR_HANDLING", "y"},
      {"UCX_SYSV_ERROR_HANDLING", "y"},
      // How a dead shared-memory peer is found, when no unix socket told of it. Each round wakes
      // both
      // sides: at 1 s an idle pair uses 8 ms of CPU a minute each, at 5 s under 2.
      {"UCX_KEEPALIVE_INTERVAL", "5s"},
      {"UCX_TCP_CM_REUSEADDR", "y"},    // or a restarted process cannot bind
      {"UCX_TCP_TX_SEG_SIZE", "256K"},  // pull at 1 MiB: 2.9 -> 3.5 GB/s
      {"UCX_TCP_RX_SEG_SIZE", "256K"},
      {"UCX_WARN_UNUSED_ENV_VARS", "n"},
  };
  for (const auto& [name, value] : settings) ::setenv(name, value, /*overwrite=*/0);
  // UCX's library has read its global settings when it was loaded: these are set by call.
  ucs_global_opts_set_value("WARN_UNUSED_ENV_VARS", "n");
  for (const int signal : {SIGILL, SIGSEGV, SIGBUS, SIGFPE}) ucs_debug_disable_signal(signal);
  static bool has_handler = false;
  if (!std::exchange(has_handler, true)) ucs_log_push_handler(LogUcxLine);
}

absl::Status UcxStatus(int status, absl::string_view what) {
  const auto ucs = static_cast<ucs_status_t>(status);
  const std::string text = absl::StrCat(what, ": ", ucs_status_string(ucs));
  switch (ucs) {
    case UCS_OK:
      return absl::OkStatus();
    case UCS_ERR_NO_MEMORY:
    case UCS_ERR_NO_RESOURCE:
    case UCS_ERR_EXCEEDS_LIMIT:
      return absl::ResourceExhaustedError(text);
    case UCS_ERR_INVALID_PARAM:
    case UCS_ERR_INVALID_ADDR:
      return absl::InvalidArgumentError(text);
    case UCS_ERR_CANCELED:
      return absl::AbortedError(text);
    default:
      return absl::UnavailableError(text);
  }
}

void UcxContextDeleter::operator()(ucp_context* context) const { ucp_cleanup(context); }
void UcxWorkerDeleter::operator()(ucp_worker* worker) const { ucp_worker_destroy(worker); }
void UcxListenerDeleter::operator()(ucp_listener* listener) const {
  ucp_listener_destroy(listener);
}

absl::StatusOr<UcxRuntime> MakeUcxRuntime(const UcxOptions& options) {
  if (options.profile == UcxProfile::kSameHost) {
    if (absl::Status space = CheckShm(); !space.ok()) return space;
  }
  UcxRuntime runtime;
  absl::StatusOr<UcxContext> context = MakeContext(options);
  if (!context.ok()) return context.status();
  runtime.context = *std::move(context);
  ucp_worker_params_t params{};
  params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  params.thread_mode = UCS_THREAD_MODE_SINGLE;
  ucp_worker_h worker = nullptr;
  ucs_status_t status = ucp_worker_create(runtime.context.get(), &params, &worker);
  if (status != UCS_OK) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "cannot create a UCX worker: ", ucs_status_string(status), " (", NeedOfShm(), ")"));
  }
  runtime.worker = UcxWorker(worker);
  status = ucp_worker_get_efd(worker, &runtime.event_fd);
  if (status != UCS_OK) return UcxStatus(status, "ucp_worker_get_efd");
  ucp_address_t* address = nullptr;
  std::size_t address_bytes = 0;
  status = ucp_worker_get_address(worker, &address, &address_bytes);
  if (status != UCS_OK) return UcxStatus(status, "ucp_worker_get_address");
  runtime.worker_address.assign(reinterpret_cast<const char*>(address), address_bytes);
  ucp_worker_release_address(worker, address);
  return runtime;
}

}  // namespace cairn
