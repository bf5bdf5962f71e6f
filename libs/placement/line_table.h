#ifndef CAIRN_LIBS_PLACEMENT_LINE_TABLE_H_
#define CAIRN_LIBS_PLACEMENT_LINE_TABLE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "libs/placement/line_cells.h"
#include "libs/placement/line_problem.h"
#include "libs/placement/prepared_line.h"

namespace cairn::placement {

// One law solved once, for prefixes of every length. A prefix of usable length L sees the CENSORED
// law: whoever would go deeper overlaps exactly L. (The recurrence cut off at L forgets those
// claims and is wrong by much: weights 5 at depth 2 and 9 at depth 9, L = 6, one state: it costs 36
// where a state at 6 costs 10.) Its optimum differs from the recurrence in the last step only:
//   min over s of dp[m-1][s-1] + w(s, j) + (P_N - P_j) (g(L) - g(x_s)),  s <= j or s = L itself.
//
// Memory: 12 K M bytes. Threads: immutable once made. Ties as SolveLine.
class LineTable {
 public:
  // O(K M). INVALID_ARGUMENT as SolveLine.
  static absl::StatusOr<std::unique_ptr<LineTable>> Create(const LineProblem& problem,
                                                           std::uint32_t states_max);
  LineTable(const LineTable&) = delete;
  LineTable& operator=(const LineTable&) = delete;

  // The optimum for a prefix of usable length `depth`, where g is `cost`, with at most `states` new
  // states (more than states_max means that). Equal to SolveLine(CensorLine(problem, depth, cost)),
  // in O(K log M). Held states below `depth` are not there for it. INVALID_ARGUMENT: `cost`
  // contradicts the costs on both sides.
  absl::StatusOr<LinePlan> PlanAt(std::uint32_t depth, std::int64_t cost,
                                  std::uint32_t states) const;

 private:
  // What a prefix sees: the first `atoms` atoms, `deep` claims at its end, the stretch before it.
  struct Window {
    std::uint32_t depth = 0;
    std::int64_t cost = 0;  // above the base
    std::size_t atoms = 0;
    std::int64_t deep = 0;
    PreparedLine::Start start;
  };
  // Where the last facility stands: at the end itself, at atom s, or (0) the free one.
  struct LastStep {
    std::int64_t saved = 0;
    std::size_t s = 0;
    bool is_at_end = false;
  };
  LineTable(LineProblem problem, PreparedLine line, std::uint32_t states_max);
  absl::StatusOr<Window> WindowAt(std::uint32_t depth, std::int64_t cost) const;
  LastStep Last(const Window& window, std::uint32_t m) const;

  LineProblem problem_;
  PreparedLine line_;
  std::vector<std::int64_t> totals_;  // [j]: sum of weight x cost of the first j atoms
  std::uint32_t states_max_;
  LineCells cells_;
};

}  // namespace cairn::placement
#endif  // CAIRN_LIBS_PLACEMENT_LINE_TABLE_H_
