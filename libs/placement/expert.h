#ifndef CAIRN_LIBS_PLACEMENT_EXPERT_H_
#define CAIRN_LIBS_PLACEMENT_EXPERT_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "libs/base/bytes.h"
#include "libs/placement/line_problem.h"
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
  // An entry was stored, after its plan was made; it stands for `weight` of them.
  virtual void Expose(const EntryShape& entry, std::uint32_t weight) {}

  // Where to put new states. Positions that the entry cannot take (at or below the resume point,
  // behind its end, held already, too many) are dropped by the caller and not refunded.
  virtual std::vector<std::uint32_t> Plan(const PlanQuery& query) const = 0;

  // A plan that is nearly as good and much cheaper, for worlds that are only scored. What it saves
  // is counted as truly as what Plan saves.
  virtual std::vector<std::uint32_t> Sketch(const PlanQuery& query) const { return Plan(query); }

  // The claims that it expects of the entry over its life, to price any plan by. Rules that expect
  // nothing have none.
  virtual std::optional<LineProblem> Law(const PlanQuery& query) const { return std::nullopt; }

  // What it has learnt, as bytes, and back into one that was made alike. Load leaves the reader
  // marked bad if Save wrote something else; the expert is then of no use. One that does not
  // override them begins anew.
  virtual void Save(ByteWriter& out) const {}
  virtual void Load(ByteReader& in) {}
};

}  // namespace cairn::placement
#endif  // CAIRN_LIBS_PLACEMENT_EXPERT_H_
