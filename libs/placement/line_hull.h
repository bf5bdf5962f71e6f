#ifndef CAIRN_LIBS_PLACEMENT_LINE_HULL_H_
#define CAIRN_LIBS_PLACEMENT_LINE_HULL_H_

#include <cstddef>
#include <cstdint>
#include <memory>

namespace cairn::placement {

// LineHull answers "which line is highest here?" for lines offset + slope x P that come with
// nondecreasing slopes, asked at nondecreasing P >= 0: a queue in which each line knows the first
// whole P from which it beats the one before it. Amortised O(1), one division a line, exact.
//
// Ties in height go to the higher rank, and ties in both to the line that came later. (Rank is an
// infinitely small addition to the offset, so lines stay lines and the queue's argument holds.)
//
// Int is int64_t or __int128; the caller knows that differences of offsets, and slope x
// position_max, fit it.
template <class Int>
class LineHull {
 public:
  struct Line {
    Int offset;
    std::int64_t slope;
    std::int64_t start;  // the first P at which it beats the line before it in the queue
    std::uint32_t id;
    std::int32_t rank;
  };

  // Lines that would win only beyond `position_max` are forgotten. `lines_max`: insertions between
  // two calls of Clear, at most.
  LineHull(std::size_t lines_max, std::int64_t position_max)
      : lines_(std::make_unique_for_overwrite<Line[]>(lines_max)), position_max_(position_max) {}

  void Clear() { head_ = tail_ = 0; }

  void Insert(std::int64_t slope, Int offset, std::uint32_t id, std::int32_t rank) {
    std::int64_t start = 0;
    while (tail_ > head_) {
      const Line& last = lines_[tail_ - 1];
      // Beaten at P exactly if (slope - last.slope) P >= lead.
      const Int lead = last.offset - offset + (last.rank > rank ? 1 : 0);
      const std::int64_t steeper = slope - last.slope;
      if (steeper == 0 && lead > 0) return;
      if (lead > static_cast<Int>(steeper) * last.start) {
        const Int first = (lead + steeper - 1) / steeper;
        if (first > position_max_) return;
        start = static_cast<std::int64_t>(first);
        break;
      }
      --tail_;  // the newcomer is at least as high wherever `last` was the highest
    }
    lines_[tail_++] = {.offset = offset, .slope = slope, .start = start, .id = id, .rank = rank};
  }

  // The highest line at `position`; at least one was inserted.
  const Line& Best(std::int64_t position) {
    while (head_ + 1 < tail_ && lines_[head_ + 1].start <= position) ++head_;
    return lines_[head_];
  }

 private:
  std::unique_ptr<Line[]> lines_;
  std::size_t head_ = 0;
  std::size_t tail_ = 0;
  std::int64_t position_max_;
};

}  // namespace cairn::placement
#endif  // CAIRN_LIBS_PLACEMENT_LINE_HULL_H_
