#ifndef CAIRN_LIBS_NODE_SHARD_ADMIN_H_
#define CAIRN_LIBS_NODE_SHARD_ADMIN_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "libs/base/ids.h"
#include "libs/index/index.h"
#include "libs/node/filler.h"
#include "libs/node/host_tier.h"
#include "libs/node/rehasher.h"
#include "libs/ports/loop.h"

namespace cairn {

// An entry as administrators see it. Times are ages: instants never leave their process.
struct EntryReport {
  IndexKey id;
  EntryKind kind = EntryKind::kKvBlock;
  std::uint64_t bytes = 0;
  Checksum checksum;
  std::uint64_t depth = 0;
  std::uint32_t shard = 0;
  Place place;
  Generation generation;
  std::optional<Key> parent;
  std::uint32_t children = 0;
  ProducerId producer;
  absl::Duration age;
  absl::Duration since_last_use;
  std::uint64_t uses = 0;
  bool is_held = false;  // pinned, sent or re-hashed now
};

struct ListReport {
  std::vector<EntryReport> entries;
  std::uint32_t next_cursor = 0;  // of this shard; 0: its end
};

// Which entries a Verify or an Evict is about: those of `keys` under any of `key_roots`, or all of
// `root`, or all.
struct EntrySelection {
  std::vector<Key> keys;
  std::vector<RootId> key_roots;
  bool is_all = false;
  std::optional<RootId> root;
};
struct VerifyReport {
  std::uint64_t checked = 0;
  std::uint64_t bad = 0;      // quarantined
  std::uint64_t missing = 0;  // keys that were asked for and are not there
  std::uint64_t skipped = 0;  // a limit, or the node stopped
};
struct EvictReport {
  std::uint64_t evicted = 0;
  std::uint64_t held = 0;  // pinned, sent or re-hashed: left alone
  std::uint64_t missing = 0;
};

// Why a key is there or not, as far as one shard knows.
struct KeyExplanation {
  enum class State : std::uint8_t { kPresent, kFilling, kGone, kNeverSeen };
  Key key;
  State state = State::kNeverSeen;
  std::optional<EntryReport> entry;       // kPresent
  std::optional<RemovalReason> gone_why;  // kGone: it was there recently
  absl::Duration gone_since;
  std::vector<RootId> present_under;  // other roots that have this very key
};

// ShardAdmin is what administrators may see and do of one shard.
// Threads: its shard's. Callbacks come there too, later or at once.
// Limits:  long walks go in steps of limits::kListEntriesMax entries, one task each; one Verify and
//          one Evict at a time, else RESOURCE_EXHAUSTED.
class ShardAdmin {
 public:
  // `on_ended` is called after the `done` of each Verify and Evict.
  ShardAdmin(HostTier& tier, Rehasher& rehasher, const Filler& filler, Loop& loop,
             absl::AnyInvocable<void()> on_ended);
  ShardAdmin(const ShardAdmin&) = delete;
  ShardAdmin& operator=(const ShardAdmin&) = delete;

  ListReport List(std::uint32_t cursor, std::size_t limit, std::optional<RootId> root) const;
  std::optional<EntryReport> Describe(const IndexKey& id) const;
  // What there is of each of `roots`.
  std::vector<Index::RootCount> CountsOf(absl::Span<const RootId> roots) const;
  KeyExplanation Explain(const IndexKey& id, absl::Span<const RootId> other_roots) const;

  absl::Status Verify(EntrySelection what, absl::AnyInvocable<void(VerifyReport)> done);
  absl::Status Evict(EntrySelection what, absl::AnyInvocable<void(EvictReport)> done);

  // Ends what is under way; `done` comes with what was achieved.
  void Stop();
  bool is_idle() const { return verify_ == nullptr && evict_ == nullptr; }
  std::uint64_t verified() const { return verified_; }

 private:
  // The entries of a selection, a step at a time.
  struct Walk {
    EntrySelection what;
    std::uint32_t cursor = 0;
    std::size_t keys_done = 0;
    bool is_at_end = false;
    std::uint64_t missing = 0;  // keys that are under none of their roots
    std::deque<IndexKey> next;
  };
  struct VerifyJob {
    Walk walk;
    VerifyReport report;
    std::size_t in_flight = 0;
    absl::AnyInvocable<void(VerifyReport)> done;
  };
  struct EvictJob {
    Walk walk;
    EvictReport report;
    absl::AnyInvocable<void(EvictReport)> done;
  };
  EntryReport ReportOf(const Entry& entry) const;
  void Refill(Walk& walk) const;
  void RefillKeys(Walk& walk) const;
  void StepVerify();
  void CheckNext(VerifyJob& job);
  void StepEvict();

  HostTier& tier_;
  Rehasher& rehasher_;
  const Filler& filler_;
  Loop& loop_;
  absl::AnyInvocable<void()> on_ended_;
  std::unique_ptr<VerifyJob> verify_;
  std::unique_ptr<EvictJob> evict_;
  std::uint64_t verified_ = 0;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_NODE_SHARD_ADMIN_H_
