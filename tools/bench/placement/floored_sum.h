#ifndef CAIRN_TOOLS_BENCH_PLACEMENT_FLOORED_SUM_H_
#define CAIRN_TOOLS_BENCH_PLACEMENT_FLOORED_SUM_H_

#include <cstdint>
#include <map>

namespace cairn::bench {

// A convex, nondecreasing function of whole numbers 0 .. end(), linear between its breaks: what a
// subtree saves as a function of where the nearest state above it stands (hindsight.h).
//
// Values and slopes are integers; the caller keeps them below 2^62. Threads: one owner.
class FlooredSum {
 public:
  // slope * x on 0 .. end.
  FlooredSum(std::int64_t end, std::int64_t slope)
      : end_(end), at_end_(slope * end), first_slope_(slope), last_slope_(slope) {}

  std::int64_t end() const { return end_; }
  std::int64_t at_start() const { return at_start_; }
  std::int64_t at_end() const { return at_end_; }

  // Adds another function, itself cut off at end() first. O(log) for each break of the smaller one.
  void Add(FlooredSum&& other);

  // Becomes max(f(x), f(end) - drop) for drop >= 0. Returns the first x at which f alone is at
  // least that: below it the floor is what counts. Amortised O(log) of the breaks it removes.
  std::int64_t Floor(std::int64_t drop);

 private:
  void CutOff(std::int64_t end);

  std::int64_t end_;
  std::int64_t at_start_ = 0;
  std::int64_t at_end_;
  std::int64_t first_slope_;  // from 0 to the first break
  std::int64_t last_slope_;   // from the last break to end
  // By place x: by how much the slope grows there; 0 < x < end (or 0, after Floor).
  std::map<std::int64_t, std::int64_t> breaks_;
};

}  // namespace cairn::bench
#endif  // CAIRN_TOOLS_BENCH_PLACEMENT_FLOORED_SUM_H_
