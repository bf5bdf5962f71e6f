#include "libs/placement/large_line.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "libs/base/check.h"
#include "libs/base/status_macros.h"
#include "libs/placement/prepared_line.h"
#include "libs/placement/priced_line.h"

namespace cairn::placement {
namespace {

// The least price at which at most `states_max` states are worth it. Gains fall as states are
// added, so the M-th one gains at most an M-th of everything.
template <class Int>
std::int64_t PriceFor(const PreparedLine& line, std::uint32_t states_max, PricedLine<Int>& priced) {
  std::int64_t low = 0;
  std::int64_t high = line.total / (std::int64_t{states_max} + 1) + 1;
  while (low < high) {
    const std::int64_t price = low + (high - low) / 2;
    priced.Solve(price, PricedLine<Int>::Ties::kFewest);
    if (priced.states() <= states_max) {
      high = price;
    } else {
      low = price + 1;
    }
  }
  return low;
}

// Exactly `count` states from two optima at one price, `few` with at most and `many` with at least
// that many. With extra = count - few: the first i for which step i of `few` spans step i + extra
// of `many`; there the path of `many` so far goes on as the path of `few`.
std::vector<std::uint32_t> Splice(const std::vector<std::uint32_t>& few,
                                  const std::vector<std::uint32_t>& many, std::size_t count) {
  const std::size_t extra = count - few.size();
  std::size_t i = 0;
  while (i < few.size() && few[i] < many[i + extra]) ++i;
  std::vector<std::uint32_t> spliced(many.begin(),
                                     many.begin() + static_cast<std::ptrdiff_t>(i + extra));
  spliced.insert(spliced.end(), few.begin() + static_cast<std::ptrdiff_t>(i), few.end());
  return spliced;
}

template <class Int>
std::int64_t Saved(const PreparedLine& line, std::uint32_t states_max) {
  PricedLine<Int> priced(line);
  const std::int64_t price = PriceFor(line, states_max, priced);
  priced.Solve(price, PricedLine<Int>::Ties::kFewest);
  return priced.value() + price * std::int64_t{states_max};
}

template <class Int>
LinePlan Plan(const PreparedLine& line, std::uint32_t states_max) {
  PricedLine<Int> priced(line);
  const std::int64_t price = PriceFor(line, states_max, priced);
  priced.Solve(price, PricedLine<Int>::Ties::kFewest);
  std::vector<std::uint32_t> atoms = priced.Atoms();
  const std::int64_t saved = priced.value() + price * std::int64_t{states_max};
  if (price > 0 && atoms.size() < states_max) {
    priced.Solve(price, PricedLine<Int>::Ties::kMost);
    const std::vector<std::uint32_t> many = priced.Atoms();
    CAIRN_CHECK(many.size() >= states_max) << many.size() << " states at price " << price;
    atoms = Splice(atoms, many, states_max);
  }
  LinePlan plan{.depths = {}, .cost = line.total - saved, .saved = saved};
  for (const std::uint32_t atom : atoms) plan.depths.push_back(line.depths[atom]);
  return plan;
}

}  // namespace

absl::StatusOr<std::int64_t> LargeLineCost(const LineProblem& problem, std::uint32_t states_max) {
  CAIRN_ASSIGN_OR_RETURN(const PreparedLine line, PrepareLine(problem));
  return line.total - (line.is_narrow ? Saved<std::int64_t>(line, states_max)
                                      : Saved<__int128>(line, states_max));
}

absl::StatusOr<LinePlan> SolveLargeLine(const LineProblem& problem, std::uint32_t states_max) {
  CAIRN_ASSIGN_OR_RETURN(const PreparedLine line, PrepareLine(problem));
  return line.is_narrow ? Plan<std::int64_t>(line, states_max) : Plan<__int128>(line, states_max);
}

}  // namespace cairn::placement
