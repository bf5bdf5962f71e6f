#ifndef CAIRN_LIBS_NODE_READ_PATH_H_
#define CAIRN_LIBS_NODE_READ_PATH_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <vector>

#include "absl/types/span.h"
#include "libs/base/ids.h"
#include "libs/base/instant.h"
#include "libs/node/lanes.h"
#include "libs/node/node_session.h"
#include "libs/node/options.h"
#include "libs/node/overlap_watch.h"
#include "libs/node/shard.h"
#include "libs/node/shard_messages.h"
#include "libs/node/stats.h"
#include "libs/ports/loop.h"
#include "libs/wire/messages.h"

namespace cairn {

// ReadPath is the front's half of ACQUIRE, RELEASE, SUSPECT and PULL: it scatters keys to shards,
// chooses one consistent cut of what they have pinned, and sends DATA.
//
// Invariants:
//   1. What an ACQUIRED names is pinned on its shards until RELEASE, age, or the session's end;
//   what
//      it does not name is not.
//   2. A session has at most pins_per_session_max keys pinned, over all shards, once its ACQUIREs
//      are answered; keys beyond are answered as misses.
//   3. A DATA that is queued or in flight holds its slot on its shard, whatever becomes of the pin.
//   4. At most sends_per_session_max DATA of a session are in flight; what is queued past its
//      deadline is answered PULL_FAILED, never sent.
// Threads: the front's loop.
class ReadPath {
 public:
  struct Needs {
    const NodeOptions& options;
    Loop& loop;
    Lanes& lanes;
    FrontStats& stats;
    const std::vector<std::unique_ptr<Shard>>& shards;
    OverlapWatch* overlaps = nullptr;  // null: nobody learns where prompts part
  };
  explicit ReadPath(const Needs& needs);
  ~ReadPath();
  ReadPath(const ReadPath&) = delete;
  ReadPath& operator=(const ReadPath&) = delete;

  void BeginSession(const NodeSession& session);
  // Gives back all that waits here. The shards are told by the caller.
  void EndSession(SessionId session);

  void OnAcquire(const NodeSession& session, wire::Acquire message,
                 wire::AcquireResult refuse_with);
  void OnRelease(const NodeSession& session, const wire::Release& message);
  void OnSuspect(const NodeSession& session, const wire::Suspect& message);
  void OnPull(const NodeSession& session, const wire::Pull& message);

  void OnAcquiredPart(AcquiredPart part);
  void OnHeldPart(HeldPart part);

  // For Status.
  std::uint64_t PinnedKeysOf(SessionId session) const;

 private:
  struct PinnedAt {
    std::uint32_t index = 0;
    ShardIndex shard = 0;
  };
  struct PinRecord {
    std::vector<PinnedAt> keys;  // ascending by index
    Instant ends;
  };
  struct QueuedSend {
    RequestId request;
    std::uint32_t index = 0;
    ShardIndex shard = 0;
    HoldId hold;
    absl::Span<const std::byte> bytes;
    Checksum checksum;
    Instant deadline;
  };
  struct Reader {
    Peer peer;
    bool is_same_host = false;
    std::uint32_t block_tokens = 0;
    std::uint64_t last_pin = 0;
    std::uint64_t pinned_keys = 0;
    std::map<PinId, PinRecord> pins;
    std::size_t gathers = 0;
    std::deque<QueuedSend> queue;
    std::uint32_t in_flight = 0;
    TimerId sweep;  // set while the queue is not empty
    bool has_sweep = false;
  };
  // An ACQUIRE whose shards have not all answered.
  struct Gather {
    SessionId session;
    RequestId request;
    PinId pin;
    Instant deadline;
    wire::Want want = wire::Want::kPlace;
    bool is_hybrid = false;
    std::uint64_t resume_depth_max = 0;
    std::vector<EntryKind> kinds;
    OverlapWatch::Seen seen;
    std::uint32_t parts_left = 0;
    std::uint32_t capped = 0;
    struct Hit {
      wire::Descriptor descriptor;
      ShardIndex shard = 0;
    };
    std::vector<Hit> hits;
  };

  void Scatter(const NodeSession& session, GatherId id, const Gather& gather,
               absl::Span<const Key> keys);
  void Finish(Gather gather, Reader& reader);
  void ReleaseUnkept(const Gather& gather, const std::vector<bool>& is_kept);
  void RecordPin(const Gather& gather, Reader& reader, const std::vector<bool>& is_kept);
  void ReleasePin(SessionId session, Reader& reader, PinId pin);
  absl::Duration PinDuration(const Reader& reader) const;
  void ArmPins();
  void ExpirePins();

  void Pull(SessionId session, const Reader& reader, const wire::Pull& message, Instant deadline);
  void FailPull(Peer peer, RequestId request, std::uint32_t index, wire::PullFailure why);
  void DropHold(ShardIndex shard, HoldId hold);
  void Pump(SessionId session);
  void SendNow(SessionId session, Reader& reader, const QueuedSend& send);
  void SweepLater(SessionId session, Reader& reader);
  void Sweep(SessionId session);
  Instant DeadlineOf(std::uint64_t remaining_us) const;

  template <class F>
  void PostTo(ShardIndex shard, F call) {
    Shard& to = *needs_.shards[shard];
    to.loop().Post([&to, call = std::move(call)]() mutable { call(to); });
  }

  Needs needs_;
  std::map<SessionId, Reader> readers_;
  std::map<GatherId, Gather> gathers_;
  std::uint64_t last_gather_ = 0;
  std::set<std::tuple<Instant, SessionId, PinId>> pins_by_end_;
  TimerId pin_timer_;
  Instant pins_armed_ = Instant::Infinite();
};

}  // namespace cairn
#endif  // CAIRN_LIBS_NODE_READ_PATH_H_
