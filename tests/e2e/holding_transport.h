#ifndef CAIRN_TESTS_E2E_HOLDING_TRANSPORT_H_
#define CAIRN_TESTS_E2E_HOLDING_TRANSPORT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "libs/ports/loop.h"
#include "libs/ports/transport.h"
#include "libs/wire/messages.h"

namespace cairn {

// A client's transport that keeps the DATA of offered entries back, from entry `hold_from` of each
// OFFER on, until LetGo: the node has lent its slots by then, and waits.
// Threads: the loop.
class HoldingTransport final : public Transport {
 public:
  HoldingTransport(std::unique_ptr<Transport> under, Loop& loop, std::uint64_t hold_from)
      : under_(std::move(under)), loop_(loop), hold_from_(hold_from) {}

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
    const absl::StatusOr<wire::OfferData> of = wire::DecodeOfferData(header);
    if (!of.ok() || of->index < hold_from_) {
      return under_->SendBulk(to, type, std::move(header), bytes, std::move(done));
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
    under_->Close(endpoint);
  }

  std::size_t held() const { return held_.size(); }
  void LetGo() {
    for (Bulk& bulk : std::exchange(held_, {})) {
      auto done = std::make_shared<absl::AnyInvocable<void(absl::Status)>>(std::move(bulk.done));
      const absl::Status sent =
          under_->SendBulk(bulk.to, bulk.type, std::move(bulk.header), bulk.bytes,
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
  const std::unique_ptr<Transport> under_;
  Loop& loop_;
  const std::uint64_t hold_from_;
  std::vector<Bulk> held_;
};

}  // namespace cairn
#endif  // CAIRN_TESTS_E2E_HOLDING_TRANSPORT_H_
