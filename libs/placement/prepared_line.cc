#include "libs/placement/prepared_line.h"

#include <algorithm>

#include "libs/base/status_macros.h"
#include "libs/placement/limits.h"

namespace cairn::placement {

const PreparedLine::Start& PreparedLine::StartOf(std::size_t index) const {
  const auto after =
      std::upper_bound(starts.begin(), starts.end(), index,
                       [](std::size_t wanted, const Start& start) { return wanted < start.atom; });
  return *(after - 1);
}

std::vector<std::int64_t> PreparedLine::SavedByHeld() const {
  std::vector<std::int64_t> saved(size() + 1, 0);
  std::size_t next = 0;
  std::int64_t resume_cost = 0;
  for (std::size_t i = 0; i < size(); ++i) {
    if (next < starts.size() && starts[next].atom == i) resume_cost = starts[next++].cost;
    saved[i + 1] = saved[i] + resume_cost * weight(i);
  }
  return saved;
}

absl::StatusOr<PreparedLine> PrepareLine(const LineProblem& problem) {
  CAIRN_RETURN_IF_ERROR(ValidateLine(problem));
  PreparedLine line;
  line.depths.reserve(problem.atoms.size());
  line.costs.reserve(problem.atoms.size());
  line.before.reserve(problem.atoms.size() + 1);
  line.starts.reserve(problem.held.size() + 1);
  line.before.push_back(0);
  line.starts.push_back({.atom = 0, .cost = 0});
  std::size_t next = 0;
  for (const LineAtom& atom : problem.atoms) {
    if (atom.weight == 0) continue;
    const std::uint32_t index = static_cast<std::uint32_t>(line.size());
    for (; next < problem.held.size() && problem.held[next].depth <= atom.depth; ++next) {
      if (line.starts.back().atom != index) line.starts.push_back({.atom = index, .cost = 0});
      line.starts.back().cost = problem.held[next].cost - problem.base_cost;
    }
    const std::int64_t cost = atom.cost - problem.base_cost;
    line.depths.push_back(atom.depth);
    line.costs.push_back(cost);
    line.before.push_back(line.before.back() + atom.weight);
    line.total += atom.weight * cost;
  }
  const std::int64_t deepest = line.costs.empty() ? 0 : line.costs.back();
  line.is_narrow = static_cast<__int128>(line.before.back()) * deepest <= limits::kNarrowMax;
  return line;
}

}  // namespace cairn::placement
