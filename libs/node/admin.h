#ifndef CAIRN_LIBS_NODE_ADMIN_H_
#define CAIRN_LIBS_NODE_ADMIN_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "libs/base/ids.h"
#include "libs/node/front.h"
#include "libs/node/options.h"
#include "libs/node/root_claim.h"
#include "libs/node/shard_admin.h"
#include "libs/node/stats.h"
#include "libs/node/token_book.h"

namespace cairn {

// What the node is, for Status.
struct NodeStatus {
  BootId node_boot;
  BootId arena_boot;
  absl::Duration uptime;
  bool is_stopping = false;
  // Configuration, as it acts.
  std::uint64_t arena_bytes = 0;
  std::uint64_t segment_bytes = 0;
  std::uint64_t page_bytes = 0;  // the page size that the kernel gave the arena
  std::uint32_t shards = 0;
  bool is_dev_mode = false;
  absl::Duration pin_age_max;
  std::string remote_address;  // empty: no peers from other hosts
  NodeStats stats;
  std::vector<Front::SessionReport> sessions;
  struct RootReport {
    Root root;
    std::string model;
    std::string name_space;
    std::uint32_t sessions = 0;
    std::uint64_t entries = 0;
    std::uint64_t bytes = 0;
  };
  std::vector<RootReport> roots;  // remembered ones, at most limits::kListEntriesMax
};

// An entry, with what its numbers stand for.
struct NamedEntry {
  EntryReport entry;
  Root root;
  std::string producer;
};
struct EntryList {
  std::vector<NamedEntry> entries;
  std::string next_cursor;  // empty: this was the end
};

// Whose entries: a root by its digest or by what it is made of. Neither: all roots.
struct RootChoice {
  std::optional<Root> root;
  std::optional<RootClaim> claim;
};
struct EntryChoice {
  RootChoice root;        // with `keys`: where to look for them
  std::vector<Key> keys;  // at most limits::kKeysPerMessageMax
  bool is_all = false;    // every entry of `root`
};

struct Explanation {
  bool is_root_known =
      false;  // some session has opened it since the node started, and it is remembered
  std::uint64_t root_entries = 0;
  std::vector<KeyExplanation> keys;  // as asked
  // Other identities that could have been meant, most alike first: "identity differs in: rope".
  struct Other {
    RootId id;  // as KeyExplanation::present_under names it
    Root root;
    std::vector<std::string> differs_in;
    std::uint64_t entries = 0;
    std::uint64_t keys_present = 0;  // of those asked about
  };
  std::vector<Other> others;
};

template <class T>
using AdminDone = absl::AnyInvocable<void(absl::StatusOr<T>)>;

// NodeAdmin is what administrators may ask of a node; the gRPC service is a thin layer above it.
//
// Threads: call from any thread. `done` is called exactly once, later, on one of the node's loops:
//          finish the RPC's reactor from there, do not block there. While the node exists, also
//          when it stops; calls that come after Node::Stop began get UNAVAILABLE.
// Errors:  INVALID_ARGUMENT names the field; NOT_FOUND for a key or root that is not there;
//          RESOURCE_EXHAUSTED beyond limits::kAdminJobsMax calls at a time; FAILED_PRECONDITION for
//          OpenSession in dev mode.
// Who may call what is the service's to decide and to log.
class NodeAdmin {
 public:
  struct Needs {
    const NodeOptions& options;
    const Arena& arena;
    Loop& loop;  // the front's
    Front& front;
  };
  explicit NodeAdmin(const Needs& needs);
  ~NodeAdmin();
  NodeAdmin(const NodeAdmin&) = delete;
  NodeAdmin& operator=(const NodeAdmin&) = delete;

  void Status(AdminDone<NodeStatus> done);
  // Entries in an order that does not change while they stay, from `cursor` (empty: the start).
  void List(RootChoice root, std::string cursor, std::size_t limit, AdminDone<EntryList> done);
  // Every entry under this key: usually one; more if several roots are asked about.
  void Describe(Key key, RootChoice root, AdminDone<std::vector<NamedEntry>> done);
  // Re-hashes entries where they lie, a few at a time; what is bad is quarantined.
  void Verify(EntryChoice what, AdminDone<VerifyReport> done);
  // Pinned entries are left alone and counted.
  void Evict(EntryChoice what, AdminDone<EvictReport> done);
  // Why each key hit or did not.
  void Explain(RootChoice root, std::vector<Key> keys, AdminDone<Explanation> done);
  void OpenSession(RootClaim claim, absl::Duration ttl, AdminDone<SessionToken> done);

  // The node stops: calls from now on get UNAVAILABLE. `done` when those under way have ended.
  // Front's loop.
  void Stop(absl::AnyInvocable<void()> done);

 private:
  // Runs `call` on the front's loop as one of the calls under way, or fails `done`.
  template <class T, class F>
  void Begin(AdminDone<T> done, F call);
  void End();
  // Asks every shard, collects on the front's loop, and calls `done` with all answers, by shard.
  template <class Answer, class Ask, class Done>
  void AskShards(Ask ask, Done done);

  // Has every shard begin with its part of what was chosen, and sums the reports.
  template <class Report>
  void RunOnShards(EntryChoice what, AdminDone<Report> done,
                   absl::Status (ShardAdmin::*begin)(EntrySelection,
                                                     absl::AnyInvocable<void(Report)>));

  absl::StatusOr<std::optional<RootId>> Resolve(const RootChoice& choice) const;
  absl::StatusOr<std::vector<EntrySelection>> Select(const EntryChoice& what) const;
  NamedEntry Name(EntryReport report, ShardIndex shard) const;
  // What one shard says for Status and Explain; counts are by root, in the order asked.
  struct ShardStatus {
    ShardStats stats;
    std::vector<Index::RootCount> counts;
  };
  struct ShardExplanation {
    std::vector<KeyExplanation> keys;
    std::vector<Index::RootCount> counts;
  };
  NodeStatus StatusWith(const std::vector<RootId>& roots,
                        const std::vector<ShardStatus>& shards) const;
  void ExplainAs(const RootChoice& choice, std::vector<Key> keys, AdminDone<Explanation> done);
  void Merge(const std::vector<Key>& keys, const std::vector<RootId>& others,
             std::vector<ShardExplanation> parts, Explanation& out) const;
  void ListOn(ShardIndex shard, std::uint32_t cursor, std::size_t limit, std::optional<RootId> root,
              EntryList so_far, AdminDone<EntryList> done);

  Needs needs_;
  const Instant started_;
  std::size_t under_way_ = 0;
  bool is_stopping_ = false;
  absl::AnyInvocable<void()> on_stopped_;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_NODE_ADMIN_H_
