#ifndef CAIRN_LIBS_PLACEMENT_EXPERT_H_
#define CAIRN_LIBS_PLACEMENT_EXPERT_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "libs/placement/plan_query.h"

namespace cairn::placement {

// Expert is one way to answer "where should this entry's states stand?". It learns from claims and
// exposures and plans on whatever states the query says are there: its own shadow world's, or the
// real ones.
//
// Threads: one owner. Nothing fails: callers give checked values (expert_panel.h).
class Expert {
 public:
  virtual ~Expert() = default;
  virtual std::string_view name() const = 0;

  // A later request met an entry. Entries nobody ever comes back to count as well: Expose.
  virtual void Observe(const Claim& claim) {}
  // An entry was stored, after its plan was made.
  virtual void Expose(const EntryShape& entry) {}

  // Where to put new states. Positions that the entry cannot take (at or below the resume point,
  // behind its end, held already, too many) are dropped by the caller and not refunded.
  virtual std::vector<std::uint32_t> Plan(const PlanQuery& query) const = 0;
};

}  // namespace cairn::placement
#endif  // CAIRN_LIBS_PLACEMENT_EXPERT_H_
