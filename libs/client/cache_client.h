#ifndef CAIRN_LIBS_CLIENT_CACHE_CLIENT_H_
#define CAIRN_LIBS_CLIENT_CACHE_CLIENT_H_

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "libs/client/backoff.h"
#include "libs/client/call_context.h"
#include "libs/client/calls.h"
#include "libs/client/client_options.h"
#include "libs/client/client_stats.h"
#include "libs/client/gate.h"
#include "libs/client/session.h"
#include "libs/client/transport_line.h"

namespace cairn {

class AcquireCalls;
class BlockVerifier;
class OfferCalls;
class PullCalls;
class ReleaseQueue;

// CacheClient is the only way to a node: match, pin, read or pull, offer. It keeps one session,
// opens it again in the background when it is lost, and turns every failure into misses: no call
// here returns an error, none outlives its deadline, and none fails because of the node.
//
// Threads:   one loop. Every call comes from its thread; callbacks run on it, never inside the call
//            that asked. Other threads post to the loop. HeldPin, HitBlock and ArenaMapping are
//            good on any thread.
// Ownership: what is on loan (targets of pulls, offered blocks) is the caller's again when its
//            callback says so, and not before.
// Limits:    calls_max calls, offered_bytes_max bytes on offer; beyond, the answer is kBusy or
//            kCapped at once.
class CacheClient final : private PinReleaser, private SessionEvents, private LineEvents {
 public:
  CacheClient(ClientPorts ports, ClientOptions options);
  CacheClient(const CacheClient&) = delete;
  CacheClient& operator=(const CacheClient&) = delete;
  // Never started, stopped, or abandoned.
  ~CacheClient();

  // Begins to open a session. Until there is one, calls are answered kOffline.
  void Start();
  // The gate: refuses new calls, ends the session (every call is answered), and calls `done` when
  // every loan has ended and every callback has run. Once.
  void Stop(absl::AnyInvocable<void()> done);
  // Simulation's kill -9: the loop has crashed and runs nothing more; destroy this next.
  void Abandon();

  // Asks for `request.keys`. `done` gets one answer per key, at the latest at the deadline.
  void Acquire(AcquireRequest request, AcquireDone done);
  // Fetches entries that an Acquire found in a session without an arena. `pin` is its pin, of this
  // session (else everything is kLost), held until `done`. `done` gets a result per item.
  void Pull(const HeldPin& pin, std::vector<PullItem> items, Instant deadline, PullDone done);
  // Offers blocks. `each` is called once per block, by the deadline; over the network a transfer
  // under way at the deadline is waited for.
  void Offer(std::vector<OfferBlock> blocks, Instant deadline, OfferDone each);

  bool has_session() const { return context_.session != nullptr; }
  // The same for any thread; the answer may be old when it comes.
  bool is_connected() const { return is_connected_.load(std::memory_order_relaxed); }
  const ClientStats& stats() const { return stats_; }

 private:
  // PinReleaser
  void ReleasePin(SessionSerial session, PinId pin) override;
  // SessionEvents
  absl::StatusOr<TransportLine*> LineOf(TransportProfile profile) override;
  void OnSessionUp() override;
  void OnSessionMessage(wire::Type type, absl::string_view body) override;
  void OnSessionEnded(const absl::Status& why, const char* phase) override;
  // LineEvents
  void OnLineMessage(TransportLine& line, EndpointId from, MessageType type,
                     absl::Span<const std::byte> body) override;
  std::optional<Landing> OnLineBulk(TransportLine& line, EndpointId from, MessageType type,
                                    absl::Span<const std::byte> header,
                                    std::uint64_t bytes) override;
  void OnLineLanded(LandingId landing, const absl::Status& status) override;
  void OnLineClosed(TransportLine& line, EndpointId endpoint, const absl::Status& why) override;

  void Attempt();
  void AttemptLater();
  absl::Status Dispatch(wire::Type type, absl::string_view body);
  void CompareBoots();
  bool IsCurrent(const TransportLine& line, EndpointId endpoint) const;

  ClientPorts ports_;
  ClientOptions options_;
  ClientStats stats_;
  Gate gate_;
  Backoff backoff_;
  std::shared_ptr<PinHome> home_;
  CallContext context_;
  std::unique_ptr<ReleaseQueue> releases_;
  std::unique_ptr<BlockVerifier> verifier_;
  std::unique_ptr<PullCalls> pulls_;
  std::unique_ptr<AcquireCalls> acquires_;
  std::unique_ptr<OfferCalls> offers_;
  std::array<std::unique_ptr<TransportLine>, 3> lines_;  // by TransportProfile
  std::unique_ptr<Session> session_;                     // an attempt, or the live one
  std::atomic<bool> is_connected_{false};
  std::uint64_t sessions_begun_ = 0;
  std::optional<BootId> last_node_;
  std::optional<BootId> last_arena_;
  TimerId retry_{};
  bool is_retrying_ = false;  // retry_ will run
  bool is_proven_ = false;    // this session's node has said something sensible
  bool is_started_ = false;
  bool is_stopping_ = false;
  bool is_abandoned_ = false;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_CLIENT_CACHE_CLIENT_H_
