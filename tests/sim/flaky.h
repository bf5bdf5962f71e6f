#ifndef CAIRN_TESTS_SIM_FLAKY_H_
#define CAIRN_TESTS_SIM_FLAKY_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "libs/base/rng.h"
#include "libs/ports/copier.h"
#include "libs/ports/transport.h"

namespace cairn::sim {

// A copier that is full now and then: `refusals` of 1000 jobs.
class FlakyCopier final : public Copier {
 public:
  FlakyCopier(Copier& inner, std::uint64_t seed, std::uint32_t refusals)
      : inner_(inner), rng_(seed), refusals_(refusals) {}
  absl::Status Copy(absl::Span<std::byte> target, absl::Span<const std::byte> source,
                    absl::AnyInvocable<void(Checksum)> done) override {
    if (rng_.Chance(refusals_, 1000)) return absl::ResourceExhaustedError("copier full");
    return inner_.Copy(target, source, std::move(done));
  }
  absl::Status Sum(absl::Span<const std::byte> bytes,
                   absl::AnyInvocable<void(Checksum)> done) override {
    if (rng_.Chance(refusals_, 1000)) return absl::ResourceExhaustedError("copier full");
    return inner_.Sum(bytes, std::move(done));
  }

 private:
  Copier& inner_;
  Rng rng_;
  const std::uint32_t refusals_;
};

// A transport whose queues are full now and then: `refusals` of 1000 sends.
class FlakyTransport final : public Transport {
 public:
  FlakyTransport(std::unique_ptr<Transport> inner, std::uint64_t seed, std::uint32_t refusals)
      : inner_(std::move(inner)), rng_(seed), refusals_(refusals) {}
  std::string profile() const override { return inner_->profile(); }
  std::string Address() const override { return inner_->Address(); }
  absl::StatusOr<EndpointId> Connect(absl::string_view peer_address) override {
    return inner_->Connect(peer_address);
  }
  absl::StatusOr<EndpointId> Dial(absl::string_view socket_address) override {
    return inner_->Dial(socket_address);
  }
  absl::StatusOr<std::string> Listen(absl::string_view socket_address) override {
    return inner_->Listen(socket_address);
  }
  absl::Status Send(EndpointId to, MessageType type, std::string body) override {
    if (rng_.Chance(refusals_, 1000)) return absl::ResourceExhaustedError("queue full");
    return inner_->Send(to, type, std::move(body));
  }
  absl::Status SendBulk(EndpointId to, MessageType type, std::string header,
                        absl::Span<const std::byte> bytes,
                        absl::AnyInvocable<void(absl::Status)> done) override {
    if (rng_.Chance(refusals_, 1000)) return absl::ResourceExhaustedError("queue full");
    return inner_->SendBulk(to, type, std::move(header), bytes, std::move(done));
  }
  void Close(EndpointId endpoint) override { inner_->Close(endpoint); }

 private:
  std::unique_ptr<Transport> inner_;
  Rng rng_;
  const std::uint32_t refusals_;
};

}  // namespace cairn::sim
#endif  // CAIRN_TESTS_SIM_FLAKY_H_
