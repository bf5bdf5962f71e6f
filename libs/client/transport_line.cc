#include "libs/client/transport_line.h"

#include <utility>

#include "libs/base/status_macros.h"

namespace cairn {

absl::Status TransportLine::Open(TransportFactory& factory, TransportProfile profile) {
  CAIRN_ASSIGN_OR_RETURN(transport_, factory(profile, *this));
  return absl::OkStatus();
}

absl::StatusOr<EndpointId> TransportLine::Count(absl::StatusOr<EndpointId> endpoint) {
  if (endpoint.ok()) open_.emplace(*endpoint, Gate::Pass(gate_));
  return endpoint;
}

absl::StatusOr<EndpointId> TransportLine::Connect(absl::string_view peer_address) {
  return Count(transport_->Connect(peer_address));
}

absl::StatusOr<EndpointId> TransportLine::Dial(absl::string_view socket_address) {
  return Count(transport_->Dial(socket_address));
}

// We never listen.
void TransportLine::OnAccepted(EndpointId endpoint) { transport_->Close(endpoint); }

void TransportLine::OnMessage(EndpointId from, MessageType type, absl::Span<const std::byte> body) {
  events_.OnLineMessage(*this, from, type, body);
}

std::optional<Landing> TransportLine::OnBulk(EndpointId from, MessageType type,
                                             absl::Span<const std::byte> header,
                                             std::uint64_t bytes) {
  return events_.OnLineBulk(*this, from, type, header, bytes);
}

void TransportLine::OnBulkLanded(EndpointId, LandingId landing, const absl::Status& status) {
  events_.OnLineLanded(landing, status);
}

void TransportLine::OnClosed(EndpointId endpoint, const absl::Status& why) {
  const auto pass = open_.extract(endpoint);  // dropped last: the client may end with it
  events_.OnLineClosed(*this, endpoint, why);
}

}  // namespace cairn
