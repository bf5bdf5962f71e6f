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
#include "tests/support/forwarding_transport.h"

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
class FlakyTransport final : public ForwardingTransport {
 public:
  FlakyTransport(std::unique_ptr<Transport> inner, std::uint64_t seed, std::uint32_t refusals)
      : ForwardingTransport(std::move(inner)), rng_(seed), refusals_(refusals) {}
  absl::Status Send(EndpointId to, MessageType type, std::string body) override {
    if (rng_.Chance(refusals_, 1000)) return absl::ResourceExhaustedError("queue full");
    return ForwardingTransport::Send(to, type, std::move(body));
  }
  absl::Status SendBulk(EndpointId to, MessageType type, std::string header,
                        absl::Span<const std::byte> bytes,
                        absl::AnyInvocable<void(absl::Status)> done) override {
    if (rng_.Chance(refusals_, 1000)) return absl::ResourceExhaustedError("queue full");
    return ForwardingTransport::SendBulk(to, type, std::move(header), bytes, std::move(done));
  }

 private:
  Rng rng_;
  const std::uint32_t refusals_;
};

}  // namespace cairn::sim
#endif  // CAIRN_TESTS_SIM_FLAKY_H_
