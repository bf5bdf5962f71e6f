#include "libs/placement/line_problem.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "libs/base/status_macros.h"
#include "libs/placement/limits.h"

namespace cairn::placement {
namespace {

// One rule for atoms and held states: depth ascends, cost within bounds and never falling.
template <class Point>
absl::Status ValidatePoints(const std::vector<Point>& points, const char* what,
                            std::int64_t base_cost, std::size_t points_max) {
  if (points.size() > points_max) {
    return absl::InvalidArgumentError(
        absl::StrCat(points.size(), " ", what, ", at most ", points_max, " are taken"));
  }
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Point& point = points[i];
    if (point.cost < base_cost || point.cost > limits::kCostMax) {
      return absl::InvalidArgumentError(absl::StrCat(what, " ", i, " at depth ", point.depth,
                                                     ": cost ", point.cost, " is not in ",
                                                     base_cost, "..", limits::kCostMax));
    }
    if (i == 0) continue;
    if (point.depth <= points[i - 1].depth) {
      return absl::InvalidArgumentError(absl::StrCat(what, " ", i, ": depth ", point.depth,
                                                     " does not lie below depth ",
                                                     points[i - 1].depth, " before it"));
    }
    if (point.cost < points[i - 1].cost) {
      return absl::InvalidArgumentError(absl::StrCat(what, " ", i, " at depth ", point.depth,
                                                     ": cost ", point.cost, " is less than ",
                                                     points[i - 1].cost, " before it"));
    }
  }
  return absl::OkStatus();
}

// Costs must not fall along atoms and held states taken together.
absl::Status ValidateMerged(const LineProblem& problem) {
  std::size_t next = 0;
  for (const HeldState& held : problem.held) {
    while (next < problem.atoms.size() && problem.atoms[next].depth < held.depth) ++next;
    const bool above_ok = next == 0 || problem.atoms[next - 1].cost <= held.cost;
    const bool below_ok =
        next == problem.atoms.size() ||
        (problem.atoms[next].depth == held.depth ? problem.atoms[next].cost == held.cost
                                                 : problem.atoms[next].cost >= held.cost);
    if (!above_ok || !below_ok) {
      return absl::InvalidArgumentError(absl::StrCat("held state at depth ", held.depth, ": cost ",
                                                     held.cost,
                                                     " contradicts the atoms beside it"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ValidateLine(const LineProblem& problem) {
  if (problem.base_cost < 0 || problem.base_cost > limits::kCostMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("base cost ", problem.base_cost, " is not in 0..", limits::kCostMax));
  }
  CAIRN_RETURN_IF_ERROR(
      ValidatePoints(problem.atoms, "atom", problem.base_cost, limits::kAtomsMax));
  CAIRN_RETURN_IF_ERROR(
      ValidatePoints(problem.held, "held state", problem.base_cost, limits::kHeldMax));
  CAIRN_RETURN_IF_ERROR(ValidateMerged(problem));
  __int128 total = 0;
  __int128 weights = 0;
  for (const LineAtom& atom : problem.atoms) {
    if (atom.weight < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("atom at depth ", atom.depth, ": weight ", atom.weight, " is negative"));
    }
    total += static_cast<__int128>(atom.weight) * (atom.cost - problem.base_cost);
    weights += atom.weight;
  }
  if (total > limits::kTotalCostMax || weights > limits::kTotalCostMax) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the weights are too large: their sum, or that of weight x cost, is over 2^61"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::int64_t> LineCost(const LineProblem& problem,
                                      absl::Span<const std::uint32_t> depths) {
  CAIRN_RETURN_IF_ERROR(ValidateLine(problem));
  std::vector<HeldState> states = problem.held;
  for (const std::uint32_t depth : depths) {
    const auto atom =
        std::lower_bound(problem.atoms.begin(), problem.atoms.end(), depth,
                         [](const LineAtom& a, std::uint32_t wanted) { return a.depth < wanted; });
    if (atom == problem.atoms.end() || atom->depth != depth) {
      const bool is_held = std::any_of(problem.held.begin(), problem.held.end(),
                                       [&](const HeldState& h) { return h.depth == depth; });
      if (is_held) continue;
      return absl::InvalidArgumentError(absl::StrCat("no atom stands at planned depth ", depth));
    }
    states.push_back({.depth = depth, .cost = atom->cost});
  }
  std::sort(states.begin(), states.end(),
            [](const HeldState& a, const HeldState& b) { return a.depth < b.depth; });
  std::int64_t cost = 0;
  std::int64_t resume_cost = problem.base_cost;
  std::size_t next = 0;
  for (const LineAtom& atom : problem.atoms) {
    for (; next < states.size() && states[next].depth <= atom.depth; ++next) {
      resume_cost = states[next].cost;
    }
    cost += atom.weight * (atom.cost - resume_cost);
  }
  return cost;
}

absl::StatusOr<LineProblem> CensorLine(const LineProblem& problem, std::uint32_t depth,
                                       std::int64_t cost) {
  CAIRN_RETURN_IF_ERROR(ValidateLine(problem));
  LineProblem censored{.atoms = {}, .held = {}, .base_cost = problem.base_cost};
  std::int64_t weight = 0;
  for (const LineAtom& atom : problem.atoms) {
    if (atom.depth < depth) {
      censored.atoms.push_back(atom);
    } else {
      weight += atom.weight;
    }
  }
  censored.atoms.push_back({.depth = depth, .cost = cost, .weight = weight});
  for (const HeldState& held : problem.held) {
    if (held.depth <= depth) censored.held.push_back(held);
  }
  CAIRN_RETURN_IF_ERROR(ValidateLine(censored));
  return censored;
}

}  // namespace cairn::placement
