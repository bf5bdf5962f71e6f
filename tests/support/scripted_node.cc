#include "tests/support/scripted_node.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "libs/base/bytes.h"
#include "libs/base/check.h"
#include "libs/base/limits.h"
#include "libs/base/sha256.h"
#include "libs/block/generation.h"

namespace cairn {

ScriptedNode::ScriptedNode(Loop& loop, LoopbackNetwork& network, LocalHub& hub,
                           MemorySource& memory, absl::string_view path, PeerProcess self)
    : loop_(loop),
      network_(network),
      memory_(memory),
      listener_(hub.NewListener(loop, path, self)) {}

ScriptedNode::~ScriptedNode() = default;

void ScriptedNode::Listen(absl::string_view socket_address) {
  MakeArena();
  transport_ = network_.NewTransport(loop_, *this);
  CAIRN_CHECK(listener_
                  ->Start([this](std::unique_ptr<LocalChannel> channel) {
                    OnChannel(std::move(channel));
                  })
                  .ok());
  if (socket_address.empty()) return;
  absl::StatusOr<std::string> bound = transport_->Listen(socket_address);
  CAIRN_CHECK(bound.ok()) << bound.status();
  listening_at_ = *bound;
}

void ScriptedNode::MakeArena() {
  for (std::size_t i = 0; i < script_.segments; ++i) {
    auto segment = memory_.Create("arena", kSegmentBytes);
    CAIRN_CHECK(segment.ok()) << segment.status();
    arena_.push_back(*std::move(segment));
  }
}

// ---- the local channel ----

void ScriptedNode::OnChannel(std::unique_ptr<LocalChannel> channel) {
  channel_ = std::move(channel);
  channel_->Start([this](LocalChannel::Message m) { OnLocal(std::move(m)); },
                  [this](absl::Status) {
                    channel_.reset();
                    has_session_ = false;
                  });
  if (script_.stays_silent) return;
  local_challenge_ = wire::LocalChallenge();
  local_challenge_.node_boot = script_.node_boot;
  local_challenge_.node_nonce = std::string(wire::kNonceBytes, 'n');
  if (script_.edit_challenge) script_.edit_challenge(local_challenge_);
  SayLocal(script_.instead_of_challenge.value_or(wire::Encode(local_challenge_)));
}

void ScriptedNode::OnLocal(LocalChannel::Message message) {
  absl::StatusOr<wire::LocalProof> proof = wire::DecodeLocalProof(message.body);
  CAIRN_CHECK(proof.ok()) << proof.status();
  ++proofs_;
  local_proof_ = *std::move(proof);
  are_macs_right_ = are_macs_right_ && local_proof_.token_id == script_.token_id &&
                    local_proof_.mac ==
                        wire::LocalClientMac(script_.token, local_challenge_, local_proof_);
  if (local_proof_.pool_bytes > 0) {
    CAIRN_CHECK(message.grants.size() == 1);
    auto mapped = memory_.Map(std::move(message.grants[0]), limits::kPoolBytesMax);
    CAIRN_CHECK(mapped.ok()) << mapped.status();
    client_pool_ = *std::move(mapped);
  }
  SendLocalWelcome();
}

LocalChannel::Message ScriptedNode::SegmentsFrom(std::size_t first, std::size_t count,
                                                 std::vector<wire::LocalSegment>& segments) {
  LocalChannel::Message message;
  for (std::size_t i = first; i < std::min(first + count, arena_.size()); ++i) {
    segments.push_back({SegmentId(static_cast<std::uint32_t>(i)), kSegmentBytes, kTableBytes});
    auto grant = arena_[i]->Grant();
    CAIRN_CHECK(grant.ok()) << grant.status();
    message.grants.push_back(*std::move(grant));
  }
  return message;
}

void ScriptedNode::SendLocalWelcome() {
  if (script_.instead_of_local_welcome.has_value()) {
    return SayLocal(*script_.instead_of_local_welcome);
  }
  const std::size_t step = script_.grants_per_message;
  wire::LocalWelcome welcome;
  welcome.ticket = ticket_ = std::string(wire::kTicketBytes, static_cast<char>('a' + proofs_ % 26));
  welcome.arena_boot = script_.arena_boot;
  welcome.transport_address = transport_->Address();
  welcome.segments_total = static_cast<std::uint32_t>(arena_.size());
  LocalChannel::Message message = SegmentsFrom(0, step, welcome.segments);
  welcome.mac = wire::LocalNodeMac(script_.token, local_challenge_, local_proof_, welcome);
  if (script_.edit_local_welcome) script_.edit_local_welcome(welcome, message);
  message.body = wire::Encode(welcome);
  CAIRN_CHECK(channel_->Send(std::move(message)).ok());
  for (std::size_t first = step; first < arena_.size(); first += step) {
    wire::LocalSegments more;
    LocalChannel::Message next = SegmentsFrom(first, step, more.segments);
    next.body = wire::Encode(more);
    CAIRN_CHECK(channel_->Send(std::move(next)).ok());
  }
  auto endpoint = transport_->Connect(local_proof_.transport_address);
  CAIRN_CHECK(endpoint.ok()) << endpoint.status();
  endpoint_ = *endpoint;
}

void ScriptedNode::SayLocal(std::string body) {
  LocalChannel::Message message;
  message.body = std::move(body);
  CAIRN_CHECK(channel_ != nullptr);
  CAIRN_CHECK(channel_->Send(std::move(message)).ok());
}

// ---- the transport ----

void ScriptedNode::OnAccepted(EndpointId endpoint) { endpoint_ = endpoint; }

void ScriptedNode::OnMessage(EndpointId from, MessageType type, absl::Span<const std::byte> body) {
  if (from != endpoint_) return;
  const auto wire_type = static_cast<wire::Type>(type.value());
  if (wire_type == wire::Type::kHello) return OnHello(AsStringView(body));
  if (wire_type == wire::Type::kProof) {
    const auto proof = wire::DecodeProof(AsStringView(body));
    CAIRN_CHECK(proof.ok()) << proof.status();
    ++proofs_;
    are_macs_right_ = are_macs_right_ &&
                      proof->mac == wire::ProofMac(script_.token, node_nonce_,
                                                   hello_.client_nonce, hello_body_);
    return SendWelcome();
  }
  heard_.push_back({wire_type, std::string(AsStringView(body))});
  if (script_.on_heard) script_.on_heard(heard_.back());
}

void ScriptedNode::OnHello(absl::string_view body) {
  const auto hello = wire::DecodeHello(body);
  CAIRN_CHECK(hello.ok()) << hello.status();
  ++hellos_;
  hello_ = *hello;
  hello_body_ = std::string(body);
  if (!hello_.ticket.empty()) {
    are_macs_right_ = are_macs_right_ && hello_.ticket == ticket_;
    return SendWelcome();
  }
  node_nonce_ = std::string(wire::kNonceBytes, 'r');
  Say(wire::Type::kChallenge, wire::Encode(wire::Challenge{node_nonce_}));
}

void ScriptedNode::SendWelcome() {
  if (script_.instead_of_welcome.has_value()) {
    return Say(script_.instead_of_welcome->first, script_.instead_of_welcome->second);
  }
  wire::Welcome welcome;
  welcome.node_boot = script_.node_boot;
  welcome.root = script_.root;
  welcome.pins_max = script_.pins_max;
  welcome.offers_max = script_.offers_max;
  welcome.pin_age_max_us = script_.pin_age_max_us;
  if (script_.edit_welcome) script_.edit_welcome(welcome);
  has_session_ = welcome.result == wire::WelcomeResult::kOk;
  Say(wire::Type::kWelcome, wire::Encode(welcome));
}

void ScriptedNode::Say(wire::Type type, std::string body) {
  (void)transport_->Send(endpoint_, MessageType(static_cast<std::uint8_t>(type)), std::move(body));
}

void ScriptedNode::SayBulk(wire::Type type, std::string header,
                           absl::Span<const std::byte> bytes) {
  CAIRN_CHECK(transport_
                  ->SendBulk(endpoint_, MessageType(static_cast<std::uint8_t>(type)),
                             std::move(header), bytes,
                             [this](absl::Status status) { bulks_sent_.push_back(status); })
                  .ok());
}

void ScriptedNode::CloseEndpoint() { transport_->Close(endpoint_); }

std::optional<Landing> ScriptedNode::OnBulk(EndpointId, MessageType, absl::Span<const std::byte>,
                                            std::uint64_t bytes) {
  if (landing_.size() < bytes) return std::nullopt;
  return Landing{LandingId(++landings_), landing_.first(bytes)};
}

void ScriptedNode::OnBulkLanded(EndpointId, LandingId, const absl::Status& status) {
  landed_.push_back(status);
}

void ScriptedNode::OnClosed(EndpointId endpoint, const absl::Status&) {
  if (endpoint == endpoint_) has_session_ = false;
}

std::string ScriptedNode::Last(wire::Type type) const {
  const auto last = std::find_if(heard_.rbegin(), heard_.rend(),
                                 [&](const Heard& heard) { return heard.type == type; });
  CAIRN_CHECK(last != heard_.rend()) << static_cast<int>(type);
  return last->body;
}

std::size_t ScriptedNode::Count(wire::Type type) const {
  return static_cast<std::size_t>(
      std::count_if(heard_.begin(), heard_.end(),
                    [&](const Heard& heard) { return heard.type == type; }));
}

absl::Span<const std::byte> ScriptedNode::client_pool() const { return client_pool_->bytes(); }

// ---- the arena ----

absl::Span<std::byte> ScriptedNode::SlotBytes(Place place) {
  return arena_[place.segment.value()]->bytes().subspan(
      kTableBytes + place.slot.value() * kSlotBytes, kSlotBytes);
}

void ScriptedNode::Advance(Place place) {
  auto* const words = reinterpret_cast<std::atomic<std::uint64_t>*>(
      arena_[place.segment.value()]->bytes().data());
  words[place.slot.value()].fetch_add(1);
}

wire::Descriptor ScriptedNode::Fill(std::uint32_t index, Place place, std::uint8_t fill,
                                    std::uint64_t bytes) {
  Advance(place);
  const absl::Span<std::byte> slot = SlotBytes(place);
  std::memset(slot.data(), fill, slot.size());
  const auto* const words = reinterpret_cast<const std::atomic<std::uint64_t>*>(
      arena_[place.segment.value()]->bytes().data());
  wire::Descriptor d;
  d.index = index;
  d.place = place;
  d.offset = kTableBytes + place.slot.value() * kSlotBytes;
  d.generation = Generation(words[place.slot.value()].load());
  d.bytes = bytes;
  d.checksum = ChecksumOf(slot.first(bytes));
  d.depth = (index + 1) * 16;
  return d;
}

}  // namespace cairn
