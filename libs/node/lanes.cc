#include "libs/node/lanes.h"

#include "libs/base/check.h"
#include "libs/base/status_macros.h"

namespace cairn {

// One transport, and the name that its calls carry upwards.
class Lanes::Lane final : public TransportReceiver {
 public:
  Lane(LaneKind kind, PeerReceiver& receiver) : kind_(kind), receiver_(receiver) {}

  void OnAccepted(EndpointId endpoint) override { receiver_.OnAccepted({kind_, endpoint}); }
  void OnMessage(EndpointId from, MessageType type, absl::Span<const std::byte> body) override {
    receiver_.OnMessage({kind_, from}, type, body);
  }
  std::optional<Landing> OnBulk(EndpointId from, MessageType type,
                                absl::Span<const std::byte> header, std::uint64_t bytes) override {
    return receiver_.OnBulk({kind_, from}, type, header, bytes);
  }
  void OnBulkLanded(EndpointId from, LandingId landing, const absl::Status& status) override {
    receiver_.OnBulkLanded({kind_, from}, landing, status);
  }
  void OnClosed(EndpointId endpoint, const absl::Status& why) override {
    receiver_.OnClosed({kind_, endpoint}, why);
  }

  std::unique_ptr<Transport> transport;

 private:
  const LaneKind kind_;
  PeerReceiver& receiver_;
};

Lanes::Lanes(TransportMaker make, PeerReceiver& receiver)
    : make_(std::move(make)), receiver_(receiver) {}
Lanes::~Lanes() = default;

absl::StatusOr<Transport*> Lanes::Open(LaneKind kind) {
  std::unique_ptr<Lane>& lane = lanes_[static_cast<std::size_t>(kind)];
  if (lane == nullptr) {
    auto made = std::make_unique<Lane>(kind, receiver_);
    CAIRN_ASSIGN_OR_RETURN(made->transport, make_(kind, *made));
    lane = std::move(made);
  }
  return lane->transport.get();
}

std::string Lanes::ProfileOf(LaneKind kind) const {
  const std::unique_ptr<Lane>& lane = lanes_[static_cast<std::size_t>(kind)];
  return lane == nullptr ? std::string() : lane->transport->profile();
}

absl::Status Lanes::Send(Peer to, wire::Type type, std::string body) {
  CAIRN_ASSIGN_OR_RETURN(Transport* const transport, Open(to.lane));
  return transport->Send(to.endpoint, MessageType(static_cast<std::uint8_t>(type)),
                         std::move(body));
}

absl::Status Lanes::SendBulk(Peer to, wire::Type type, std::string header,
                             absl::Span<const std::byte> bytes,
                             absl::AnyInvocable<void(absl::Status)> done) {
  CAIRN_ASSIGN_OR_RETURN(Transport* const transport, Open(to.lane));
  return transport->SendBulk(to.endpoint, MessageType(static_cast<std::uint8_t>(type)),
                             std::move(header), bytes, std::move(done));
}

void Lanes::Close(Peer peer) {
  if (const absl::StatusOr<Transport*> transport = Open(peer.lane); transport.ok()) {
    (*transport)->Close(peer.endpoint);
  }
}

}  // namespace cairn
