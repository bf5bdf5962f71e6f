#include "libs/transport_loopback/loopback_network.h"

#include <string>
#include <utility>

#include "libs/base/bytes.h"
#include "libs/transport_loopback/loopback_core.h"

namespace cairn {
namespace {

constexpr absl::string_view kAddressTag = "cairn-loopback-1";

class LoopbackTransport : public Transport {
 public:
  LoopbackTransport(std::shared_ptr<LoopbackCore> core, Loop& loop, TransportReceiver& receiver)
      : core_(std::move(core)), port_(core_->Open(loop, receiver)) {}
  ~LoopbackTransport() override { core_->Destroy(port_); }

  std::string profile() const override { return "loopback"; }
  std::string Address() const override {
    ByteWriter writer;
    writer.PutBytes(kAddressTag);
    writer.Put(port_);
    return std::move(writer).Take();
  }
  absl::StatusOr<EndpointId> Connect(absl::string_view peer_address) override {
    ByteReader reader(peer_address);
    const absl::string_view tag = reader.GetBytes(kAddressTag.size());
    const auto target = reader.Get<std::uint64_t>();
    if (!reader.at_end() || tag != kAddressTag) {
      return absl::InvalidArgumentError("not a loopback address");
    }
    return core_->Connect(port_, target);
  }
  absl::StatusOr<EndpointId> Dial(absl::string_view socket_address) override {
    return core_->Dial(port_, socket_address);
  }
  absl::StatusOr<std::string> Listen(absl::string_view socket_address) override {
    return core_->Listen(port_, socket_address);
  }
  absl::Status Send(EndpointId to, MessageType type, std::string body) override {
    return core_->Send(port_, to, type, std::move(body));
  }
  absl::Status SendBulk(EndpointId to, MessageType type, std::string header,
                        absl::Span<const std::byte> bytes,
                        absl::AnyInvocable<void(absl::Status)> done) override {
    return core_->SendBulk(port_, to, type, std::move(header), bytes, std::move(done));
  }
  void Close(EndpointId endpoint) override { core_->Close(port_, endpoint); }

 private:
  const std::shared_ptr<LoopbackCore> core_;
  const std::uint64_t port_;
};

}  // namespace

LoopbackNetwork::LoopbackNetwork(std::uint64_t seed, const LoopbackFaults& faults)
    : core_(std::make_shared<LoopbackCore>(seed, faults)) {}
LoopbackNetwork::~LoopbackNetwork() = default;

std::unique_ptr<Transport> LoopbackNetwork::NewTransport(Loop& loop, TransportReceiver& receiver) {
  return std::make_unique<LoopbackTransport>(core_, loop, receiver);
}
void LoopbackNetwork::SetFaults(const LoopbackFaults& faults) { core_->SetFaults(faults); }
void LoopbackNetwork::Crash(const Loop& loop) { core_->Crash(loop); }
void LoopbackNetwork::BreakEndpoints(const Loop& loop) { core_->BreakEndpoints(loop); }
void LoopbackNetwork::HoldBulk() { core_->HoldBulk(); }
void LoopbackNetwork::ReleaseBulk() { core_->ReleaseBulk(); }
std::size_t LoopbackNetwork::held_bulks() const { return core_->held_bulks(); }
std::size_t LoopbackNetwork::loans() const { return core_->loans(); }

void LoopbackCore::SetFaults(const LoopbackFaults& faults) {
  MutexLock lock(mutex_);
  faults_ = faults;
}

void LoopbackCore::Crash(const Loop& loop) {
  Waste waste;
  MutexLock lock(mutex_);
  for (auto& [id, port] : ports_) {
    if (port.loop == &loop && port.is_live) {
      Kill(id, port, absl::UnavailableError("the peer's process died"), waste);
    }
  }
}

void LoopbackCore::BreakEndpoints(const Loop& loop) {
  MutexLock lock(mutex_);
  for (auto& [id, port] : ports_) {
    if (port.loop != &loop || !port.is_live) continue;
    for (auto& [end_id, end] : port.ends) {
      BreakBoth(id, end_id, absl::UnavailableError("the connection broke"));
    }
  }
}

void LoopbackCore::HoldBulk() {
  MutexLock lock(mutex_);
  holds_bulk_ = true;
}

void LoopbackCore::ReleaseBulk() {
  MutexLock lock(mutex_);
  holds_bulk_ = false;
  for (auto& [id, bulk] : bulks_) {
    if (std::exchange(bulk.is_held, false)) BeginSlices(id, bulk);
  }
}

std::size_t LoopbackCore::held_bulks() const {
  MutexLock lock(mutex_);
  std::size_t count = 0;
  for (const auto& [id, bulk] : bulks_) count += bulk.is_held ? 1 : 0;
  return count;
}

std::size_t LoopbackCore::loans() const {
  MutexLock lock(mutex_);
  std::size_t count = 0;
  for (const auto& [id, port] : ports_) count += port.loans;
  return count;
}

}  // namespace cairn
