#ifndef CAIRN_LIBS_NODE_REHASHER_H_
#define CAIRN_LIBS_NODE_REHASHER_H_

#include <cstdint>
#include <map>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "libs/base/ids.h"
#include "libs/node/host_tier.h"
#include "libs/pin/pin_table.h"
#include "libs/ports/copier.h"
#include "libs/ports/loop.h"

namespace cairn {

// Rehasher sums a stored entry's bytes once more, and quarantines it if the sum is wrong: the only
// way into quarantine, so that no peer's word can remove an entry.
//
// Invariants: the slot is held from the call to the completion, so what is summed is what was asked
//             about; the verdict is about those bytes also if the entry was evicted meanwhile.
// Threads: one owner shard.
// Limits:  jobs_max at a time, then RESOURCE_EXHAUSTED.
class Rehasher {
 public:
  // `loop` gives the time; all outlive this, which outlives the copier's jobs (is_idle).
  // `after_each` is called after each job's `done`.
  struct Needs {
    HostTier& tier;
    Copier& copier;
    const Loop& loop;
    std::uint32_t jobs_max = 0;
  };
  Rehasher(const Needs& needs, absl::AnyInvocable<void()> after_each);

  // Calls `done` later, with whether the bytes are sound; a bad entry is quarantined by then.
  absl::Status Check(const Entry& entry, absl::AnyInvocable<void(bool is_sound)> done);

  bool is_idle() const { return jobs_.empty(); }
  std::size_t jobs() const { return jobs_.size(); }

 private:
  struct Job {
    SlotHold hold;
    Checksum expected;
    absl::AnyInvocable<void(bool)> done;
  };
  void OnSum(std::uint64_t job, Checksum sum);

  const Needs needs_;
  absl::AnyInvocable<void()> after_each_;
  std::map<std::uint64_t, Job> jobs_;
  std::uint64_t last_job_ = 0;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_NODE_REHASHER_H_
