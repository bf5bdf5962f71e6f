#ifndef CAIRN_LIBS_PLACEMENT_PLAN_QUERY_H_
#define CAIRN_LIBS_PLACEMENT_PLAN_QUERY_H_

#include <cstdint>
#include <vector>

namespace cairn::placement {

// What strategies are asked and told. All depths are grid positions (blocks) from the start; depth
// 0 is the empty prefix, where everything can resume.

// An entry (one stored prefix) as it was when its states were planned.
struct EntryShape {
  std::uint64_t family = 0;  // prompts that share a beginning; 0: none known
  std::uint32_t end = 0;     // the last position that a state can have
  std::uint32_t resume = 0;  // deepest state at or above `shared` then; new ones go below it
  std::uint32_t shared = 0;  // how deep it agreed with an earlier entry; 0: nothing
};

// A depth of the entry's path at which requests have parted before, without a state.
struct BranchPoint {
  std::uint32_t depth = 0;
  std::uint32_t claims = 0;             // requests that ended their agreement here, at least 1
  std::uint32_t parted_before_end = 0;  // of the first of them
};

struct PlanQuery {
  EntryShape shape;
  std::vector<BranchPoint> branches;  // ascending, in (resume, min(shared, end)]
  std::vector<std::uint32_t> held;  // depths in (resume, end] that hold a state already, ascending
  std::uint32_t states_max = 0;     // new states at most
};

// A later request agreed with an entry down to `depth`, which lies in 1 .. the entry's length.
struct Claim {
  EntryShape entry;
  std::uint32_t depth = 0;
  std::uint32_t node_claims = 0;  // requests that ended their agreement at this very node before
  std::uint32_t node_parted_before_end = 0;  // of the first of them (this one, if it is the first)
  std::uint32_t weight = 1;                  // it stands for so many claims
};

}  // namespace cairn::placement
#endif  // CAIRN_LIBS_PLACEMENT_PLAN_QUERY_H_
