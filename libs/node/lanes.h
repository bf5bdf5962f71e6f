#ifndef CAIRN_LIBS_NODE_LANES_H_
#define CAIRN_LIBS_NODE_LANES_H_

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "libs/base/ids.h"
#include "libs/ports/transport.h"
#include "libs/wire/messages.h"

namespace cairn {

// Which transport a peer is on: same host and uid, same host with another uid, another host.
enum class LaneKind : std::uint8_t { kSameUser, kOtherUser, kRemote };
inline constexpr std::size_t kLaneKinds = 3;

// An endpoint of one of the node's transports.
struct Peer {
  LaneKind lane = LaneKind::kSameUser;
  EndpointId endpoint;
  friend auto operator<=>(const Peer&, const Peer&) = default;
};

// TransportReceiver, with the lane named.
class PeerReceiver {
 public:
  virtual ~PeerReceiver() = default;
  virtual void OnAccepted(Peer peer) = 0;
  virtual void OnMessage(Peer peer, MessageType type, absl::Span<const std::byte> body) = 0;
  virtual std::optional<Landing> OnBulk(Peer peer, MessageType type,
                                        absl::Span<const std::byte> header,
                                        std::uint64_t bytes) = 0;
  virtual void OnBulkLanded(Peer peer, LandingId landing, const absl::Status& status) = 0;
  virtual void OnClosed(Peer peer, const absl::Status& why) = 0;
};

// Makes the transport of a lane; its receiver outlives it.
using TransportMaker =
    absl::AnyInvocable<absl::StatusOr<std::unique_ptr<Transport>>(LaneKind, TransportReceiver&)>;

// Lanes owns the node's transports, each made when the first peer needs it.
// Threads: the transport loop. The receiver outlives this.
class Lanes {
 public:
  Lanes(TransportMaker make, PeerReceiver& receiver);
  ~Lanes();

  // UNAVAILABLE, or what the maker says, if the lane cannot be made; the next call tries again.
  absl::StatusOr<Transport*> Open(LaneKind kind);
  // "ucx/posix"; empty while the lane is not made.
  std::string ProfileOf(LaneKind kind) const;

  absl::Status Send(Peer to, wire::Type type, std::string body);
  absl::Status SendBulk(Peer to, wire::Type type, std::string header,
                        absl::Span<const std::byte> bytes,
                        absl::AnyInvocable<void(absl::Status)> done);
  void Close(Peer peer);

 private:
  class Lane;
  TransportMaker make_;
  PeerReceiver& receiver_;
  std::array<std::unique_ptr<Lane>, kLaneKinds> lanes_;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_NODE_LANES_H_
