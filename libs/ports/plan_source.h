#ifndef CAIRN_LIBS_PORTS_PLAN_SOURCE_H_
#define CAIRN_LIBS_PORTS_PLAN_SOURCE_H_

#include <cstdint>
#include <vector>

#include "absl/functional/any_invocable.h"

namespace cairn {

// Where shall the recurrent states of a prompt stand that is being prefilled? Depths are tokens
// from its start.
struct CheckpointQuestion {
  std::uint64_t family = 0;  // as the node said; 0: not known
  std::uint64_t length = 0;
  std::uint64_t resume_depth = 0;  // what is before it is not computed, so no state can come of it
  std::uint64_t shared_depth = 0;  // how deep an earlier prompt agrees
};

// Who chose the positions.
enum class PlanOrigin : std::uint8_t {
  kService,   // the placement service, for this question
  kCached,    // it is away: what it last said of such a prompt of this family
  kBalanced,  // it is away and never spoke of this family: evenly spaced
};
struct CheckpointPlan {
  std::vector<std::uint64_t> positions;  // ascending, in (resume_depth, length]
  PlanOrigin origin = PlanOrigin::kBalanced;
  friend bool operator==(const CheckpointPlan&, const CheckpointPlan&) = default;
};

// Threads: any. `done` comes exactly once, from any thread: who answers has a deadline (20 ms
// unless configured otherwise) and never fails.
class PlanSource {
 public:
  virtual ~PlanSource() = default;
  virtual void Ask(const CheckpointQuestion& question,
                   absl::AnyInvocable<void(CheckpointPlan)> done) = 0;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_PORTS_PLAN_SOURCE_H_
