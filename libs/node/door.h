#ifndef CAIRN_LIBS_NODE_DOOR_H_
#define CAIRN_LIBS_NODE_DOOR_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "libs/base/ids.h"
#include "libs/base/instant.h"
#include "libs/base/strong_id.h"
#include "libs/node/arena.h"
#include "libs/node/lanes.h"
#include "libs/node/options.h"
#include "libs/node/root_claim.h"
#include "libs/node/stats.h"
#include "libs/node/token_book.h"
#include "libs/ports/local_channel.h"
#include "libs/ports/loop.h"
#include "libs/ports/memory.h"
#include "libs/wire/local_messages.h"
#include "libs/wire/messages.h"

namespace cairn {

// What a finished hand-shake proved: the peer knows a token that allows this root.
struct Admitted {
  Peer peer;
  PeerProcess process;               // zero for a peer on another host
  bool is_same_host = false;         // it holds the arena's descriptors
  std::unique_ptr<PeerMemory> pool;  // what it offers from; null if it granted none
  Root root;
  RootClaim claim;
  std::uint64_t block_bytes = 0;
  std::string producer;
};

// Who decides on admission and hears of a local channel's end.
class DoorHost {
 public:
  virtual ~DoorHost() = default;
  virtual bool HasRoom() const = 0;
  // Opens the session; `welcome` comes with result and root set, and leaves as it shall be sent.
  // RESOURCE_EXHAUSTED: there is no session.
  virtual absl::Status OnAdmitted(Admitted admitted, wire::Welcome& welcome) = 0;
  // The local channel of an admitted peer has ended, and with it the session.
  virtual void OnChannelEnded(Peer peer) = 0;
};

// Door turns strangers into admitted peers: the hand-shake on local channels, then HELLO on the
// endpoint, or HELLO, CHALLENGE and PROOF for a peer from another host.
//
// Invariants:
//   1. No grant and no endpoint before the peer has proved that it knows a live token, and no
//      session before HELLO named a root that this token allows.
//   2. A ticket is good for one HELLO, on the endpoint that was made for its channel.
//   3. Before HELLO an endpoint may send one message of at most limits::kFirstMessageBytesMax;
//      anything else, and anything malformed, closes it.
//   4. At most hello_pending_max hand-shakes at a time, each at most hello_deadline long.
// Ownership: local channels, to the end of the session (EndChannel).
// Threads:   the transport loop.
class Door {
 public:
  struct Needs {
    const NodeOptions& options;
    BootId node_boot;
    const Arena& arena;
    MemorySource& memory;
    Loop& loop;
    Lanes& lanes;
    TokenBook& tokens;
    FrontStats& stats;
    DoorHost& host;
  };
  explicit Door(const Needs& needs);
  ~Door();
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;

  void OnChannel(std::unique_ptr<LocalChannel> channel);
  void OnAccepted(Peer peer);
  // A message from an endpoint that has no session.
  void OnMessage(Peer peer, MessageType type, absl::string_view body);
  // Bulk or any other breach by an endpoint that has no session.
  void Refuse(Peer peer, HelloRefusal why);
  void OnClosed(Peer peer);
  void EndChannel(Peer peer);  // closes an admitted peer's local channel, if it has one
  // From now on every newcomer is refused with kStopping; those half-way are closed.
  void Stop();

 private:
  using CallerId = StrongId<struct CallerIdTag, std::uint64_t>;
  enum class Stage { kAwaitProof, kAwaitHello, kAwaitRemoteProof, kAdmitted, kRefused };
  // Someone at the door: a local channel, an endpoint, or both.
  struct Caller {
    Stage stage = Stage::kAwaitHello;
    std::unique_ptr<LocalChannel> channel;
    bool has_peer = false;
    Peer peer;
    TimerId deadline;
    std::string token_id;  // proved on the channel, or claimed by a remote HELLO
    std::string ticket;
    wire::LocalChallenge challenge;
    std::unique_ptr<PeerMemory> pool;
    std::string node_nonce;  // remote
    std::string hello_body;  // remote: what PROOF is over
  };

  CallerId AddCaller(Caller caller);
  void OnChannelMessage(CallerId id, LocalChannel::Message message);
  void OnChannelClosed(CallerId id);
  // The token's secret.
  absl::StatusOr<std::string> CheckProof(const Caller& caller, const wire::LocalProof& proof,
                                         HelloRefusal& why);
  absl::Status TakePool(Caller& caller, const wire::LocalProof& proof,
                        LocalChannel::Message& message);
  absl::Status SendWelcome(Caller& caller, const wire::LocalProof& proof, absl::string_view secret,
                           absl::string_view address);
  void RefuseLocal(CallerId id, HelloRefusal why, absl::string_view text);

  void OnHello(CallerId id, Caller& caller, absl::string_view body);
  void OnRemoteProof(CallerId id, Caller& caller, absl::string_view body);
  void Admit(CallerId id, Caller& caller, const wire::Hello& hello);
  void RefuseHello(CallerId id, HelloRefusal why, wire::WelcomeResult result,
                   absl::string_view text);
  absl::Status CheckHello(const wire::Hello& hello) const;

  void EndPending(Caller& caller);  // it no longer counts as a pending hand-shake
  void Drop(CallerId id);           // closes channel and endpoint
  bool IsFull() const;
  void CountRefusal(HelloRefusal why, absl::string_view text);

  Needs needs_;
  bool stopping_ = false;
  std::uint64_t next_caller_ = 1;
  std::map<CallerId, Caller> callers_;
  std::map<Peer, CallerId> by_peer_;
};

// The answer that tells a peer of a refusal.
wire::WelcomeResult WelcomeResultOf(HelloRefusal why);

}  // namespace cairn
#endif  // CAIRN_LIBS_NODE_DOOR_H_
