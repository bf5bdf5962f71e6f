#include "tests/unit/placement/line_cases.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace cairn::placement {
namespace {

// Where the claims of one atom resume, by looking at everything.
std::int64_t ResumeCost(const LineProblem& problem, const LineAtom& atom,
                        const std::vector<std::size_t>& chosen) {
  std::int64_t cost = problem.base_cost;
  for (const HeldState& held : problem.held) {
    if (held.depth <= atom.depth) cost = std::max(cost, held.cost);
  }
  for (const std::size_t i : chosen) {
    if (problem.atoms[i].depth <= atom.depth) cost = std::max(cost, problem.atoms[i].cost);
  }
  return cost;
}

// stretch[s][j]: what atoms s .. j-1 cost when atom s has a new state (s = K: none has).
std::vector<std::vector<std::int64_t>> Stretches(const LineProblem& problem) {
  const std::size_t k = problem.atoms.size();
  std::vector<std::vector<std::int64_t>> stretch(k + 1, std::vector<std::int64_t>(k + 1, 0));
  for (std::size_t s = 0; s <= k; ++s) {
    const std::size_t from = s == k ? 0 : s;
    std::int64_t sum = 0;
    std::vector<std::size_t> chosen;
    if (s < k) chosen.push_back(s);
    for (std::size_t j = from; j < k; ++j) {
      const LineAtom& atom = problem.atoms[j];
      sum += atom.weight * (atom.cost - ResumeCost(problem, atom, chosen));
      stretch[s][j + 1] = sum;
    }
  }
  return stretch;
}

// Fewer states first, then the deeper ones from the back.
bool IsPreferred(const std::vector<std::size_t>& a, const std::vector<std::size_t>& b) {
  if (a.size() != b.size()) return a.size() < b.size();
  return std::lexicographical_compare(b.rbegin(), b.rend(), a.rbegin(), a.rend());
}

struct Division {
  const std::vector<std::vector<std::int64_t>>& stretch;
  const std::vector<std::int64_t>& before;
  std::vector<std::int64_t>& row;

  // Fills row[low..high]; the last state of each lies in [first, last].
  void Fill(std::size_t low, std::size_t high, std::size_t first, std::size_t last) {
    if (low > high) return;
    const std::size_t middle = (low + high) / 2;
    std::size_t best = first;
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (std::size_t s = first; s <= std::min(middle - 1, last); ++s) {
      const std::int64_t cost = before[s] + stretch[s][middle];
      if (cost <= least) {
        least = cost;
        best = s;
      }
    }
    row[middle] = least;
    if (middle > low) Fill(low, middle - 1, first, best);
    Fill(middle + 1, high, best, last);
  }
};

}  // namespace

LineProblem RandomLine(Rng& rng, const LineShape& shape) {
  LineProblem problem;
  problem.base_cost = static_cast<std::int64_t>(rng.Below(3));
  const std::uint64_t atoms = rng.Below(shape.atoms_max + 1);
  std::uint32_t depth = static_cast<std::uint32_t>(rng.Below(2));
  std::int64_t cost = problem.base_cost;
  while (problem.atoms.size() < atoms) {
    depth += 1 + static_cast<std::uint32_t>(rng.Below(3));
    if (!rng.Chance(1, 3)) {
      cost += static_cast<std::int64_t>(rng.Below(static_cast<std::uint64_t>(shape.cost_step) + 1));
    }
    const bool is_held = shape.held_in > 0 && rng.Chance(1, shape.held_in);
    if (is_held) problem.held.push_back({.depth = depth, .cost = cost});
    if (is_held && rng.Chance(1, 2)) continue;  // a held state between the atoms
    problem.atoms.push_back({.depth = depth,
                             .cost = cost,
                             .weight = static_cast<std::int64_t>(
                                 rng.Below(static_cast<std::uint64_t>(shape.weight_max) + 1))});
  }
  return problem;
}

LineProblem UniformLine(std::uint32_t n) {
  LineProblem problem;
  for (std::uint32_t t = 1; t <= n; ++t) problem.atoms.push_back({t, t, 1});
  return problem;
}

LinePlan SolveByTrying(const LineProblem& problem, std::uint32_t states_max) {
  const std::size_t k = problem.atoms.size();
  std::optional<std::vector<std::size_t>> best;
  LinePlan plan;
  for (std::size_t bits = 0; bits < (std::size_t{1} << k); ++bits) {
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < k; ++i) {
      if ((bits >> i) & 1) chosen.push_back(i);
    }
    if (chosen.size() > states_max) continue;
    std::int64_t cost = 0;
    std::int64_t saved = 0;
    for (const LineAtom& atom : problem.atoms) {
      const std::int64_t resume = ResumeCost(problem, atom, chosen);
      cost += atom.weight * (atom.cost - resume);
      saved += atom.weight * (resume - problem.base_cost);
    }
    if (best && (cost > plan.cost || (cost == plan.cost && !IsPreferred(chosen, *best)))) continue;
    best = chosen;
    plan.cost = cost;
    plan.saved = saved;
  }
  for (const std::size_t i : *best) plan.depths.push_back(problem.atoms[i].depth);
  return plan;
}

std::vector<std::int64_t> CostsByRecurrence(const LineProblem& problem, std::uint32_t states_max) {
  const std::size_t k = problem.atoms.size();
  const auto stretch = Stretches(problem);
  std::vector<std::int64_t> row = stretch[k];
  std::vector<std::int64_t> costs = {row[k]};
  for (std::uint32_t m = 1; m <= states_max; ++m) {
    std::vector<std::int64_t> next = row;
    for (std::size_t j = 1; j <= k; ++j) {
      for (std::size_t s = 0; s < j; ++s) next[j] = std::min(next[j], row[s] + stretch[s][j]);
    }
    row = next;
    costs.push_back(row[k]);
  }
  return costs;
}

std::vector<std::int64_t> CostsByDivision(const LineProblem& problem, std::uint32_t states_max) {
  const std::size_t k = problem.atoms.size();
  const auto stretch = Stretches(problem);
  std::vector<std::int64_t> row = stretch[k];
  std::vector<std::int64_t> costs = {row[k]};
  for (std::uint32_t m = 1; m <= states_max; ++m) {
    std::vector<std::int64_t> next(k + 1, 0);
    if (k > 0) Division{stretch, row, next}.Fill(1, k, 0, k - 1);
    row = next;
    costs.push_back(row[k]);
  }
  return costs;
}

std::ostream& operator<<(std::ostream& out, const LineProblem& problem) {
  out << "base " << problem.base_cost << ", atoms";
  for (const LineAtom& a : problem.atoms) out << " " << a.depth << "/" << a.cost << "x" << a.weight;
  out << ", held";
  for (const HeldState& h : problem.held) out << " " << h.depth << "/" << h.cost;
  return out;
}

}  // namespace cairn::placement
