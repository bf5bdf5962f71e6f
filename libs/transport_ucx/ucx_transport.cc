#include "libs/transport_ucx/ucx_transport.h"

#include <thread>
#include <utility>

#include "libs/base/check.h"
#include "libs/base/limits.h"
#include "libs/base/sha256.h"
#include "libs/base/status_macros.h"
#include "libs/transport_ucx/ucx_transport_impl.h"

namespace cairn {
namespace {

// Rounds of UCX's progress before other tasks of the loop get their turn.
constexpr int kRoundsPerPump = 256;
// At the end: how long UCX may take to give loans back.
constexpr absl::Duration kDrainMax = absl::Seconds(2);

}  // namespace

absl::StatusOr<std::unique_ptr<UcxTransport>> UcxTransport::Create(Loop& loop,
                                                                   TransportReceiver& receiver,
                                                                   const UcxOptions& options) {
  CAIRN_ASSIGN_OR_RETURN(UcxRuntime runtime, MakeUcxRuntime(options));
  auto transport = std::make_unique<UcxTransportImpl>(loop, receiver, options, std::move(runtime));
  CAIRN_RETURN_IF_ERROR(transport->Begin());
  return transport;
}

UcxTransportImpl::UcxTransportImpl(Loop& loop, TransportReceiver& receiver,
                                   const UcxOptions& options, UcxRuntime runtime)
    : loop_(loop),
      receiver_(receiver),
      options_(options),
      runtime_(std::move(runtime)),
      instance_(RandomBytes(kInstanceBytes)),
      alive_(std::make_shared<bool>(true)) {}

absl::Status UcxTransportImpl::Begin() {
  // From the last one down: UCX's table (1.5 MiB) is allocated once.
  for (unsigned id = kUcxIdMax + 1; id-- > 0;) {
    ucp_am_handler_param_t handler{};
    handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                         UCP_AM_HANDLER_PARAM_FIELD_ARG;
    handler.id = id;
    handler.cb = id == kUcxFrameId ? OnFrame : OnUnknownId;
    handler.arg = this;
    const ucs_status_t status = ucp_worker_set_am_recv_handler(worker(), &handler);
    if (status != UCS_OK) return UcxStatus(status, "ucp_worker_set_am_recv_handler");
  }
  if (options_.profile == UcxProfile::kSameHostOtherUser) {
    CAIRN_ASSIGN_OR_RETURN(listening_at_, ListenAt("127.0.0.1:0"));
  }
  CAIRN_RETURN_IF_ERROR(loop_.WatchReadable(runtime_.event_fd, [this] { Pump(); }));
  PostPump();  // arms
  return absl::OkStatus();
}

UcxTransportImpl::~UcxTransportImpl() {
  CAIRN_CHECK(!is_pumping_) << "a transport was destroyed inside its own callback";
  *alive_ = false;
  is_ending_ = true;
  loop_.Unwatch(runtime_.event_fd);
  for (auto& [id, link] : links_) {
    StopTimer(*link);
    if (link->state == LinkState::kOpen)
      SendControl(*link, FrameKind::kBye, link->peer_token, {}, 0);
  }
  const auto all = [this](bool (*is_done)(const Link&)) {
    for (const auto& [id, link] : links_) {
      if (!is_done(*link)) return false;
    }
    return true;
  };
  const auto drain = [&](absl::Duration limit, bool (*is_done)(const Link&)) {
    const Instant end = loop_.Now() + limit;
    while (!all(is_done) && loop_.Now() < end) {
      Progress();
      RunEvents();
    }
  };
  drain(options_.end_max, [](const Link& link) {
    return link.state != LinkState::kOpen || link.is_bye_sent || link.has_failed;
  });
  for (auto& [id, link] : links_) ForceClose(*link, absl::OkStatus());
  drain(kDrainMax, [](const Link& link) { return link.operations == 0; });
  RunEvents();
  listener_.reset();
  runtime_.worker.reset();  // no byte lands after this, whatever UCX still held
}

std::string UcxTransportImpl::profile() const {
  return options_.profile == UcxProfile::kSameHost ? "ucx/posix" : "ucx/tcp";
}

std::string UcxTransportImpl::Address() const {
  UcxAddress address;
  address.profile = static_cast<std::uint8_t>(options_.profile);
  address.instance = instance_;
  if (options_.profile == UcxProfile::kSameHost) address.worker_address = runtime_.worker_address;
  address.socket_address = listening_at_;
  return EncodeUcxAddress(address);
}

void UcxTransportImpl::Close(EndpointId endpoint) {
  Link* const link = Find(endpoint);
  if (link == nullptr) return;
  if (!std::exchange(link->is_why_set, true)) link->why = absl::OkStatus();
  AddEvent([this, endpoint] {
    if (Link* const closing = Find(endpoint)) BeginClose(*closing, absl::OkStatus());
  });
  Kick();
}

// ---- the pump ----

void UcxTransportImpl::AddEvent(Event event) { events_.push_back(std::move(event)); }

void UcxTransportImpl::Kick() {
  last_active_ = loop_.Now();
  needs_progress_ = true;
  if (!is_pumping_) PostPump();
}

void UcxTransportImpl::PostPump() {
  if (std::exchange(is_pump_posted_, true)) return;
  loop_.Post([this, alive = alive_] {
    if (!*alive) return;
    is_pump_posted_ = false;
    Pump();
  });
}

bool UcxTransportImpl::Progress() {
  bool has_moved = false;
  for (int round = 0; round < kRoundsPerPump && ucp_worker_progress(worker()) != 0; ++round) {
    has_moved = true;
  }
  return has_moved;
}

bool UcxTransportImpl::RunEvents() {
  if (events_.empty()) return false;
  running_.swap(events_);  // events that these add are for the next round
  for (Event& event : running_) event();
  running_.clear();
  return true;
}

void UcxTransportImpl::Pump() {
  is_pumping_ = true;
  needs_progress_ = false;
  const bool has_moved = Progress();
  const bool has_run = RunEvents();
  is_pumping_ = false;
  const Instant now = loop_.Now();
  // UCX's own housekeeping (keepalive) is no reason to stay awake.
  const std::uint64_t frames = stats_.messages_sent + frames_heard_;
  const bool has_traffic = std::exchange(frames_seen_, frames) != frames;
  if (has_run || has_traffic || (has_moved && loans_ > 0)) last_active_ = now;
  // Not one loop of its own: the loop's other tasks run between two looks.
  const bool has_work = has_run || needs_progress_ || !events_.empty();
  if (has_work || now - last_active_ < options_.spin) return PostPump();
  const ucs_status_t status = ucp_worker_arm(worker());
  if (status == UCS_ERR_BUSY) {
    // Shared memory has no event for "the peer's queue has room again": polling is all there is.
    // Where the peer waits for our processor, give it away.
    if (!has_moved) std::this_thread::yield();
    return PostPump();
  }
  CAIRN_CHECK(status == UCS_OK) << "ucp_worker_arm: " << ucs_status_string(status);
}

}  // namespace cairn
