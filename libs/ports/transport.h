#ifndef CAIRN_LIBS_PORTS_TRANSPORT_H_
#define CAIRN_LIBS_PORTS_TRANSPORT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "libs/base/ids.h"

namespace cairn {

// A message's type: an active-message id. The values are in libs/wire; the transport gives them no
// meaning, and hands up types that it has never heard of.
using MessageType = StrongId<struct MessageTypeTag, std::uint8_t>;
inline constexpr std::uint8_t kMessageTypesMax = 32;

// Where announced bulk bytes shall land. `bytes` stays on loan to the transport until OnBulkLanded
// for `landing`, which always comes, at the latest when the endpoint's close completes.
using LandingId = StrongId<struct LandingIdTag, std::uint64_t>;
struct Landing {
  LandingId landing;  // chosen by the receiver, given back in OnBulkLanded
  absl::Span<std::byte> bytes;
};

// What a transport tells its owner. All calls come on the transport's loop, never from inside a
// call into the transport. Views are valid during the call only. Input is hostile until proven
// otherwise: sizes are what the peer claims.
class TransportReceiver {
 public:
  virtual ~TransportReceiver() = default;

  // A peer connected to our listener (never called for endpoints made by Connect or Dial).
  virtual void OnAccepted(EndpointId endpoint) = 0;
  // A control message. Messages of one endpoint come in the order in which they were sent.
  virtual void OnMessage(EndpointId from, MessageType type, absl::Span<const std::byte> body) = 0;
  // Bulk bytes announced by `from`. Returns where they land (exactly `bytes` long), or nullopt to
  // refuse them: they are then discarded, never buffered.
  virtual std::optional<Landing> OnBulk(EndpointId from, MessageType type,
                                        absl::Span<const std::byte> header,
                                        std::uint64_t bytes) = 0;
  // The loan of `landing` has ended. OK: all bytes are there. Else they are worthless.
  virtual void OnBulkLanded(EndpointId from, LandingId landing, const absl::Status& status) = 0;
  // The endpoint is gone, by our Close, the peer's or a failure. Its last call: all loans of sends
  // and landings have ended before.
  virtual void OnClosed(EndpointId endpoint, const absl::Status& why) = 0;
};

// Transport moves control messages and bulk bytes between processes. Bulk goes by rendezvous: the
// receiver fetches it into the landing that it chose, so no unasked byte is ever buffered.
//
// Ownership: the receiver outlives the transport. Destruction closes everything, ending all loans
//            first; no callback comes from it.
// Threads:   one loop; all calls from its thread.
// Errors:    a dead peer is OnClosed, sooner or later: no send promises delivery, so callers keep
//            their own deadline for every request.
class Transport {
 public:
  virtual ~Transport() = default;

  // "ucx/posix", "ucx/tcp", "loopback": for logs and Status.
  virtual std::string profile() const = 0;

  // What a peer needs for Connect; opaque, at most limits::kTransportAddressBytesMax.
  virtual std::string Address() const = 0;
  // Makes an endpoint to a peer whose Address() came over another channel. The peer does the same
  // with ours; either may be first, and either may send at once.
  virtual absl::StatusOr<EndpointId> Connect(absl::string_view peer_address) = 0;

  // Makes an endpoint to a listening peer at "host:port" (numeric host). UNIMPLEMENTED where the
  // profile has no sockets.
  virtual absl::StatusOr<EndpointId> Dial(absl::string_view socket_address) = 0;
  // Listens at "host:port" (port 0: any) and returns the address bound. At most one listener.
  virtual absl::StatusOr<std::string> Listen(absl::string_view socket_address) = 0;

  // Queues a message of at most limits::kMessageBytesMax. RESOURCE_EXHAUSTED if the endpoint has
  // too much queued already; NOT_FOUND if it is closed. Never blocks.
  virtual absl::Status Send(EndpointId to, MessageType type, std::string body) = 0;
  // Sends `bytes` by rendezvous, announced with `header` (at most 4 KiB). `bytes` is on loan until
  // `done`, which is called exactly once, on the loop, unless this returns an error.
  virtual absl::Status SendBulk(EndpointId to, MessageType type, std::string header,
                                absl::Span<const std::byte> bytes,
                                absl::AnyInvocable<void(absl::Status)> done) = 0;
  // Starts closing; OnClosed follows. No effect on a closed endpoint.
  virtual void Close(EndpointId endpoint) = 0;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_PORTS_TRANSPORT_H_
