#include "libs/node/front.h"

#include <utility>

#include "libs/base/bytes.h"
#include "libs/base/check.h"
#include "libs/base/limits.h"
#include "libs/base/log.h"
#include "libs/base/mark.h"
#include "libs/base/status_macros.h"
#include "libs/node/root_claim.h"

namespace cairn {
namespace {

// The segments of one shard: dealt out in turn, so that all shards get as many, give or take one.
std::vector<SegmentId> SegmentsOf(ShardIndex shard, std::uint32_t shards, std::uint32_t segments) {
  std::vector<SegmentId> out;
  for (std::uint32_t i = shard; i < segments; i += shards) out.push_back(SegmentId(i));
  return out;
}

}  // namespace

Front::Front(const Needs& needs)
    : needs_(needs),
      boot_(NewBootId()),
      tokens_(needs.options.dev_token),
      identities_({.roots_max = needs.options.ceilings.roots}),
      producers_(limits::kProducersMax),
      lanes_holder_(std::make_unique<Lanes>(std::move(needs.ports.make_transport),
                                            static_cast<PeerReceiver&>(*this))),
      lanes_(*lanes_holder_),
      overlaps_(needs.ports.overlaps == nullptr
                    ? nullptr
                    : std::make_unique<OverlapWatch>(needs.options.overlap_blocks_max, boot_.low,
                                                     *needs.ports.overlaps, stats_)),
      read_({needs.options, needs.ports.loop, lanes_, stats_, shards_, overlaps_.get()}),
      write_({needs.options, needs.ports.loop, lanes_, stats_, shards_}),
      door_({needs.options, boot_, needs.arena, needs.ports.memory, needs.ports.loop, lanes_,
             tokens_, stats_, *this}) {
  const auto count = static_cast<std::uint32_t>(needs.ports.shards.size());
  for (ShardIndex i = 0; i < count; ++i) {
    const ShardPorts& on = needs.ports.shards[i];
    shards_.push_back(std::make_unique<Shard>(
        i, Shard::Needs{needs.options, needs.arena, on.loop, on.copier, needs.ports.loop, *this},
        SegmentsOf(i, count, needs.arena.segments()),
        [this](ShardIndex sibling) -> Shard& { return *shards_[sibling]; }));
  }
}

Front::~Front() {
  lanes_holder_.reset();  // ends all loans of the transports, while what they lend is still there
}

absl::Status Front::Start() {
  if (needs_.ports.local_listener != nullptr) {
    CAIRN_RETURN_IF_ERROR(needs_.ports.local_listener->Start(
        [this](std::unique_ptr<LocalChannel> channel) { door_.OnChannel(std::move(channel)); }));
  }
  if (!needs_.options.remote_listen.empty()) {
    CAIRN_ASSIGN_OR_RETURN(Transport* const transport, lanes_.Open(LaneKind::kRemote));
    CAIRN_ASSIGN_OR_RETURN(remote_address_, transport->Listen(needs_.options.remote_listen));
  }
  return absl::OkStatus();
}

NodeSession* Front::Find(Peer peer) {
  const auto it = by_peer_.find(peer);
  return it == by_peer_.end() ? nullptr : Find(it->second);
}

NodeSession* Front::Find(SessionId id) {
  const auto it = sessions_.find(id);
  return it == sessions_.end() || it->second.is_ending ? nullptr : &it->second;
}

// ---- transport ----

void Front::OnAccepted(Peer peer) { door_.OnAccepted(peer); }

void Front::OnMessage(Peer peer, MessageType type, absl::Span<const std::byte> body) {
  ++stats_.messages;
  NodeSession* const session = Find(peer);
  if (session == nullptr) {
    if (!by_peer_.contains(peer)) door_.OnMessage(peer, type, AsStringView(body));
    return;
  }
  const absl::Status done =
      Dispatch(*session, static_cast<wire::Type>(type.value()), AsStringView(body));
  if (done.ok()) return;
  ++stats_.messages_malformed;
  EndSession(*session, done.message());
}

absl::Status Front::Dispatch(NodeSession& session, wire::Type type, absl::string_view body) {
  switch (type) {
    case wire::Type::kAcquire: {
      CAIRN_ASSIGN_OR_RETURN(wire::Acquire message, wire::DecodeAcquire(body));
      read_.OnAcquire(session, std::move(message),
                      is_stopping_ ? wire::AcquireResult::kStopping : wire::AcquireResult::kOk);
      return absl::OkStatus();
    }
    case wire::Type::kRelease: {
      CAIRN_ASSIGN_OR_RETURN(const wire::Release message, wire::DecodeRelease(body));
      read_.OnRelease(session, message);
      return absl::OkStatus();
    }
    case wire::Type::kSuspect: {
      CAIRN_ASSIGN_OR_RETURN(const wire::Suspect message, wire::DecodeSuspect(body));
      read_.OnSuspect(session, message);
      return absl::OkStatus();
    }
    case wire::Type::kPull: {
      CAIRN_ASSIGN_OR_RETURN(const wire::Pull message, wire::DecodePull(body));
      read_.OnPull(session, message);
      return absl::OkStatus();
    }
    case wire::Type::kOffer: {
      CAIRN_ASSIGN_OR_RETURN(wire::Offer message, wire::DecodeOffer(body));
      return write_.OnOffer(session, std::move(message));
    }
    default:
      break;
  }
  return absl::InvalidArgumentError("a message that a client does not send, or a second HELLO");
}

std::optional<Landing> Front::OnBulk(Peer peer, MessageType type,
                                     absl::Span<const std::byte> header, std::uint64_t bytes) {
  NodeSession* const session = Find(peer);
  if (session == nullptr) {
    ++stats_.landings_refused;
    if (!by_peer_.contains(peer)) door_.Refuse(peer, HelloRefusal::kMalformed);
    return std::nullopt;
  }
  if (static_cast<wire::Type>(type.value()) != wire::Type::kOfferData) {
    ++stats_.messages_malformed;
    ++stats_.landings_refused;
    EndSession(*session, "bulk of a type that a client does not send");
    return std::nullopt;
  }
  return write_.OnBulk(*session, header, bytes);
}

void Front::OnBulkLanded(Peer /*peer*/, LandingId landing, const absl::Status& status) {
  write_.OnBulkLanded(landing, status);
}

void Front::OnClosed(Peer peer, const absl::Status& why) {
  const auto it = by_peer_.find(peer);
  if (it != by_peer_.end()) {
    const SessionId id = it->second;
    NodeSession& session = sessions_.at(id);
    if (!session.is_ending) EndSession(session, why.message());
    session.is_endpoint_closed = true;
    by_peer_.erase(it);
    MaybeForget(id);
  }
  door_.OnClosed(peer);
}

// ---- sessions ----

bool Front::HasRoom() const { return live_sessions_ < needs_.options.sessions_max; }

absl::Status Front::OnAdmitted(Admitted admitted, wire::Welcome& welcome) {
  const ClaimFields fields(admitted.claim);
  CAIRN_ASSIGN_OR_RETURN(const RootId root_id, identities_.Open(admitted.root, fields.fields()));
  const SessionId id(++last_session_);
  NodeSession& session = sessions_[id];
  session.id = id;
  session.peer = admitted.peer;
  session.process = admitted.process;
  session.is_same_host = admitted.is_same_host;
  session.pool = std::move(admitted.pool);
  session.root_id = root_id;
  session.root = admitted.root;
  session.block_tokens = admitted.claim.block_tokens;
  session.block_bytes = admitted.block_bytes;
  session.is_any_numerics = admitted.claim.identity.numerics.empty();
  session.producer = admitted.producer;
  session.producer_id = producers_.NumberOf(admitted.producer);
  session.since = needs_.ports.loop.Now();
  by_peer_[session.peer] = id;
  ++live_sessions_;
  ++stats_.sessions_opened;
  read_.BeginSession(session);

  welcome.pins_max = needs_.options.pins_per_session_max;
  welcome.offers_max = needs_.options.offers_per_session_max;
  welcome.pin_age_max_us = static_cast<std::uint64_t>(absl::ToInt64Microseconds(
      session.is_same_host ? needs_.options.pin_age_max : needs_.options.remote_pin_age_max));
  LogEvent(LogLevel::kInfo, "session_opened")
      .With("session", id.value())
      .With("producer", session.producer)
      .With("pid", session.process.pid);
  return absl::OkStatus();
}

void Front::OnChannelEnded(Peer peer) {
  if (NodeSession* const session = Find(peer)) EndSession(*session, "the local channel ended");
}

void Front::EndSession(NodeSession& session, absl::string_view why) {
  session.is_ending = true;
  --live_sessions_;
  ++stats_.sessions_ended;
  LogEvent(LogLevel::kInfo, "session_ended").With("session", session.id.value()).With("why", why);
  session.shards_left = static_cast<std::uint32_t>(shards_.size());
  for (const std::unique_ptr<Shard>& shard : shards_) {
    shard->loop().Post([&to = *shard, id = session.id] { to.EndSession(id); });
  }
  read_.EndSession(session.id);
  write_.EndSession(session.id);
  identities_.Close(session.root_id);
  door_.EndChannel(session.peer);
  lanes_.Close(session.peer);
}

void Front::OnSessionEnded(ShardIndex /*shard*/, SessionId id) {
  --sessions_.at(id).shards_left;
  MaybeForget(id);
}

void Front::MaybeForget(SessionId id) {
  const NodeSession& session = sessions_.at(id);
  if (!session.is_endpoint_closed || session.shards_left > 0) return;
  sessions_.erase(id);
  MaybeStopShards();
}

// ---- shards ----

void Front::OnAcquiredPart(AcquiredPart part) { read_.OnAcquiredPart(std::move(part)); }
void Front::OnHeldPart(HeldPart part) { read_.OnHeldPart(std::move(part)); }
void Front::OnOfferVerdicts(OfferVerdicts verdicts) {
  const NodeSession* const session = Find(verdicts.session);
  write_.OnOfferVerdicts(session, std::move(verdicts));
}
void Front::OnOfferResults(OfferResults results) {
  const NodeSession* const session = Find(results.session);
  write_.OnOfferResults(session, std::move(results));
}

void Front::OnConflict(ConflictReport report) {
  const NodeSession* const session = Find(report.session);
  if (session != nullptr && session->is_any_numerics) return;
  static LogLimiter limiter(absl::Seconds(10));
  if (std::uint64_t held = 0; limiter.Admit(&held)) {
    LogEvent(LogLevel::kError, "producers_disagreed")
        .With("key", report.key.ToHex())
        .With("stored_by", producers_.NameOf(report.stored_by))
        .With("refused", producers_.NameOf(report.offered_by))
        .With("held_back", held);
  }
}

// ---- stopping ----

void Front::Stop(absl::AnyInvocable<void()> done) {
  CAIRN_CHECK(!is_stopping_) << "stopped twice";
  is_stopping_ = true;
  on_stopped_ = std::move(done);
  needs_.ports.local_listener.reset();
  door_.Stop();
  std::vector<SessionId> live;
  for (const auto& [id, session] : sessions_) {
    if (!session.is_ending) live.push_back(id);
  }
  for (const SessionId id : live) EndSession(sessions_.at(id), "the node stops");
  MaybeStopShards();
}

void Front::MaybeStopShards() {
  if (!is_stopping_ || are_shards_stopping_ || !sessions_.empty()) return;
  are_shards_stopping_ = true;
  for (const std::unique_ptr<Shard>& shard : shards_) {
    shard->loop().Post([&to = *shard] { to.Stop(); });
  }
}

void Front::OnShardStopped(ShardIndex /*shard*/) {
  if (++shards_stopped_ < shards_.size()) return;
  // Shards send each other news of children; one more round to each lets the last of them arrive.
  shards_stopped_ = 0;
  for (const std::unique_ptr<Shard>& shard : shards_) {
    shard->loop().Post([this] {
      needs_.ports.loop.Post([this] {
        if (++shards_stopped_ == shards_.size()) FinishStop();
      });
    });
  }
}

void Front::FinishStop() {
  lanes_holder_.reset();
  std::exchange(on_stopped_, nullptr)();
}

// ---- reports ----

std::vector<Front::SessionReport> Front::ReportSessions() const {
  std::vector<SessionReport> out;
  for (const auto& [id, session] : sessions_) {
    out.push_back({.id = id,
                   .producer = session.producer,
                   .root = session.root,
                   .lane = session.peer.lane,
                   .process = session.process,
                   .age = needs_.ports.loop.Now() - session.since,
                   .pool_bytes = session.pool ? session.pool->bytes().size() : 0,
                   .pinned_keys = read_.PinnedKeysOf(id),
                   .open_offers = write_.OpenOffersOf(id)});
  }
  return out;
}

FrontStats Front::Snapshot() const {
  FrontStats stats = stats_;
  stats.sessions = live_sessions_;
  stats.tokens = tokens_.size();
  return stats;
}

}  // namespace cairn
