#ifndef CAIRN_TESTS_E2E_HOLDING_TRANSPORT_H_
#define CAIRN_TESTS_E2E_HOLDING_TRANSPORT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "libs/ports/loop.h"
#include "libs/wire/messages.h"
#include "tests/support/forwarding_transport.h"

namespace cairn {

// A client's transport that keeps the DATA of offered entries back, from entry `hold_from` of each
// OFFER on, until LetGo: the node has lent its slots by then, and waits.
// Threads: the loop.
class HoldingTransport final : public ForwardingTransport {
 public:
  HoldingTransport(std::unique_ptr<Transport> under, Loop& loop, std::uint64_t hold_from)
      : ForwardingTransport(std::move(under)), loop_(loop), hold_from_(hold_from) {}

  absl::Status SendBulk(EndpointId to, MessageType type, std::string header,
                        absl::Span<const std::byte> bytes,
                        absl::AnyInvocable<void(absl::Status)> done) override {
    const absl::StatusOr<wire::OfferData> of = wire::DecodeOfferData(header);
    if (!of.ok() || of->index < hold_from_) {
      return ForwardingTransport::SendBulk(to, type, std::move(header), bytes, std::move(done));
    }
    held_.push_back({to, type, std::move(header), bytes, std::move(done)});
    return absl::OkStatus();
  }
  // What is held back for `endpoint` comes to nothing.
  void Close(EndpointId endpoint) override {
    std::vector<Bulk> others;
    for (Bulk& bulk : held_) {
      if (bulk.to != endpoint) {
        others.push_back(std::move(bulk));
        continue;
      }
      loop_.Post([done = std::move(bulk.done)]() mutable { done(absl::CancelledError("closed")); });
    }
    held_ = std::move(others);
    ForwardingTransport::Close(endpoint);
  }

  std::size_t held() const { return held_.size(); }
  void LetGo() {
    for (Bulk& bulk : std::exchange(held_, {})) {
      auto done = std::make_shared<absl::AnyInvocable<void(absl::Status)>>(std::move(bulk.done));
      const absl::Status sent = ForwardingTransport::SendBulk(
          bulk.to, bulk.type, std::move(bulk.header), bulk.bytes,
          [done](absl::Status status) { (*done)(std::move(status)); });
      if (!sent.ok()) loop_.Post([done, sent] { (*done)(sent); });
    }
  }

 private:
  struct Bulk {
    EndpointId to;
    MessageType type;
    std::string header;
    absl::Span<const std::byte> bytes;
    absl::AnyInvocable<void(absl::Status)> done;
  };
  Loop& loop_;
  const std::uint64_t hold_from_;
  std::vector<Bulk> held_;
};

}  // namespace cairn
#endif  // CAIRN_TESTS_E2E_HOLDING_TRANSPORT_H_
