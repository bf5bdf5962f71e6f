#ifndef CAIRN_LIBS_TRANSPORT_UCX_UCX_WORKER_H_
#define CAIRN_LIBS_TRANSPORT_UCX_UCX_WORKER_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "libs/transport_ucx/ucx_transport.h"

struct ucp_context;
struct ucp_worker;
struct ucp_listener;

namespace cairn {

// UCX handles with one owner each. Private to this library, as all of UCX is.
struct UcxContextDeleter {
  void operator()(ucp_context* context) const;
};
struct UcxWorkerDeleter {
  void operator()(ucp_worker* worker) const;
};
struct UcxListenerDeleter {
  void operator()(ucp_listener* listener) const;
};
using UcxContext = std::unique_ptr<ucp_context, UcxContextDeleter>;
using UcxWorker = std::unique_ptr<ucp_worker, UcxWorkerDeleter>;
using UcxListener = std::unique_ptr<ucp_listener, UcxListenerDeleter>;

// A context and its worker; the worker goes first.
struct UcxRuntime {
  UcxContext context;
  UcxWorker worker;
  int event_fd = -1;  // the worker's own
  std::string worker_address;
};
absl::StatusOr<UcxRuntime> MakeUcxRuntime(const UcxOptions& options);

// UNAVAILABLE for a lost peer, RESOURCE_EXHAUSTED for lack of memory or descriptors, and so on.
// `status` is a ucs_status_t.
absl::Status UcxStatus(int status, absl::string_view what);

}  // namespace cairn
#endif  // CAIRN_LIBS_TRANSPORT_UCX_UCX_WORKER_H_
