#ifndef CAIRN_LIBS_PLACEMENT_LINE_CELLS_H_
#define CAIRN_LIBS_PLACEMENT_LINE_CELLS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "libs/placement/prepared_line.h"

namespace cairn::placement {

// The recurrence of the line, filled in: saved(m, j) is the most that m new states can save for the
// first j atoms, counting only claims of those:
//   saved(m, j) = max over s in (start of j's stretch, j] of saved(m-1, s-1) + x_s (P_j - P_{s-1}),
//                 or, from the free facility f that opens the stretch, saved(m, a) + x_f (P_j -
//                 P_a)
// with P the summed weights. Each s is a line in P_j with slope x_s, so a queue of lines
// (LineHull), begun anew at every free facility, gives O(K M) in all. Ties go to the deeper s, so
// that the plan read back from the smallest sufficient m has the fewest states, then the deepest
// last one, then the deepest before it, and so on. (Placement paper arXiv 2605.05219 has O(N^2 M);
// Woeginger 2000.)
class LineCells {
 public:
  // Holds back pointers (4 bytes x K x M) and, with `keep_saved`, all of saved(m, j) (8 bytes x
  // (K+1) x (M+1)) and not only those of j = K. `line` outlives this; K x M is within
  // limits::kPlanCellsMax.
  LineCells(const PreparedLine& line, std::uint32_t states_max, bool keep_saved);

  // saved(m, K), and with keep_saved any saved(m, j).
  std::int64_t Saved(std::uint32_t m) const { return last_[m]; }
  std::int64_t Saved(std::uint32_t m, std::size_t j) const {
    return saved_[j * (states_max_ + 1) + m];
  }

  // The depths of saved(m, j), ascending.
  std::vector<std::uint32_t> Depths(std::uint32_t m, std::size_t j) const;

 private:
  template <class Int>
  void Fill(bool keep_saved);

  const PreparedLine& line_;
  std::uint32_t states_max_;
  std::unique_ptr<std::uint32_t[]> back_;  // [(j - 1) M + m - 1]: s, or 0 for the free facility
  std::vector<std::int64_t> saved_;        // [j (M + 1) + m]
  std::vector<std::int64_t> last_;         // [m]
};

}  // namespace cairn::placement
#endif  // CAIRN_LIBS_PLACEMENT_LINE_CELLS_H_
