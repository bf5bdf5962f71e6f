#ifndef CAIRN_LIBS_NODE_SHARD_H_
#define CAIRN_LIBS_NODE_SHARD_H_

#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "libs/base/ids.h"
#include "libs/base/instant.h"
#include "libs/node/arena.h"
#include "libs/node/filler.h"
#include "libs/node/host_tier.h"
#include "libs/node/options.h"
#include "libs/node/rehasher.h"
#include "libs/node/shard_admin.h"
#include "libs/node/shard_messages.h"
#include "libs/node/stats.h"
#include "libs/ports/copier.h"
#include "libs/ports/loop.h"

namespace cairn {

// Shard is one slice of the index with whole segments of the arena, on one loop. It does what the
// front asks, and answers by posting to the front's loop.
//
// Invariants:
//   1. Its state is touched on its own loop only; both directions go by Loop::Post, in order.
//   2. An ACQUIRE's hits are pinned before they are answered.
//   3. After EndSession nothing of that session is pinned or filled here, and what still moves is
//      counted until OnSessionEnded.
// Threads: its loop, but for construction and destruction (no task of it may be left: after
//          OnShardStopped, or when its loop has stopped for good).
class Shard final : private ChildMessages, private FillerReplies {
 public:
  struct Needs {
    const NodeOptions& options;
    const Arena& arena;
    Loop& loop;
    Copier& copier;
    Loop& front_loop;
    ShardReplies& front;
  };
  // The shard that has the index slice of a key: for messages between shards.
  using Sibling = std::function<Shard&(ShardIndex)>;

  Shard(ShardIndex index, const Needs& needs, absl::Span<const SegmentId> segments,
        Sibling sibling);
  Shard(const Shard&) = delete;
  Shard& operator=(const Shard&) = delete;

  Loop& loop() { return needs_.loop; }

  // ---- read path ----
  void Acquire(AcquirePart part);
  // Takes keys off a pin: what the gatherer's cut leaves out.
  void ReleaseKeys(SessionId session, PinId pin, absl::Span<const std::uint32_t> indices);
  void Release(SessionId session, absl::Span<const PinId> pins);
  void Suspect(SessionId session, PinId pin, std::uint32_t index);
  void Hold(HoldPart part);
  void DropHold(HoldId hold);

  // ---- write path ----
  void Offer(OfferPart part);
  void LandingEnded(FillId fill, const absl::Status& status);

  // ---- both ----
  void EndSession(SessionId session);
  // Nothing new will be asked. OnShardStopped comes when nothing moves any more.
  void Stop();

  void AddChild(const IndexKey& parent, std::uint64_t child_depth) {
    tier_.AddChild(parent, child_depth);
  }
  void DropChild(const IndexKey& parent) { tier_.DropChild(parent); }

  ShardStats Snapshot() const;
  ShardAdmin& admin() { return admin_; }
  // Of the slot's first byte, in its segment.
  std::uint64_t OffsetOf(Place place) const { return tier_.pool().OffsetOf(place); }

 private:
  // ChildMessages
  bool IsHere(const Key& key) const override;
  void SendAddChild(const IndexKey& parent, std::uint64_t child_depth) override;
  void SendDropChild(const IndexKey& parent) override;
  // FillerReplies
  void OnVerdicts(OfferVerdicts verdicts) override;
  void OnResult(const Offerer& offerer, wire::StoreResult result) override;
  void OnContest(ConflictReport report) override;
  void OnSessionIdle(SessionId session) override;
  void OnSlotCameBack() override { MaybeStopped(); }

  template <class F>
  void Tell(F call) {
    needs_.front_loop.Post(
        [&front = needs_.front, call = std::move(call)]() mutable { call(front); });
  }
  const Entry* FindPinned(SessionId session, PinId pin, std::uint32_t index);
  void FlushResults();
  // Sets the timer to the next expiry of a pin or a fill.
  void Arm();
  void OnTimer();
  void MaybeStopped();

  const ShardIndex index_;
  Needs needs_;
  const Sibling sibling_;
  HostTier tier_;  // first: slots and pins outlive all that holds or fills them
  Rehasher rehasher_;
  Filler filler_;
  ShardAdmin admin_;
  std::map<HoldId, SlotHold> holds_;
  std::uint64_t last_hold_ = 0;
  std::map<std::pair<SessionId, RequestId>, std::vector<wire::StoredEntry>> results_;
  TimerId timer_;
  Instant armed_ = Instant::Infinite();
  bool is_stopping_ = false;
  bool is_stopped_ = false;
  ShardStats counters_;  // those that none of the parts keeps
};

}  // namespace cairn
#endif  // CAIRN_LIBS_NODE_SHARD_H_
