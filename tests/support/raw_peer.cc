#include "tests/support/raw_peer.h"

#include <utility>

#include "libs/base/bytes.h"
#include "libs/base/check.h"
#include "libs/base/sha256.h"

namespace cairn {

RawPeer::RawPeer(Loop& loop, MemorySource& memory, const NewTransport& new_transport,
                 const Options& options)
    : loop_(loop), memory_(memory), options_(options), transport_(new_transport(*this)) {
  if (options.pool_bytes > 0) pool_ = *memory_.Create("pool", options.pool_bytes);
}
RawPeer::~RawPeer() = default;

void RawPeer::Meet(std::unique_ptr<LocalChannel> channel) {
  channel_ = std::move(channel);
  channel_->Start([this](LocalChannel::Message m) { OnChannelMessage(std::move(m)); },
                  [this](absl::Status) { is_channel_closed = true; });
}

void RawPeer::Dial(absl::string_view address) {
  endpoint_ = *transport_->Dial(address);
  if (!options_.sends_hello) return;
  wire::Hello hello = options_.hello;
  hello.token_id = options_.token_id;
  hello.client_nonce = RandomBytes(wire::kNonceBytes);
  hello_body_ = wire::Encode(hello);
  options_.hello = hello;
  Send(wire::Type::kHello, hello_body_);
}

void RawPeer::Send(wire::Type type, std::string body) {
  transport_->Send(endpoint_, MessageType(static_cast<std::uint8_t>(type)), std::move(body))
      .IgnoreError();
}

void RawPeer::SendData(const wire::OfferData& header, absl::Span<const std::byte> bytes) {
  const absl::Status sent = transport_->SendBulk(
      endpoint_, MessageType(static_cast<std::uint8_t>(wire::Type::kOfferData)),
      wire::Encode(header), bytes, [this](absl::Status status) { data_sent.push_back(status); });
  if (!sent.ok()) data_sent.push_back(sent);
}

void RawPeer::OnChannelMessage(LocalChannel::Message message) {
  const absl::StatusOr<wire::LocalType> type = wire::LocalTypeOf(message.body);
  CAIRN_CHECK(type.ok());
  if (*type == wire::LocalType::kChallenge) {
    challenge_ = *wire::DecodeLocalChallenge(message.body);
    proof_ = wire::LocalProof{.token_id = options_.token_id,
                              .client_nonce = RandomBytes(wire::kNonceBytes),
                              .profile = options_.profile,
                              .transport_address = transport_->Address(),
                              .pool_bytes = options_.pool_bytes};
    proof_.mac = wire::LocalClientMac(options_.token, challenge_, proof_);
    LocalChannel::Message answer{wire::Encode(proof_), {}};
    if (pool_ != nullptr) answer.grants.push_back(*pool_->Grant());
    channel_->Send(std::move(answer)).IgnoreError();
  } else if (*type == wire::LocalType::kRefused) {
    local_refused = *wire::DecodeLocalRefused(message.body);
  } else {
    OnLocalWelcome(std::move(message));
  }
}

void RawPeer::OnLocalWelcome(LocalChannel::Message message) {
  for (MemoryGrant& grant : message.grants) {
    arena.push_back(*memory_.Map(std::move(grant), UINT64_MAX));
  }
  if (*wire::LocalTypeOf(message.body) != wire::LocalType::kWelcome) return;
  local_welcome = *wire::DecodeLocalWelcome(message.body);
  CAIRN_CHECK(local_welcome->mac ==
              wire::LocalNodeMac(options_.token, challenge_, proof_, *local_welcome));
  endpoint_ = *transport_->Connect(local_welcome->transport_address);
  if (!options_.sends_hello) return;
  wire::Hello hello = options_.hello;
  hello.ticket = local_welcome->ticket;
  Send(wire::Type::kHello, wire::Encode(hello));
}

void RawPeer::OnMessage(EndpointId, MessageType type, absl::Span<const std::byte> raw) {
  const absl::string_view body = AsStringView(raw);
  switch (static_cast<wire::Type>(type.value())) {
    case wire::Type::kChallenge: {
      const wire::Challenge challenge = *wire::DecodeChallenge(body);
      Say(wire::Type::kProof,
          wire::Proof{wire::ProofMac(options_.token, challenge.node_nonce,
                                     options_.hello.client_nonce, hello_body_)});
      break;
    }
    case wire::Type::kWelcome:
      welcome = *wire::DecodeWelcome(body);
      break;
    case wire::Type::kAcquired:
      acquired.push_back(*wire::DecodeAcquired(body));
      break;
    case wire::Type::kWant:
      wants.push_back(*wire::DecodeWant(body));
      break;
    case wire::Type::kStored:
      stored.push_back(*wire::DecodeStored(body));
      break;
    case wire::Type::kPullFailed:
      pulls_failed.push_back(*wire::DecodePullFailed(body));
      break;
    default:
      CAIRN_CHECK(false) << "unexpected message " << int{type.value()};
  }
}

std::optional<Landing> RawPeer::OnBulk(EndpointId, MessageType, absl::Span<const std::byte> header,
                                       std::uint64_t bytes) {
  const LandingId id(++landings_);
  Arriving& arriving = arriving_[id];
  arriving.header = *wire::DecodePullData(AsStringView(header));
  arriving.bytes.resize(bytes);
  return Landing{id, absl::MakeSpan(arriving.bytes)};
}

void RawPeer::OnBulkLanded(EndpointId, LandingId landing, const absl::Status& status) {
  const auto node = arriving_.extract(landing);
  if (!status.ok()) return;
  data.push_back({node.mapped().header, std::string(AsStringView(node.mapped().bytes))});
}

void RawPeer::OnClosed(EndpointId, const absl::Status&) { is_closed = true; }

}  // namespace cairn
