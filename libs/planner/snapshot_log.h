#ifndef CAIRN_LIBS_PLANNER_SNAPSHOT_LOG_H_
#define CAIRN_LIBS_PLANNER_SNAPSHOT_LOG_H_

#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "libs/ports/generation_store.h"

namespace cairn::planner {

// SnapshotLog keeps the last two snapshots in a store, each one value with its number, its length
// and a checksum over all of that: what comes back is a snapshot as it was written, or nothing.
// Threads: one at a time; calls block on the store.
class SnapshotLog {
 public:
  static constexpr std::uint64_t kKept = 2;

  explicit SnapshotLog(GenerationStore& store) : store_(store) {}

  struct Opened {
    std::uint64_t generation = 0;  // that was taken; 0: none
    std::string skipped;           // what newer ones had to be passed over, and why; for people
  };
  // Offers snapshots to `take`, the newest first, until it takes one; damaged ones are not offered.
  // Errors are the store's.
  absl::StatusOr<Opened> Open(absl::FunctionRef<absl::Status(absl::string_view)> take);

  // Writes the next generation, then removes all but the last two. Returns its number. After Open.
  absl::StatusOr<std::uint64_t> Write(absl::string_view snapshot);

 private:
  GenerationStore& store_;
  std::uint64_t newest_ = 0;  // that was ever seen, readable or not
};

}  // namespace cairn::planner
#endif  // CAIRN_LIBS_PLANNER_SNAPSHOT_LOG_H_
