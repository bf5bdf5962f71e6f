#ifndef CAIRN_LIBS_CLIENT_SESSION_H_
#define CAIRN_LIBS_CLIENT_SESSION_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "libs/base/instant.h"
#include "libs/client/arena_mapping.h"
#include "libs/client/client_options.h"
#include "libs/client/client_stats.h"
#include "libs/client/held_pin.h"
#include "libs/client/transport_line.h"
#include "libs/ports/local_channel.h"
#include "libs/wire/local_messages.h"
#include "libs/wire/messages.h"

namespace cairn {

class SessionEvents {
 public:
  virtual ~SessionEvents() = default;
  // The line of a profile, opened when first needed.
  virtual absl::StatusOr<TransportLine*> LineOf(TransportProfile profile) = 0;
  virtual void OnSessionUp() = 0;
  // Of a session that is up.
  virtual void OnSessionMessage(wire::Type type, absl::string_view body) = 0;
  // Once, last; `phase` is where it was. The session is dead but not yet destroyed: its owner may
  // not destroy it from inside this call.
  virtual void OnSessionEnded(const absl::Status& why, const char* phase) = 0;
};

// Session is one attempt at a session and, if it succeeds, the session: from the token to the end.
//
//   local:  token -> dial -> challenge -> welcome -> segments ─┐
//   remote: token ─────────────────────────────────────────────┴-> hello (-> proof) -> up -> ended
//
// Any wrong or unexpected word of the node ends it, as does its channel's or its endpoint's end.
// Threads: the client's loop.
class Session {
 public:
  Session(SessionSerial serial, ClientPorts& ports, ClientOptions& options, ClientStats& stats,
          SessionEvents& events);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  void Start();
  // What the line heard for this session's endpoint.
  void OnMessage(MessageType type, absl::Span<const std::byte> body);
  void OnEndpointClosed(const absl::Status& why);
  // Ends it, with its endpoint and its channel. No effect on an ended one.
  void End(const absl::Status& why);

  absl::Status Send(wire::Type type, std::string body);
  absl::Status SendBulk(wire::Type type, std::string header, absl::Span<const std::byte> bytes,
                        absl::AnyInvocable<void(absl::Status)> done);

  SessionSerial serial() const { return serial_; }
  bool is_up() const { return phase_ == Phase::kUp; }
  bool IsAt(const TransportLine& line, EndpointId endpoint) const {
    return line_ == &line && endpoint_ == endpoint;
  }
  // The arena, in a session on one host.
  const std::shared_ptr<ArenaMapping>& mapping() const { return mapping_; }
  // True if the node reads offered blocks from our pool.
  bool has_shared_pool() const { return ports_.dialer != nullptr && ports_.pool != nullptr; }
  const wire::Welcome& welcome() const { return welcome_; }
  Instant up_since() const { return up_since_; }

 private:
  enum class Phase {
    kIdle, kToken, kDial, kChallenge, kLocalWelcome, kSegments, kConnect, kHello, kUp, kEnded,
  };
  static const char* NameOf(Phase phase);

  void OnToken(absl::StatusOr<AccessToken> token);
  // The local channel (session_local.cc).
  absl::Status Dial();
  absl::Status OnLocal(LocalChannel::Message message);
  absl::Status OnLocalChallenge(absl::string_view body);
  absl::Status OnLocalWelcome(LocalChannel::Message& message);
  absl::Status OnLocalSegments(LocalChannel::Message& message);
  absl::Status AddSegments(const std::vector<wire::LocalSegment>& segments,
                           std::vector<MemoryGrant>& grants);
  absl::Status ConnectWhenMapped();
  // The endpoint.
  absl::Status DialRemote();
  absl::Status SayHello(std::string ticket);
  absl::Status OnHelloAnswer(wire::Type type, absl::string_view body);
  absl::Status OnChallenge(absl::string_view body);
  absl::Status OnWelcome(absl::string_view body);

  const SessionSerial serial_;
  ClientPorts& ports_;
  ClientOptions& options_;
  ClientStats& stats_;
  SessionEvents& events_;
  Phase phase_ = Phase::kIdle;
  std::optional<TimerId> timer_;
  // The token may come after this is gone. On the loop only.
  std::shared_ptr<Session*> self_;
  AccessToken token_;
  std::unique_ptr<LocalChannel> channel_;
  wire::LocalChallenge local_challenge_;
  wire::LocalProof local_proof_;
  wire::LocalWelcome local_welcome_;
  std::shared_ptr<ArenaMapping> mapping_;
  TransportLine* line_ = nullptr;
  EndpointId endpoint_{};
  bool has_endpoint_ = false;
  std::string hello_body_;
  std::string client_nonce_;
  wire::Welcome welcome_;
  Instant up_since_;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_CLIENT_SESSION_H_
