#ifndef CAIRN_LIBS_INDEX_IDENTITY_TABLE_H_
#define CAIRN_LIBS_INDEX_IDENTITY_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "libs/base/ids.h"

namespace cairn {

// One thing that a root is made of: "rope", "namespace", "block_tokens", … Views: copied as needed.
struct IdentityField {
  absl::string_view name;
  absl::string_view value;
  bool is_secret = false;  // a salt: compared, never shown
};

// A field as remembered: `shown` is the value's start, escaped for print, empty if secret.
struct KnownField {
  std::string name;
  std::string shown;
  Digest256 digest;
};
struct KnownRoot {
  RootId id;
  Root root;
  std::vector<KnownField> fields;
  std::uint32_t sessions = 0;
  std::uint64_t last_change = 0;  // when a session of it last came or went, counted in changes
};

// IdentityTable numbers roots (a RootId stands for 32 bytes in every index key) and remembers what
// each is made of, so that a miss can be explained: "identity differs in: rope".
//
// Invariants:
//   1. While a root is remembered it has one number; a number is never given to another root.
//   2. A root with an open session is remembered.
//   3. At most `roots_max` are remembered: at the limit the one that has been without a session for
//      the longest time is forgotten. Its entries can then no longer be found, and age out.
// Threads: one owner: the thread that handles HELLO; one table per node, for all shards.
class IdentityTable {
 public:
  struct Options {
    std::size_t roots_max = 0;  // Required.
  };
  // How another remembered root differs: names of fields, in the order in which they were given.
  struct Difference {
    RootId other;
    std::vector<std::string> fields;
  };

  explicit IdentityTable(const Options& options);

  // A session of `root` begins. INVALID_ARGUMENT beyond kIdentityFieldsMax or
  // kIdentityFieldBytesMax; RESOURCE_EXHAUSTED if every remembered root has a session.
  absl::StatusOr<RootId> Open(const Root& root, absl::Span<const IdentityField> fields);
  // It ended.
  void Close(RootId id);

  // nullptr if it was never seen, or is forgotten.
  const KnownRoot* Find(const Root& root) const;
  const KnownRoot* Find(RootId id) const;

  // The other remembered roots, most alike first (fewest fields that differ, then the latest one to
  // open first), at most `most`.
  std::vector<Difference> MostAlike(RootId id, std::size_t most) const;
  // The same for an identity that need not be remembered, and is not by this.
  std::vector<Difference> MostAlike(absl::Span<const IdentityField> fields, std::size_t most) const;
  // All that are remembered, ascending.
  std::vector<RootId> Ids() const;
  std::size_t size() const { return by_id_.size(); }

 private:
  bool ForgetOne();
  std::vector<Difference> MostAlikeTo(absl::Span<const KnownField> fields, RootId except,
                                      std::size_t most) const;

  const Options options_;
  absl::btree_map<RootId, KnownRoot> by_id_;
  absl::flat_hash_map<Root, RootId> by_root_;      // never iterated
  absl::btree_map<std::uint64_t, RootId> closed_;  // by last_change: roots without a session
  std::uint32_t last_id_ = 0;
  std::uint64_t changes_ = 0;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_INDEX_IDENTITY_TABLE_H_
