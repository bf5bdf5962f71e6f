#ifndef CAIRN_LIBS_TRANSPORT_UCX_UCX_TRANSPORT_H_
#define CAIRN_LIBS_TRANSPORT_UCX_UCX_TRANSPORT_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "libs/ports/loop.h"
#include "libs/ports/transport.h"

namespace cairn {

// Puts the UCX settings that this library needs into the environment, unless the operator has set
// them. Call it first thing in main, before any thread: UCX reads them when its library is loaded
// and at each context.
void SetUcxDefaults();

// Which of UCX's ways an instance uses. One profile per instance; a process makes what it needs.
enum class UcxProfile {
  kSameHost,           // posix shared memory: no socket, no port; both sides have one uid
  kSameHostOtherUser,  // tcp over lo: shared memory cannot connect between uids
  kPeers,              // tcp over `device`, with Listen and Dial
};

struct UcxOptions {
  UcxProfile profile = UcxProfile::kSameHost;
  std::string device = "lo";  // kPeers: the network device, as in `ip link`
  // Polls this long for more after the last event before it sleeps on the descriptor.
  absl::Duration spin = absl::Microseconds(50);
  // What a BYE may take, which queues behind bulk: at Close, there and back; at the end, there.
  absl::Duration close_max = absl::Seconds(1);
  absl::Duration end_max = absl::Seconds(2);
};

// What happened to an instance; plain counters, read on its loop.
struct UcxStats {
  std::uint64_t messages_sent = 0;
  std::uint64_t messages_received = 0;
  std::uint64_t bulks_sent = 0;
  std::uint64_t bulks_received = 0;
  std::uint64_t bulk_bytes_sent = 0;
  std::uint64_t bulk_bytes_received = 0;
  std::uint64_t bulks_refused = 0;
  std::uint64_t strangers_dropped = 0;  // messages that no endpoint of ours was told to expect
  std::uint64_t malformed_dropped = 0;  // wrong headers, over the limits, unknown ids
  std::uint64_t endpoints_failed = 0;
};

// UcxTransport moves messages and bulk by UCX active messages: eager for messages, rendezvous for
// bulk. One UCX context and worker per instance (4.3 MB of /dev/shm), woken by a descriptor.
//
// Identity: an endpoint is known to its peer by a random 64-bit number that only the two of them
// hear; whoever does not name one is a stranger, whose messages are dropped and counted.
// UCX itself trusts whoever connects (SECURITY.md): an instance that listens belongs behind a
// network policy; the same-host profiles open no port that strangers need to reach.
class UcxTransport : public Transport {
 public:
  // RESOURCE_EXHAUSTED if /dev/shm is too small; the message says how much is needed.
  static absl::StatusOr<std::unique_ptr<UcxTransport>> Create(Loop& loop,
                                                              TransportReceiver& receiver,
                                                              const UcxOptions& options);
  virtual UcxStats stats() const = 0;
  // Loans of sends and landings that run now.
  virtual std::size_t loans() const = 0;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_TRANSPORT_UCX_UCX_TRANSPORT_H_
