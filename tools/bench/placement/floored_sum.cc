#include "tools/bench/placement/floored_sum.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace cairn::bench {

void FlooredSum::CutOff(std::int64_t end) {
  while (!breaks_.empty() && std::prev(breaks_.end())->first >= end) {
    const auto last = std::prev(breaks_.end());
    at_end_ -= last_slope_ * (end_ - last->first);
    end_ = last->first;
    last_slope_ -= last->second;
    breaks_.erase(last);
  }
  at_end_ -= last_slope_ * (end_ - end);
  end_ = end;
}

void FlooredSum::Add(FlooredSum&& other) {
  other.CutOff(end_);
  at_start_ += other.at_start_;
  at_end_ += other.at_end_;
  first_slope_ += other.first_slope_;
  last_slope_ += other.last_slope_;
  if (other.breaks_.size() > breaks_.size()) breaks_.swap(other.breaks_);
  for (const auto& [x, growth] : other.breaks_) breaks_[x] += growth;
}

std::int64_t FlooredSum::Floor(std::int64_t drop) {
  const std::int64_t floor = at_end_ - drop;
  if (at_start_ >= floor) return 0;
  std::int64_t x = 0;
  std::int64_t value = at_start_;
  std::int64_t slope = first_slope_;
  // To the piece in which the function reaches the floor.
  for (;;) {
    const std::int64_t next = breaks_.empty() ? end_ : breaks_.begin()->first;
    if (value + slope * (next - x) >= floor) break;
    value += slope * (next - x);
    x = next;
    slope += breaks_.begin()->second;
    breaks_.erase(breaks_.begin());
  }
  const std::int64_t reached = x + (floor - value + slope - 1) / slope;
  const std::int64_t above = value + slope * (reached - x) - floor;  // less than a slope
  // Flat to the place before, a part of the slope up to `reached`, all of it from there on.
  if (above > 0) breaks_[reached - 1] += above;
  if (reached < end_) {
    breaks_[reached] += slope - above;
  } else {
    last_slope_ = above;
  }
  at_start_ = floor;
  first_slope_ = 0;
  return reached;
}

}  // namespace cairn::bench
