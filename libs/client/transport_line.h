#ifndef CAIRN_LIBS_CLIENT_TRANSPORT_LINE_H_
#define CAIRN_LIBS_CLIENT_TRANSPORT_LINE_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "libs/client/client_options.h"
#include "libs/client/gate.h"
#include "libs/ports/transport.h"

namespace cairn {

class TransportLine;

// What a TransportReceiver is told, and by which line: endpoints are unique within one only.
class LineEvents {
 public:
  virtual ~LineEvents() = default;
  virtual void OnLineMessage(TransportLine& line, EndpointId from, MessageType type,
                             absl::Span<const std::byte> body) = 0;
  virtual std::optional<Landing> OnLineBulk(TransportLine& line, EndpointId from, MessageType type,
                                            absl::Span<const std::byte> header,
                                            std::uint64_t bytes) = 0;
  virtual void OnLineLanded(LandingId landing, const absl::Status& status) = 0;
  virtual void OnLineClosed(TransportLine& line, EndpointId endpoint, const absl::Status& why) = 0;
};

// TransportLine owns one profile's transport and holds the gate open while an endpoint of it is.
// Threads: the client's loop.
class TransportLine final : public TransportReceiver {
 public:
  TransportLine(LineEvents& events, Gate& gate) : events_(events), gate_(gate) {}
  TransportLine(const TransportLine&) = delete;
  TransportLine& operator=(const TransportLine&) = delete;

  absl::Status Open(TransportFactory& factory, TransportProfile profile);
  std::string Address() const { return transport_->Address(); }
  absl::StatusOr<EndpointId> Connect(absl::string_view peer_address);
  absl::StatusOr<EndpointId> Dial(absl::string_view socket_address);
  Transport& transport() { return *transport_; }

  // TransportReceiver
  void OnAccepted(EndpointId endpoint) override;
  void OnMessage(EndpointId from, MessageType type, absl::Span<const std::byte> body) override;
  std::optional<Landing> OnBulk(EndpointId from, MessageType type,
                                absl::Span<const std::byte> header, std::uint64_t bytes) override;
  void OnBulkLanded(EndpointId from, LandingId landing, const absl::Status& status) override;
  void OnClosed(EndpointId endpoint, const absl::Status& why) override;

 private:
  absl::StatusOr<EndpointId> Count(absl::StatusOr<EndpointId> endpoint);

  LineEvents& events_;
  Gate& gate_;
  absl::flat_hash_map<EndpointId, Gate::Pass> open_;  // never iterated
  std::unique_ptr<Transport> transport_;              // after open_: it ends endpoints as it dies
};

}  // namespace cairn
#endif  // CAIRN_LIBS_CLIENT_TRANSPORT_LINE_H_
