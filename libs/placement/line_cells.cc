#include "libs/placement/line_cells.h"

#include <algorithm>
#include <array>

#include "libs/placement/line_hull.h"

namespace cairn::placement {
namespace {

constexpr std::uint32_t kFree = 0;  // id of the facility that opens a stretch
// Rows filled side by side: their queues do not depend on one another, so the processor overlaps
// them (16 rows take about half the time of one after the other; more gain nothing).
constexpr std::uint32_t kRowsAtOnce = 16;

template <class Int>
using Hulls = std::vector<LineHull<Int>>;
using Column = std::array<std::int64_t, kRowsAtOnce + 1>;

// Fills rows first .. first + rows - 1 (their m) for all j. `row` is row first - 1 at the start and
// row first + rows - 1 at the end. `store(j, m, saved, id)` sees every cell. Returns the last
// column.
template <class Int, class Store>
Column FillRows(const PreparedLine& line, std::uint32_t first, std::uint32_t rows,
                Hulls<Int>& hulls, std::vector<std::int64_t>& row, const Store& store) {
  Column saved = {};  // column j - 1 of the rows, [0] from `row`
  std::size_t next_start = 0;
  for (std::size_t j = 1; j <= line.size(); ++j) {
    const std::size_t atom = j - 1;
    const Int cost = line.costs[atom];
    const std::int64_t weight_before = line.before[atom];
    const std::int64_t weight = line.before[j];
    saved[0] = row[atom];
    row[atom] = saved[rows];
    if (next_start < line.starts.size() && line.starts[next_start].atom == atom) {
      const Int free_cost = line.starts[next_start++].cost;
      for (std::uint32_t r = 1; r <= rows; ++r) {
        hulls[r].Clear();
        hulls[r].Insert(static_cast<std::int64_t>(free_cost), saved[r] - free_cost * weight_before,
                        kFree, 0);
      }
    }
    for (std::uint32_t r = rows; r >= 1; --r) {
      hulls[r].Insert(line.costs[atom], saved[r - 1] - cost * weight_before,
                      static_cast<std::uint32_t>(j), 0);
      const auto& best = hulls[r].Best(weight);
      saved[r] = static_cast<std::int64_t>(best.offset + static_cast<Int>(best.slope) * weight);
      store(j, first + r - 1, saved[r], best.id);
    }
  }
  row[line.size()] = saved[rows];
  return saved;
}

}  // namespace

LineCells::LineCells(const PreparedLine& line, std::uint32_t states_max, bool keep_saved)
    : line_(line), states_max_(states_max) {
  back_ = std::make_unique_for_overwrite<std::uint32_t[]>(line.size() * states_max);
  if (keep_saved) saved_.resize((line.size() + 1) * (states_max + std::size_t{1}));
  last_.resize(states_max + std::size_t{1});
  if (line.is_narrow) {
    Fill<std::int64_t>(keep_saved);
  } else {
    Fill<__int128>(keep_saved);
  }
}

template <class Int>
void LineCells::Fill(bool keep_saved) {
  std::vector<std::int64_t> row = line_.SavedByHeld();
  if (keep_saved) {
    for (std::size_t j = 0; j < row.size(); ++j) saved_[j * (states_max_ + 1)] = row[j];
  }
  last_[0] = row.back();
  const std::uint32_t rows_max = std::min(kRowsAtOnce, states_max_);
  Hulls<Int> hulls;
  for (std::uint32_t r = 0; r <= rows_max; ++r) {
    hulls.emplace_back(r == 0 ? 0 : line_.size() + 1, line_.before.back());
  }
  for (std::uint32_t first = 1; first <= states_max_; first += rows_max) {
    const std::uint32_t rows = std::min(rows_max, states_max_ - first + 1);
    const auto last = FillRows<Int>(line_, first, rows, hulls, row,
                                    [&, back = back_.get()](std::size_t j, std::uint32_t m,
                                                            std::int64_t saved, std::uint32_t id) {
                                      back[(j - 1) * states_max_ + m - 1] = id;
                                      if (keep_saved) saved_[j * (states_max_ + 1) + m] = saved;
                                    });
    std::copy(last.begin() + 1, last.begin() + 1 + rows, last_.begin() + first);
  }
}

std::vector<std::uint32_t> LineCells::Depths(std::uint32_t m, std::size_t j) const {
  std::vector<std::uint32_t> depths;
  while (m > 0 && j > 0) {
    const std::uint32_t s = back_[(j - 1) * states_max_ + m - 1];
    if (s == kFree) {
      j = line_.StartOf(j - 1).atom;
    } else {
      depths.push_back(line_.depths[s - 1]);
      j = s - 1;
      --m;
    }
  }
  std::reverse(depths.begin(), depths.end());
  return depths;
}

}  // namespace cairn::placement
