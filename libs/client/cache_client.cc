#include "libs/client/cache_client.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "libs/base/bytes.h"
#include "libs/base/check.h"
#include "libs/base/limits.h"
#include "libs/base/log.h"
#include "libs/base/mark.h"
#include "libs/client/acquire_calls.h"
#include "libs/client/block_verifier.h"
#include "libs/client/offer_calls.h"
#include "libs/client/pull_calls.h"
#include "libs/client/release_queue.h"

namespace cairn {
namespace {

std::uint64_t OfferedBytesMax(const ClientPorts& ports, const ClientOptions& options) {
  if (options.offered_bytes_max != 0) return options.offered_bytes_max;
  if (ports.pool == nullptr) return kOfferedBytesWithoutPool;
  return ports.pool->bytes().size() / 4;
}

absl::Span<const std::byte> PoolOf(const ClientPorts& ports) {
  return ports.pool == nullptr ? absl::Span<std::byte>() : ports.pool->bytes();
}

}  // namespace

CacheClient::CacheClient(ClientPorts ports, ClientOptions options)
    : ports_(std::move(ports)),
      options_(std::move(options)),
      gate_(ports_.loop),
      backoff_(options_.backoff_min, options_.backoff_max, options_.seed),
      home_(std::make_shared<PinHome>(PinHome{ports_.loop, this})),
      context_{.loop = ports_.loop,
               .copier = ports_.copier,
               .options = options_,
               .stats = stats_,
               .gate = gate_,
               .home = home_},
      releases_(std::make_unique<ReleaseQueue>(context_)),
      verifier_(std::make_unique<BlockVerifier>(context_)),
      pulls_(std::make_unique<PullCalls>(context_)),
      acquires_(std::make_unique<AcquireCalls>(context_, *releases_, *verifier_, *pulls_)),
      offers_(std::make_unique<OfferCalls>(context_, PoolOf(ports_),
                                           OfferedBytesMax(ports_, options_))) {
  CAIRN_CHECK(options_.tokens != nullptr);
  CAIRN_CHECK(ports_.transports != nullptr);
  CAIRN_CHECK((ports_.dialer == nullptr) != ports_.remote_address.empty());
  CAIRN_CHECK(ports_.dialer == nullptr || ports_.memory != nullptr);
  CAIRN_CHECK(options_.producer.size() <= wire::kProducerBytesMax);
}

CacheClient::~CacheClient() {
  home_->releaser = nullptr;
  if (is_abandoned_) return;
  CAIRN_CHECK(!is_started_ || is_stopping_);
  CAIRN_CHECK(session_ == nullptr);
  CAIRN_CHECK(gate_.is_empty());
}

void CacheClient::Start() {
  CAIRN_CHECK(!is_started_);
  is_started_ = true;
  Attempt();
}

void CacheClient::Stop(absl::AnyInvocable<void()> done) {
  CAIRN_CHECK(!is_stopping_);
  is_stopping_ = true;
  if (is_retrying_) ports_.loop.Cancel(retry_);
  is_retrying_ = false;
  if (session_ != nullptr) session_->End(absl::CancelledError("the client is stopping"));
  gate_.Close(std::move(done));
}

void CacheClient::Abandon() {
  is_abandoned_ = true;
  home_->releaser = nullptr;
}

// ---- sessions ----

void CacheClient::Attempt() {
  is_retrying_ = false;
  CAIRN_CHECK(session_ == nullptr);
  is_proven_ = false;
  SessionEvents& events = *this;
  session_ = std::make_unique<Session>(SessionSerial(++sessions_begun_), ports_, options_, stats_,
                                       events);
  session_->Start();
}

void CacheClient::AttemptLater() {
  is_retrying_ = true;
  retry_ = ports_.loop.RunAt(ports_.loop.Now() + backoff_.Next(), [this] { Attempt(); });
}

absl::StatusOr<TransportLine*> CacheClient::LineOf(TransportProfile profile) {
  std::unique_ptr<TransportLine>& line = lines_[static_cast<std::size_t>(profile)];
  if (line == nullptr) {
    LineEvents& events = *this;
    auto made = std::make_unique<TransportLine>(events, gate_);
    if (absl::Status opened = made->Open(ports_.transports, profile); !opened.ok()) return opened;
    line = std::move(made);
  }
  return line.get();
}

void CacheClient::OnSessionUp() {
  ++stats_.sessions_opened;
  CompareBoots();
  if (session_->mapping() != nullptr) verifier_->BeginArena(session_->mapping()->arena_boot());
  context_.session = session_.get();
  is_connected_.store(true, std::memory_order_relaxed);
  LogEvent(LogLevel::kInfo, "session_opened")
      .With("peer", options_.peer_name)
      .With("session", session_->serial().value())
      .With("pins_max", session_->welcome().pins_max);
}

void CacheClient::CompareBoots() {
  const BootId node = session_->welcome().node_boot;
  if (last_node_.has_value() && *last_node_ != node) ++stats_.node_restarts;
  last_node_ = node;
  if (session_->mapping() == nullptr) return;
  const BootId arena = session_->mapping()->arena_boot();
  if (last_arena_.has_value() && *last_arena_ != arena) ++stats_.arenas_changed;
  last_arena_ = arena;
}

void CacheClient::OnSessionEnded(const absl::Status& why, const char* phase) {
  const bool was_up = context_.session != nullptr;
  context_.session = nullptr;
  is_connected_.store(false, std::memory_order_relaxed);
  if (absl::IsInvalidArgument(why)) {
    CAIRN_COVERED("client_protocol_error");
    ++stats_.protocol_errors;
  }
  if (!is_stopping_) {
    ++(was_up ? stats_.sessions_lost : stats_.attempts_failed);
    context_.Complain(context_.session_limiter, was_up ? "session_lost" : "session_failed", phase,
                      why.ToString());
  }
  // Destroyed when no frame of it is left on the stack; the gate waits for that too.
  context_.PostInside([old = std::move(session_)] {});
  releases_->Clear();
  acquires_->Lose();
  pulls_->FinishAll(KeyResult::kLost);
  offers_->Lose();
  if (!is_stopping_) AttemptLater();
}

// ---- what the lines and the session say ----

bool CacheClient::IsCurrent(const TransportLine& line, EndpointId endpoint) const {
  return session_ != nullptr && session_->IsAt(line, endpoint);
}

void CacheClient::OnLineMessage(TransportLine& line, EndpointId from, MessageType type,
                                absl::Span<const std::byte> body) {
  if (IsCurrent(line, from)) session_->OnMessage(type, body);
}

std::optional<Landing> CacheClient::OnLineBulk(TransportLine& line, EndpointId from,
                                               MessageType type,
                                               absl::Span<const std::byte> header,
                                               std::uint64_t bytes) {
  if (!IsCurrent(line, from) || !session_->is_up()) return std::nullopt;
  if (type.value() != static_cast<std::uint8_t>(wire::Type::kPullData)) {
    session_->End(absl::InvalidArgumentError(absl::StrCat("bulk of type ", int{type.value()})));
    return std::nullopt;
  }
  absl::StatusOr<std::optional<Landing>> landing = pulls_->OnBulk(header, bytes);
  if (landing.ok()) return *landing;
  session_->End(landing.status());
  return std::nullopt;
}

void CacheClient::OnLineLanded(LandingId landing, const absl::Status& status) {
  pulls_->OnLanded(landing, status);
}

void CacheClient::OnLineClosed(TransportLine& line, EndpointId endpoint, const absl::Status& why) {
  if (IsCurrent(line, endpoint)) session_->OnEndpointClosed(why);
}

void CacheClient::OnSessionMessage(wire::Type type, absl::string_view body) {
  const absl::Status heard = Dispatch(type, body);
  if (!heard.ok()) {
    // A callback may have stopped us meanwhile.
    if (session_ != nullptr) session_->End(heard);
    return;
  }
  // A node that keeps its word: the next loss begins with a short wait again.
  if (!std::exchange(is_proven_, true)) backoff_.Reset();
}

absl::Status CacheClient::Dispatch(wire::Type type, absl::string_view body) {
  switch (type) {
    case wire::Type::kAcquired: return acquires_->OnAcquired(body);
    case wire::Type::kPullFailed: return pulls_->OnPullFailed(body);
    case wire::Type::kWant: return offers_->OnWant(body);
    case wire::Type::kStored: return offers_->OnStored(body);
    default:
      return absl::InvalidArgumentError(
          absl::StrCat("message ", static_cast<int>(type), " from a node"));
  }
}

// ---- calls ----

void CacheClient::ReleasePin(SessionSerial session, PinId pin) { releases_->Add(session, pin); }

void CacheClient::Acquire(AcquireRequest request, AcquireDone done) {
  std::optional<KeyResult> refused;
  if (!has_session() || is_stopping_) {
    refused = KeyResult::kOffline;
  } else if (acquires_->count() + pulls_->count() >= options_.calls_max) {
    CAIRN_COVERED("client_calls_full");
    refused = KeyResult::kBusy;
  }
  acquires_->Begin(std::move(request), std::move(done), refused);
}

void CacheClient::Pull(const HeldPin& pin, std::vector<PullItem> items, Instant deadline,
                       PullDone done) {
  std::optional<KeyResult> refused;
  if (!has_session() || is_stopping_) {
    refused = KeyResult::kOffline;
  } else if (!pin.is_held() || pin.session() != session_->serial()) {
    refused = KeyResult::kLost;
  } else if (acquires_->count() + pulls_->count() >= options_.calls_max) {
    refused = KeyResult::kBusy;
  }
  pulls_->Ask(pin.pin(), std::move(items), deadline, std::move(done), refused);
}

void CacheClient::Offer(std::vector<OfferBlock> blocks, Instant deadline, OfferDone each) {
  std::optional<OfferResult> refused;
  if (!has_session() || is_stopping_) refused = OfferResult::kOffline;
  offers_->Begin(std::move(blocks), deadline, std::move(each), refused);
}

}  // namespace cairn
