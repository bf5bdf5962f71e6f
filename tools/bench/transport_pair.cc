#include "tools/bench/transport_pair.h"

#include <iostream>
#include <optional>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "libs/base/bytes.h"
#include "libs/base/status_macros.h"
#include "libs/transport_ucx/ucx_transport.h"
#include "libs/wire/messages.h"
#include "tools/bench/loop_call.h"
#include "tools/bench/pipeline.h"

namespace cairn::bench {
namespace {

MessageType TypeOf(wire::Type type) { return MessageType(static_cast<std::uint8_t>(type)); }

absl::StatusOr<std::unique_ptr<Transport>> MakeTransport(Loop& loop, TransportReceiver& receiver) {
  CAIRN_ASSIGN_OR_RETURN(std::unique_ptr<UcxTransport> made,
                         UcxTransport::Create(loop, receiver, {.profile = UcxProfile::kPeers}));
  return std::unique_ptr<Transport>(std::move(made));
}

// ---- the server ----

// Its memory is addressed by what the messages have room for: a PULL's pin is the block's size and
// its index the block's number; an OFFER's entry lands where its pool_offset says.
class Server final : public TransportReceiver {
 public:
  explicit Server(absl::Span<std::byte> memory) : memory_(memory) {}
  void Use(Transport& transport) { transport_ = &transport; }

  void OnAccepted(EndpointId) override {}
  void OnClosed(EndpointId, const absl::Status&) override {}
  void OnMessage(EndpointId from, MessageType type, absl::Span<const std::byte> body) override {
    if (type == TypeOf(wire::Type::kPull)) OnPull(from, AsStringView(body));
    if (type == TypeOf(wire::Type::kOffer)) OnOffer(from, AsStringView(body));
  }
  std::optional<Landing> OnBulk(EndpointId, MessageType, absl::Span<const std::byte> header,
                                std::uint64_t bytes) override {
    const auto data = wire::DecodeOfferData(AsStringView(header));
    if (!data.ok()) return std::nullopt;
    const auto it = awaited_.find(data->request);
    if (it == awaited_.end()) return std::nullopt;
    return Landing{LandingId(data->request.value()), memory_.subspan(it->second, bytes)};
  }
  void OnBulkLanded(EndpointId from, LandingId landing, const absl::Status& status) override {
    const RequestId request(landing.value());
    awaited_.erase(request);
    const wire::StoreResult result =
        status.ok() ? wire::StoreResult::kStored : wire::StoreResult::kFailed;
    const wire::Stored stored{.request = request, .entries = {{0, result}}};
    transport_->Send(from, TypeOf(wire::Type::kStored), wire::Encode(stored)).IgnoreError();
  }

 private:
  void OnPull(EndpointId from, absl::string_view body) {
    const auto pull = wire::DecodePull(body);
    if (!pull.ok()) return;
    const std::uint64_t bytes = pull->pin.value();
    for (const std::uint32_t index : pull->indices) {
      const wire::PullData header{pull->request, index, bytes, Checksum()};
      transport_
          ->SendBulk(from, TypeOf(wire::Type::kPullData), wire::Encode(header),
                     memory_.subspan(index * bytes, bytes), [](const absl::Status&) {})
          .IgnoreError();
    }
  }
  void OnOffer(EndpointId from, absl::string_view body) {
    const auto offer = wire::DecodeOffer(body);
    if (!offer.ok() || offer->entries.size() != 1) return;
    awaited_[offer->request] = offer->entries[0].pool_offset;
    const wire::WantMessage want{.request = offer->request, .entries = {{.index = 0}}};
    transport_->Send(from, TypeOf(wire::Type::kWant), wire::Encode(want)).IgnoreError();
  }

  const absl::Span<std::byte> memory_;
  Transport* transport_ = nullptr;
  absl::flat_hash_map<RequestId, std::uint64_t> awaited_;  // offsets of offered blocks
};

// ---- the client ----

class TransportPair final : public Contender, private TransportReceiver {
 public:
  TransportPair(std::unique_ptr<ChildProcess> server, const Buffers& buffers, AsioLoop& loop)
      : server_(std::move(server)), buffers_(buffers), loop_(loop) {}
  ~TransportPair() override {
    CallOn(loop_, [this](Task done) {
      transport_.reset();
      done();
    });
  }

  absl::Status Connect(const std::string& address) {
    absl::Status status;
    CallOn(loop_, [&](Task done) {
      status = [&]() -> absl::Status {
        CAIRN_ASSIGN_OR_RETURN(transport_, MakeTransport(loop_, *this));
        CAIRN_ASSIGN_OR_RETURN(endpoint_, transport_->Dial(address));
        return absl::OkStatus();
      }();
      done();
    });
    return status;
  }

  std::string name() const override { return "transport"; }
  std::vector<pid_t> servers() const override { return {server_->pid()}; }
  absl::Status Prepare(std::uint64_t bytes) override { return absl::OkStatus(); }

  absl::Status Run(const Cell& cell, double until, Slice& slice) override {
    cell_ = cell;
    Pipeline pipeline(loop_,
                      {.window = cell.window,
                       .operation_bytes = cell.bytes,
                       .until = until,
                       .first_number = next_},
                      slice,
                      [this](std::uint32_t lane, std::uint64_t number) { Begin(lane, number); });
    pipeline_ = &pipeline;
    return pipeline.Run(next_);
  }

 private:
  void Begin(std::uint32_t lane, std::uint64_t number) {
    const RequestId request(number);
    lanes_[request] = lane;
    const std::uint64_t offset = Buffers::SourceOffset(number, cell_.bytes);
    absl::Status sent;
    if (cell_.operation == Operation::kGet) {
      wire::Pull pull{.request = request, .pin = PinId(cell_.bytes)};
      pull.indices.push_back(static_cast<std::uint32_t>(offset / cell_.bytes));
      sent = transport_->Send(endpoint_, TypeOf(wire::Type::kPull), wire::Encode(pull));
    } else {
      wire::Offer offer{.request = request};
      offer.entries.push_back({.bytes = cell_.bytes, .depth = 1, .pool_offset = offset});
      sent = transport_->Send(endpoint_, TypeOf(wire::Type::kOffer), wire::Encode(offer));
    }
    if (!sent.ok()) {
      loop_.Post([this, request, sent] { Done(request, sent); });
    }
  }

  void Done(RequestId request, const absl::Status& status) {
    const auto it = lanes_.find(request);
    if (it == lanes_.end()) return;
    const std::uint32_t lane = it->second;
    lanes_.erase(it);
    pipeline_->Done(lane, status);
  }

  void OnAccepted(EndpointId) override {}
  void OnClosed(EndpointId, const absl::Status& why) override {
    while (!lanes_.empty()) {
      Done(lanes_.begin()->first, absl::UnavailableError("closed: " + why.ToString()));
    }
  }
  void OnMessage(EndpointId, MessageType type, absl::Span<const std::byte> body) override {
    if (type == TypeOf(wire::Type::kStored)) {
      const auto stored = wire::DecodeStored(AsStringView(body));
      if (stored.ok()) Done(stored->request, absl::OkStatus());
      return;
    }
    const auto want = wire::DecodeWant(AsStringView(body));
    if (!want.ok()) return;
    const RequestId request = want->request;
    transport_
        ->SendBulk(endpoint_, TypeOf(wire::Type::kOfferData),
                   wire::Encode(wire::OfferData{request, 0}),
                   buffers_.SourceOf(request.value(), cell_.bytes), [](const absl::Status&) {})
        .IgnoreError();
  }
  std::optional<Landing> OnBulk(EndpointId, MessageType, absl::Span<const std::byte> header,
                                std::uint64_t bytes) override {
    const auto data = wire::DecodePullData(AsStringView(header));
    if (!data.ok() || bytes != cell_.bytes) return std::nullopt;
    return Landing{LandingId(data->request.value()),
                   buffers_.TargetOf(data->request.value(), bytes)};
  }
  void OnBulkLanded(EndpointId, LandingId landing, const absl::Status& status) override {
    const std::uint64_t number = landing.value();
    absl::Status landed = status;
    if (landed.ok()) {
      landed = CheckLanded(buffers_.TargetOf(number, cell_.bytes),
                           Buffers::SourceOffset(number, cell_.bytes));
    }
    Done(RequestId(number), landed);
  }

  const std::unique_ptr<ChildProcess> server_;
  const Buffers buffers_;
  AsioLoop& loop_;
  std::unique_ptr<Transport> transport_;
  EndpointId endpoint_;
  Cell cell_;
  Pipeline* pipeline_ = nullptr;
  std::uint64_t next_ = 1;
  absl::flat_hash_map<RequestId, std::uint32_t> lanes_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Contender>> NewTransportPair(const ScratchFolder& folder,
                                                            const Buffers& buffers,
                                                            AsioLoop& loop) {
  CAIRN_ASSIGN_OR_RETURN(
      std::unique_ptr<ChildProcess> server,
      ChildProcess::Start({.command = {ProgramFolder() + "/cairn-bench", "serve", "transport"},
                           .log_file = folder.PathOf("transport.log"),
                           .is_read = true}));
  CAIRN_ASSIGN_OR_RETURN(const std::string address, server->ReadLine());
  auto made = std::make_unique<TransportPair>(std::move(server), buffers, loop);
  CAIRN_RETURN_IF_ERROR(made->Connect(address));
  return std::unique_ptr<Contender>(std::move(made));
}

absl::Status ServeTransportPair(MemorySource& memory) {
  CAIRN_ASSIGN_OR_RETURN(const std::unique_ptr<OwnedMemory> source,
                         memory.Create("cairn-bench-transport", kWorkingSetBytes));
  FillSource(source->bytes());
  AsioLoop loop;
  Server server(source->bytes());
  CAIRN_ASSIGN_OR_RETURN(const std::unique_ptr<Transport> transport, MakeTransport(loop, server));
  server.Use(*transport);
  CAIRN_ASSIGN_OR_RETURN(const std::string address, transport->Listen("127.0.0.1:0"));
  std::cout << address << std::endl;
  loop.Run();
  return absl::OkStatus();
}

}  // namespace cairn::bench
