#ifndef CAIRN_LIBS_PLACEMENT_PRICED_LINE_H_
#define CAIRN_LIBS_PLACEMENT_PRICED_LINE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "libs/placement/line_hull.h"
#include "libs/placement/prepared_line.h"

namespace cairn::placement {

// The line when each new state has a price instead of a bound on their number: maximises savings
// less price x states, O(K) a solve. Among equal optima it takes the fewest or the most states.
// Int is int64_t where PreparedLine::is_narrow holds, else __int128.
template <class Int>
class PricedLine {
 public:
  enum class Ties { kFewest, kMost };
  // `line` outlives this.
  explicit PricedLine(const PreparedLine& line)
      : line_(line),
        hull_(line.size() + 1, line.before.back()),
        values_(line.size() + 1),
        counts_(line.size() + 1),
        back_(line.size()) {}

  // `price` is at most the total cost of the line.
  void Solve(std::int64_t price, Ties ties);
  // Of the last solve: savings less price x states, and the number of states.
  std::int64_t value() const { return values_.back(); }
  std::uint32_t states() const { return static_cast<std::uint32_t>(counts_.back()); }
  // Its states as atom indices, ascending.
  std::vector<std::uint32_t> Atoms() const;

 private:
  static constexpr std::uint32_t kFree = 0;
  const PreparedLine& line_;
  LineHull<Int> hull_;
  std::vector<std::int64_t> values_;  // [j]: of the first j atoms
  std::vector<std::int32_t> counts_;
  std::vector<std::uint32_t> back_;  // [j - 1]: s, or kFree
};

extern template class PricedLine<std::int64_t>;
extern template class PricedLine<__int128>;

}  // namespace cairn::placement
#endif  // CAIRN_LIBS_PLACEMENT_PRICED_LINE_H_
