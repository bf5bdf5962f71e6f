#ifndef CAIRN_LIBS_NODE_FRONT_H_
#define CAIRN_LIBS_NODE_FRONT_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "libs/base/ids.h"
#include "libs/index/identity_table.h"
#include "libs/index/producer_names.h"
#include "libs/node/arena.h"
#include "libs/node/door.h"
#include "libs/node/lanes.h"
#include "libs/node/node_session.h"
#include "libs/node/options.h"
#include "libs/node/overlap_watch.h"
#include "libs/node/ports.h"
#include "libs/node/read_path.h"
#include "libs/node/shard.h"
#include "libs/node/stats.h"
#include "libs/node/token_book.h"
#include "libs/node/write_path.h"

namespace cairn {

// Front is the node's transport thread: it owns the sessions, hands each message to the path that
// it belongs to, and the shards' answers back.
//
// Invariants:
//   1. A session has one root, fixed by HELLO; every key that reaches a shard goes under its
//   number.
//   2. A session ends with its endpoint or its local channel, whichever ends first. Its pins,
//   offers
//      and queued sends end at once; its record when nothing moves for it any more.
//   3. A malformed message ends its session: nothing that cannot be decoded has an effect.
// Threads: the transport loop, but for construction; see Node for destruction.
class Front final : private PeerReceiver, private DoorHost, private ShardReplies {
 public:
  struct Needs {
    const NodeOptions& options;
    NodePorts& ports;
    const Arena& arena;
  };
  explicit Front(const Needs& needs);
  ~Front() override;
  Front(const Front&) = delete;
  Front& operator=(const Front&) = delete;

  absl::Status Start();
  // A gate: refuses what is new, ends the sessions, waits for what moves, then calls `done`.
  void Stop(absl::AnyInvocable<void()> done);

  // For NodeAdmin.
  struct SessionReport {
    SessionId id;
    std::string producer;
    Root root;
    LaneKind lane = LaneKind::kSameUser;
    PeerProcess process;
    absl::Duration age;
    std::uint64_t pool_bytes = 0;
    std::uint64_t pinned_keys = 0;
    std::uint64_t open_offers = 0;
  };
  std::vector<SessionReport> ReportSessions() const;
  FrontStats Snapshot() const;
  const std::vector<std::unique_ptr<Shard>>& shards() const { return shards_; }
  const IdentityTable& identities() const { return identities_; }
  const ProducerNames& producers() const { return producers_; }
  TokenBook& tokens() { return tokens_; }
  BootId boot() const { return boot_; }
  const std::string& remote_address() const { return remote_address_; }
  const Arena& arena() const { return needs_.arena; }
  bool is_stopping() const { return is_stopping_; }

 private:
  // PeerReceiver
  void OnAccepted(Peer peer) override;
  void OnMessage(Peer peer, MessageType type, absl::Span<const std::byte> body) override;
  std::optional<Landing> OnBulk(Peer peer, MessageType type, absl::Span<const std::byte> header,
                                std::uint64_t bytes) override;
  void OnBulkLanded(Peer peer, LandingId landing, const absl::Status& status) override;
  void OnClosed(Peer peer, const absl::Status& why) override;
  // DoorHost
  bool HasRoom() const override;
  absl::Status OnAdmitted(Admitted admitted, wire::Welcome& welcome) override;
  void OnChannelEnded(Peer peer) override;
  // ShardReplies
  void OnAcquiredPart(AcquiredPart part) override;
  void OnHeldPart(HeldPart part) override;
  void OnOfferVerdicts(OfferVerdicts verdicts) override;
  void OnOfferResults(OfferResults results) override;
  void OnConflict(ConflictReport report) override;
  void OnSessionEnded(ShardIndex shard, SessionId session) override;
  void OnShardStopped(ShardIndex shard) override;

  // Null: no session, or one that is ending.
  NodeSession* Find(Peer peer);
  NodeSession* Find(SessionId id);
  absl::Status Dispatch(NodeSession& session, wire::Type type, absl::string_view body);
  void EndSession(NodeSession& session, absl::string_view why);
  void MaybeForget(SessionId id);
  void MaybeStopShards();
  void FinishStop();

  Needs needs_;
  const BootId boot_;
  TokenBook tokens_;
  IdentityTable identities_;
  ProducerNames producers_;
  FrontStats stats_;
  std::vector<std::unique_ptr<Shard>> shards_;
  std::map<SessionId, NodeSession> sessions_;
  std::map<Peer, SessionId> by_peer_;
  std::uint64_t last_session_ = 0;
  std::uint64_t live_sessions_ = 0;
  std::string remote_address_;

  bool is_stopping_ = false;
  bool are_shards_stopping_ = false;
  std::uint32_t shards_stopped_ = 0;
  absl::AnyInvocable<void()> on_stopped_;

  // The paths, then the door, and last, to go first, the transports: their end calls nothing.
  std::unique_ptr<Lanes> lanes_holder_;
  Lanes& lanes_;
  std::unique_ptr<OverlapWatch> overlaps_;  // null: nobody learns where prompts part
  ReadPath read_;
  WritePath write_;
  Door door_;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_NODE_FRONT_H_
