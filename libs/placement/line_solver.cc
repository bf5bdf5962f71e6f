#include "libs/placement/line_solver.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "libs/base/status_macros.h"
#include "libs/placement/limits.h"
#include "libs/placement/line_cells.h"
#include "libs/placement/prepared_line.h"

namespace cairn::placement {

absl::StatusOr<LinePlan> SolveLine(const LineProblem& problem, std::uint32_t states_max,
                                   std::int64_t price) {
  if (price < 0) return absl::InvalidArgumentError(absl::StrCat("price ", price, " of a state"));
  CAIRN_ASSIGN_OR_RETURN(const PreparedLine line, PrepareLine(problem));
  const std::uint32_t states =
      static_cast<std::uint32_t>(std::min<std::size_t>(states_max, line.size()));
  if (states * line.size() > limits::kPlanCellsMax) {
    return absl::InvalidArgumentError(absl::StrCat(line.size(), " depths x ", states,
                                                   " states are more than ", limits::kPlanCellsMax,
                                                   " cells; SolveLargeLine takes them"));
  }
  const LineCells cells(line, states, false);
  std::uint32_t fewest = states;
  while (fewest > 0 && cells.Saved(fewest) - cells.Saved(fewest - 1) <= price) --fewest;
  return LinePlan{.depths = cells.Depths(fewest, line.size()),
                  .cost = line.total - cells.Saved(fewest),
                  .saved = cells.Saved(fewest)};
}

}  // namespace cairn::placement
