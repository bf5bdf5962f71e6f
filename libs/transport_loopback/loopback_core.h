#ifndef CAIRN_LIBS_TRANSPORT_LOOPBACK_LOOPBACK_CORE_H_
#define CAIRN_LIBS_TRANSPORT_LOOPBACK_LOOPBACK_CORE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "libs/base/instant.h"
#include "libs/base/mutex.h"
#include "libs/base/rng.h"
#include "libs/ports/loop.h"
#include "libs/ports/transport.h"
#include "libs/transport_loopback/loopback_network.h"

namespace cairn {

// LoopbackCore is the network's state: ports (one per transport), their ends (one per endpoint),
// what is on the way to each port, and the bulks in flight. Private to this library.
//
// Threads: any; `mutex_` guards everything, and is never held while a receiver runs or a callback
// is
//          destroyed.
class LoopbackCore : public std::enable_shared_from_this<LoopbackCore> {
 public:
  LoopbackCore(std::uint64_t seed, const LoopbackFaults& faults) : rng_(seed), faults_(faults) {}

  // ---- for LoopbackTransport; `port` names it ----
  std::uint64_t Open(Loop& loop, TransportReceiver& receiver);
  void Destroy(std::uint64_t port);
  absl::StatusOr<EndpointId> Connect(std::uint64_t port, std::uint64_t target);
  absl::StatusOr<EndpointId> Dial(std::uint64_t port, absl::string_view socket_address);
  absl::StatusOr<std::string> Listen(std::uint64_t port, absl::string_view socket_address);
  absl::Status Send(std::uint64_t port, EndpointId to, MessageType type, std::string body);
  absl::Status SendBulk(std::uint64_t port, EndpointId to, MessageType type, std::string header,
                        absl::Span<const std::byte> bytes,
                        absl::AnyInvocable<void(absl::Status)> done);
  void Close(std::uint64_t port, EndpointId endpoint);

  // ---- for LoopbackNetwork ----
  void SetFaults(const LoopbackFaults& faults);
  void Crash(const Loop& loop);
  void BreakEndpoints(const Loop& loop);
  void HoldBulk();
  void ReleaseBulk();
  std::size_t held_bulks() const;
  std::size_t loans() const;

 private:
  enum class Kind { kAccepted, kMessage, kBulk, kSlice, kLandingEnded, kSendEnded, kClosed };

  // Something on its way to a port.
  struct Item {
    Kind kind = Kind::kMessage;
    EndpointId end;
    MessageType type;
    std::string body;                             // a message's body, a bulk's header
    std::uint64_t bulk = 0;                       // kBulk, kSlice
    LandingId landing;                            // kLandingEnded
    absl::Status status;                          // kLandingEnded, kSendEnded, kClosed
    absl::AnyInvocable<void(absl::Status)> done;  // kSendEnded
  };
  // What a step under the lock leaves to do without it.
  using Calls = std::vector<absl::AnyInvocable<void(TransportReceiver&)>>;

  struct End {
    std::uint64_t peer_port = 0;   // 0: nobody was there
    EndpointId peer_end;           // 0: not joined yet
    Instant last_due;              // keeps what is on its way to this end in order
    std::size_t queued_bytes = 0;  // on their way to this end
    std::size_t bulks = 0;         // that this end sends or receives
    std::deque<Item> outbox;       // sent before the ends were joined
    std::size_t outbox_bytes = 0;
    bool is_closing = false;
    bool is_told = false;      // a kClosed is on its way to this end
    bool is_announced = true;  // false until OnAccepted, for an end that was dialled
  };
  struct Port {
    Loop* loop = nullptr;
    TransportReceiver* receiver = nullptr;
    bool is_live = true;
    std::map<EndpointId, End> ends;
    std::uint64_t ends_made = 0;
    absl::btree_map<std::pair<Instant, std::uint64_t>, Item> queue;
    bool is_waking = false;               // a task that looks at the queue is posted
    Instant armed = Instant::Infinite();  // the timer's instant
    std::string listening;
    std::size_t loans = 0;
  };
  struct Bulk {
    std::uint64_t from_port = 0;
    EndpointId from_end;
    std::uint64_t to_port = 0;
    EndpointId to_end;
    absl::Span<const std::byte> source;
    absl::AnyInvocable<void(absl::Status)> done;
    bool is_landing = false;
    Landing landing;
    std::uint64_t moved = 0;
    std::uint64_t fail_at = UINT64_MAX;
    bool is_held = false;
  };

  Port* Live(std::uint64_t port) CAIRN_REQUIRES(mutex_);
  End* Find(std::uint64_t port, EndpointId end) CAIRN_REQUIRES(mutex_);
  absl::Duration Delay(absl::Duration low, absl::Duration high) CAIRN_REQUIRES(mutex_);
  absl::Duration Delay() CAIRN_REQUIRES(mutex_) {
    return Delay(faults_.delay_min, faults_.delay_max);
  }

  // Puts `item` on its way to `port`. In order with what goes to its end, if `ordered`.
  void Enqueue(std::uint64_t port, Item item, absl::Duration delay, bool ordered)
      CAIRN_REQUIRES(mutex_);
  void Wake(std::uint64_t port_id, Port& port) CAIRN_REQUIRES(mutex_);
  // On the port's loop: runs one item that is due and sees to the next.
  void Run(std::uint64_t port_id);
  void RunItem(std::uint64_t port_id, Port& port, Item& item, Calls& calls) CAIRN_REQUIRES(mutex_);

  absl::StatusOr<EndpointId> NewEnd(Port& port, std::uint64_t peer_port) CAIRN_REQUIRES(mutex_);
  // Joins two ends and sends on what either has sent already.
  void Join(std::uint64_t port_a, EndpointId a, std::uint64_t port_b, EndpointId b)
      CAIRN_REQUIRES(mutex_);
  absl::Status SendItem(std::uint64_t port, EndpointId to, Item item) CAIRN_REQUIRES(mutex_);
  void Forward(End& from, Item item) CAIRN_REQUIRES(mutex_);
  // Tells one end, once, that its connection is gone.
  void TellClosed(std::uint64_t port, EndpointId end, const absl::Status& why, absl::Duration delay,
                  bool ordered) CAIRN_REQUIRES(mutex_);
  void BreakBoth(std::uint64_t port, EndpointId end, const absl::Status& why)
      CAIRN_REQUIRES(mutex_);
  // The end of an end: ends its loans here and now, the other side's soon, and then it is gone.
  void FinishClose(std::uint64_t port_id, Port& port, EndpointId end, absl::Status why,
                   Calls& calls) CAIRN_REQUIRES(mutex_);
  // The end of a process or a transport. What must not be destroyed under the lock goes to `waste`.
  struct Waste {
    std::vector<Item> items;
    std::vector<Bulk> bulks;
  };
  void Kill(std::uint64_t port_id, Port& port, const absl::Status& why, Waste& waste)
      CAIRN_REQUIRES(mutex_);

  // ---- bulks (loopback_bulk.cc) ----
  // Asks the receiver where an announced bulk lands. Drops and takes the lock.
  void Announce(std::uint64_t port_id, Item item);
  void RunSlice(std::uint64_t port_id, std::uint64_t bulk_id, Calls& calls) CAIRN_REQUIRES(mutex_);
  void BeginSlices(std::uint64_t bulk_id, Bulk& bulk) CAIRN_REQUIRES(mutex_);
  // Ends both loans of a bulk; each side hears of it on its loop, after a delay.
  void EndBulk(std::uint64_t bulk_id, const absl::Status& status) CAIRN_REQUIRES(mutex_);
  void DropBulkCounts(const Bulk& bulk) CAIRN_REQUIRES(mutex_);

  mutable Mutex mutex_;
  Rng rng_ CAIRN_GUARDED_BY(mutex_);
  LoopbackFaults faults_ CAIRN_GUARDED_BY(mutex_);
  std::map<std::uint64_t, Port> ports_ CAIRN_GUARDED_BY(mutex_);
  std::uint64_t ports_made_ CAIRN_GUARDED_BY(mutex_) = 0;
  std::uint64_t items_made_ CAIRN_GUARDED_BY(mutex_) = 0;
  std::map<std::uint64_t, Bulk> bulks_ CAIRN_GUARDED_BY(mutex_);
  std::uint64_t bulks_made_ CAIRN_GUARDED_BY(mutex_) = 0;
  absl::flat_hash_map<std::string, std::uint64_t> listeners_ CAIRN_GUARDED_BY(mutex_);
  std::uint32_t socket_ports_made_ CAIRN_GUARDED_BY(mutex_) = 0;
  bool holds_bulk_ CAIRN_GUARDED_BY(mutex_) = false;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_TRANSPORT_LOOPBACK_LOOPBACK_CORE_H_
