#ifndef CAIRN_SERVICES_PLACEMENT_LESSON_QUEUE_H_
#define CAIRN_SERVICES_PLACEMENT_LESSON_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "libs/base/instant.h"
#include "libs/base/mutex.h"
#include "libs/planner/questions.h"

namespace cairn {

// What nodes have told and the planner has not learnt yet.
using Lesson = std::variant<planner::Observation, planner::Exposure>;

// Lessons in the order in which they came, at most `lessons_max` of them: beyond that they are
// dropped, since nobody shall wait for ever to tell what may as well be lost.
// Threads: any number that add and settle, one that takes.
class LessonQueue {
 public:
  explicit LessonQueue(std::size_t lessons_max) : lessons_max_(lessons_max) {}

  // Returns how many were taken in, from the first on.
  std::size_t Add(std::vector<Lesson> lessons);
  // Returns when all that was added before is done.
  void Settle();

  // Waits for lessons, and fills `out` with the first ones, at most `lessons_max`; they are done at
  // the next Take. Returns how many wait behind them. With none in `out`: Close was called, and
  // nothing is left.
  std::size_t Take(std::size_t lessons_max, std::vector<Lesson>& out);
  void Close();

  std::uint64_t dropped() const;

 private:
  const std::size_t lessons_max_;
  mutable Mutex mutex_;
  CondVar added_cv_;
  CondVar done_cv_;
  std::deque<Lesson> waiting_ CAIRN_GUARDED_BY(mutex_);
  std::uint64_t added_ CAIRN_GUARDED_BY(mutex_) = 0;
  std::uint64_t taken_ CAIRN_GUARDED_BY(mutex_) = 0;
  std::uint64_t done_ CAIRN_GUARDED_BY(mutex_) = 0;
  std::uint64_t dropped_ CAIRN_GUARDED_BY(mutex_) = 0;
  bool is_closed_ CAIRN_GUARDED_BY(mutex_) = false;
};

// How much observations are to be thinned (planner/planner.h), by how many wait: doubled as soon as
// kThinFrom times the strength wait, halved when for kCalm they were fewer than half of that.
class ThinningRule {
 public:
  static constexpr std::size_t kThinFrom = 16'384;
  static constexpr absl::Duration kCalm = absl::Seconds(10);

  std::uint32_t Strength(std::size_t waiting, Instant now);

 private:
  std::uint32_t strength_ = 1;
  Instant calm_since_;
};

}  // namespace cairn
#endif  // CAIRN_SERVICES_PLACEMENT_LESSON_QUEUE_H_
