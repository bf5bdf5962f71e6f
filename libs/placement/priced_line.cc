#include "libs/placement/priced_line.h"

#include <algorithm>

namespace cairn::placement {

template <class Int>
void PricedLine<Int>::Solve(std::int64_t price, Ties ties) {
  const std::int32_t sign = ties == Ties::kFewest ? -1 : 1;
  std::size_t next_start = 0;
  values_[0] = 0;
  counts_[0] = 0;
  for (std::size_t j = 1; j <= line_.size(); ++j) {
    const std::size_t atom = j - 1;
    const std::int64_t before = line_.before[atom];
    if (next_start < line_.starts.size() && line_.starts[next_start].atom == atom) {
      const std::int64_t cost = line_.starts[next_start++].cost;
      hull_.Clear();
      hull_.Insert(cost, values_[atom] - static_cast<Int>(cost) * before, kFree,
                   sign * counts_[atom]);
    }
    const std::int64_t cost = line_.costs[atom];
    hull_.Insert(cost, values_[atom] - price - static_cast<Int>(cost) * before,
                 static_cast<std::uint32_t>(j), sign * (counts_[atom] + 1));
    const std::int64_t weight = line_.before[j];
    const auto& best = hull_.Best(weight);
    values_[j] = static_cast<std::int64_t>(best.offset + static_cast<Int>(best.slope) * weight);
    counts_[j] = sign * best.rank;
    back_[atom] = best.id;
  }
}

template <class Int>
std::vector<std::uint32_t> PricedLine<Int>::Atoms() const {
  std::vector<std::uint32_t> atoms;
  for (std::size_t j = line_.size(); j > 0;) {
    const std::uint32_t s = back_[j - 1];
    if (s == kFree) {
      j = line_.StartOf(j - 1).atom;
    } else {
      atoms.push_back(s - 1);
      j = s - 1;
    }
  }
  std::reverse(atoms.begin(), atoms.end());
  return atoms;
}

template class PricedLine<std::int64_t>;
template class PricedLine<__int128>;

}  // namespace cairn::placement
