#include "libs/placement/line_table.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "libs/base/status_macros.h"
#include "libs/placement/limits.h"

namespace cairn::placement {

LineTable::LineTable(LineProblem problem, PreparedLine line, std::uint32_t states_max)
    : problem_(std::move(problem)),
      line_(std::move(line)),
      totals_(line_.size() + 1, 0),
      states_max_(states_max),
      cells_(line_, states_max, true) {
  for (std::size_t i = 0; i < line_.size(); ++i) {
    totals_[i + 1] = totals_[i] + line_.weight(i) * line_.costs[i];
  }
}

absl::StatusOr<std::unique_ptr<LineTable>> LineTable::Create(const LineProblem& problem,
                                                             std::uint32_t states_max) {
  CAIRN_ASSIGN_OR_RETURN(PreparedLine line, PrepareLine(problem));
  const std::uint32_t states =
      static_cast<std::uint32_t>(std::min<std::size_t>(states_max, line.size()));
  if (states * line.size() > limits::kPlanCellsMax) {
    return absl::InvalidArgumentError(absl::StrCat(line.size(), " depths x ", states,
                                                   " states are more than ", limits::kPlanCellsMax,
                                                   " cells"));
  }
  return std::unique_ptr<LineTable>(  // tidy: allow(new) the constructor is private
      new LineTable(problem, std::move(line), states));
}

absl::StatusOr<LineTable::Window> LineTable::WindowAt(std::uint32_t depth,
                                                      std::int64_t cost) const {
  const auto& atoms = problem_.atoms;
  const auto at = std::lower_bound(
      atoms.begin(), atoms.end(), depth,
      [](const LineAtom& atom, std::uint32_t wanted) { return atom.depth < wanted; });
  const auto held = std::upper_bound(
      problem_.held.begin(), problem_.held.end(), depth,
      [](std::uint32_t wanted, const HeldState& state) { return wanted < state.depth; });
  const bool falls = (at != atoms.begin() && (at - 1)->cost > cost) ||
                     (held != problem_.held.begin() && (held - 1)->cost > cost);
  const bool jumps =
      (at != atoms.end() && (at->depth == depth ? at->cost != cost : at->cost < cost)) ||
      (held != problem_.held.end() && held->cost < cost);
  if (falls || jumps || cost < problem_.base_cost || cost > limits::kCostMax) {
    return absl::InvalidArgumentError(absl::StrCat(
        "length ", depth, ": cost ", cost, " contradicts the depths beside it or the limits"));
  }
  const auto before = [&](std::uint32_t wanted) {
    return static_cast<std::size_t>(
        std::lower_bound(line_.depths.begin(), line_.depths.end(), wanted) - line_.depths.begin());
  };
  Window window{.depth = depth, .cost = cost - problem_.base_cost, .atoms = before(depth)};
  window.deep = line_.before.back() - line_.before[window.atoms];
  if (held != problem_.held.begin()) {
    window.start = {.atom = static_cast<std::uint32_t>(before((held - 1)->depth)),
                    .cost = (held - 1)->cost - problem_.base_cost};
  }
  return window;
}

LineTable::LastStep LineTable::Last(const Window& window, std::uint32_t m) const {
  const std::int64_t all = line_.before.back();
  const auto [free_atom, free_cost] = window.start;
  const std::uint32_t row = std::min(m, states_max_);
  LastStep best{.saved = cells_.Saved(row, free_atom) + free_cost * (all - line_.before[free_atom]),
                .s = 0,
                .is_at_end = false};
  if (m == 0) return best;
  for (std::size_t s = free_atom + 1; s <= window.atoms; ++s) {
    const std::int64_t saved = cells_.Saved(std::min(m - 1, states_max_), s - 1) +
                               line_.costs[s - 1] * (all - line_.before[s - 1]);
    if (saved >= best.saved) best = {.saved = saved, .s = s, .is_at_end = false};
  }
  const std::int64_t saved =
      cells_.Saved(std::min(m - 1, states_max_), window.atoms) + window.cost * window.deep;
  if (saved >= best.saved) best = {.saved = saved, .s = 0, .is_at_end = true};
  return best;
}

absl::StatusOr<LinePlan> LineTable::PlanAt(std::uint32_t depth, std::int64_t cost,
                                           std::uint32_t states) const {
  CAIRN_ASSIGN_OR_RETURN(const Window window, WindowAt(depth, cost));
  const std::uint32_t most = std::min(states, states_max_);
  const std::int64_t saved = Last(window, most).saved;
  std::uint32_t low = 0;  // the fewest states that save as much lie in [low, fewest]
  std::uint32_t fewest = most;
  while (low < fewest) {
    const std::uint32_t middle = low + (fewest - low) / 2;
    if (Last(window, middle).saved == saved) {
      fewest = middle;
    } else {
      low = middle + 1;
    }
  }
  const LastStep last = Last(window, fewest);
  LinePlan plan{.depths = {},
                .cost = totals_[window.atoms] + window.cost * window.deep - saved,
                .saved = saved};
  if (last.is_at_end) {
    if (fewest > 0) plan.depths = cells_.Depths(fewest - 1, window.atoms);
    plan.depths.push_back(depth);
  } else if (last.s > 0) {
    plan.depths = cells_.Depths(fewest - 1, last.s - 1);
    plan.depths.push_back(line_.depths[last.s - 1]);
  } else {
    plan.depths = cells_.Depths(fewest, window.start.atom);
  }
  return plan;
}

}  // namespace cairn::placement
