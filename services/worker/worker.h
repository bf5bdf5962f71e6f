#ifndef CAIRN_SERVICES_WORKER_WORKER_H_
#define CAIRN_SERVICES_WORKER_WORKER_H_

#include <memory>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "services/worker/worker_config.h"

namespace cairn {

// Worker wires a cairn-worker: model, pool, device, engine, the client to its node, HTTP.
//
//   HTTP thread --Submit--> engine thread --(client's loop)--> node
// Start builds from the bottom up, the destructor takes down in reverse; both from main's thread.
class Worker {
 public:
  // INVALID_ARGUMENT for a model file or an option that cannot be; RESOURCE_EXHAUSTED for memory;
  // UNAVAILABLE for an address that is taken. A node that is away is no error.
  static absl::StatusOr<std::unique_ptr<Worker>> Start(const WorkerOptions& options);
  ~Worker();  // what still runs is cancelled: its clients get 503, or the end of their stream
  // Takes no more requests, which /health says; `on_done` is called once, from a thread of its own,
  // when those that it has are answered and what they computed is stored, or refused.
  void Drain(absl::AnyInvocable<void()> on_done);
  // Where HTTP listens.
  const std::string& address() const;

 private:
  struct Parts;
  explicit Worker(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace cairn
#endif  // CAIRN_SERVICES_WORKER_WORKER_H_
