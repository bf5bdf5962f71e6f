#ifndef CAIRN_LIBS_TRANSPORT_LOOPBACK_LOOPBACK_NETWORK_H_
#define CAIRN_LIBS_TRANSPORT_LOOPBACK_LOOPBACK_NETWORK_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/time/time.h"
#include "libs/ports/loop.h"
#include "libs/ports/transport.h"

namespace cairn {

// What goes wrong on a LoopbackNetwork, and how often. Messages of one endpoint are never lost or
// reordered as long as it lives (UCX promises the same): what fails is the endpoint or a bulk.
struct LoopbackFaults {
  absl::Duration delay_min = absl::Microseconds(1);  // of each message, slice and completion
  absl::Duration delay_max = absl::Microseconds(20);
  // Until the other side learns of a close or a death; and how long the loans of an endpoint that
  // is closed may go on, with bytes still landing.
  absl::Duration close_delay_max = absl::Microseconds(200);
  // Bulk moves in slices of 64 bytes to this, so that whatever rewrites the source races it.
  std::uint64_t slice_bytes_max = 64 * 1024;
  std::uint32_t endpoint_failures_per_million = 0;  // tried at each message and bulk sent
  std::uint32_t bulk_failures_per_million = 0;  // a bulk that fails half way; its endpoint lives
};

class LoopbackCore;

// LoopbackNetwork joins the transports of many simulated processes in one real one. A process is
// known by its loop. On loop_manual loops a seed gives one history; loops with threads work too.
//
// Threads: any; receivers are called on their loops.
// Ownership: transports may outlive it.
class LoopbackNetwork {
 public:
  explicit LoopbackNetwork(std::uint64_t seed, const LoopbackFaults& faults = {});
  ~LoopbackNetwork();
  LoopbackNetwork(const LoopbackNetwork&) = delete;
  LoopbackNetwork& operator=(const LoopbackNetwork&) = delete;

  std::unique_ptr<Transport> NewTransport(Loop& loop, TransportReceiver& receiver);
  void SetFaults(const LoopbackFaults& faults);

  // kill -9 of the process on `loop`: not one more byte is read from or written to its memory, its
  // receivers hear nothing more, peers see their endpoints close. Crash the loop as well.
  void Crash(const Loop& loop);
  // Breaks every connection of the process on `loop`; both sides see their endpoints close.
  void BreakEndpoints(const Loop& loop);

  // From now on a bulk stops before its first byte, its loans running, until ReleaseBulk.
  void HoldBulk();
  // Lets held bulks go, and later ones pass.
  void ReleaseBulk();
  std::size_t held_bulks() const;
  // Loans of sends and landings that have not ended, of transports that live.
  std::size_t loans() const;

 private:
  const std::shared_ptr<LoopbackCore> core_;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_TRANSPORT_LOOPBACK_LOOPBACK_NETWORK_H_
