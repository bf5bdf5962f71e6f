#ifndef CAIRN_TESTS_SUPPORT_FORWARDING_TRANSPORT_H_
#define CAIRN_TESTS_SUPPORT_FORWARDING_TRANSPORT_H_

#include <memory>
#include <string>
#include <utility>

#include "libs/ports/transport.h"

namespace cairn {

// A transport that hands every call on. Tests derive from it and override what shall go wrong.
class ForwardingTransport : public Transport {
 public:
  explicit ForwardingTransport(std::unique_ptr<Transport> under) : under_(std::move(under)) {}

  std::string profile() const override { return under_->profile(); }
  std::string Address() const override { return under_->Address(); }
  absl::StatusOr<EndpointId> Connect(absl::string_view peer) override {
    return under_->Connect(peer);
  }
  absl::StatusOr<EndpointId> Dial(absl::string_view address) override {
    return under_->Dial(address);
  }
  absl::StatusOr<std::string> Listen(absl::string_view address) override {
    return under_->Listen(address);
  }
  absl::Status Send(EndpointId to, MessageType type, std::string body) override {
    return under_->Send(to, type, std::move(body));
  }
  absl::Status SendBulk(EndpointId to, MessageType type, std::string header,
                        absl::Span<const std::byte> bytes,
                        absl::AnyInvocable<void(absl::Status)> done) override {
    return under_->SendBulk(to, type, std::move(header), bytes, std::move(done));
  }
  void Close(EndpointId endpoint) override { under_->Close(endpoint); }

 private:
  const std::unique_ptr<Transport> under_;
};

}  // namespace cairn
#endif  // CAIRN_TESTS_SUPPORT_FORWARDING_TRANSPORT_H_
