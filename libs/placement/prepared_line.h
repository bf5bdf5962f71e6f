#ifndef CAIRN_LIBS_PLACEMENT_PREPARED_LINE_H_
#define CAIRN_LIBS_PLACEMENT_PREPARED_LINE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "libs/placement/line_problem.h"

namespace cairn::placement {

// A checked LineProblem as the solvers want it: atoms of weight 0 gone, costs counted from the
// base, weights summed up, and held states turned into the places where a new free facility takes
// over. Atom j of the algorithms (1 .. K) is index j - 1 here.
struct PreparedLine {
  // From atom index `atom` on, resuming at `cost` is free. The first one is {0, cost of the base =
  // 0} or a held state at or above every atom.
  struct Start {
    std::uint32_t atom = 0;
    std::int64_t cost = 0;
  };

  std::vector<std::uint32_t> depths;
  std::vector<std::int64_t> costs;   // above base_cost
  std::vector<std::int64_t> before;  // before[j]: weight of the first j atoms; K + 1 of them
  std::vector<Start> starts;         // strictly ascending by atom, costs nondecreasing
  std::int64_t total = 0;            // sum of weight x cost: what no state at all would cost
  bool is_narrow = true;             // every product fits 64 bits (limits::kNarrowMax)

  std::size_t size() const { return depths.size(); }
  std::int64_t weight(std::size_t index) const { return before[index + 1] - before[index]; }
  // The start in force for the atom at `index`.
  const Start& StartOf(std::size_t index) const;
  // What held states alone save for the first j atoms, for every j: row 0 of the recurrence.
  std::vector<std::int64_t> SavedByHeld() const;
};

// Fails as ValidateLine does. O(K + H).
absl::StatusOr<PreparedLine> PrepareLine(const LineProblem& problem);

}  // namespace cairn::placement
#endif  // CAIRN_LIBS_PLACEMENT_PREPARED_LINE_H_
