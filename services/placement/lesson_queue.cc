#include "services/placement/lesson_queue.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "libs/planner/limits.h"

namespace cairn {

std::size_t LessonQueue::Add(std::vector<Lesson> lessons) {
  MutexLock lock(mutex_);
  const std::size_t room = lessons_max_ - std::min(lessons_max_, waiting_.size());
  const std::size_t count = std::min(room, lessons.size());
  const auto end = lessons.begin() + static_cast<std::ptrdiff_t>(count);
  waiting_.insert(waiting_.end(), std::make_move_iterator(lessons.begin()),
                  std::make_move_iterator(end));
  added_ += count;
  dropped_ += lessons.size() - count;
  if (count > 0) added_cv_.NotifyOne();
  return count;
}

void LessonQueue::Settle() {
  MutexLock lock(mutex_);
  const std::uint64_t all = added_;
  while (done_ < all) done_cv_.Wait(mutex_);
}

std::size_t LessonQueue::Take(std::size_t lessons_max, std::vector<Lesson>& out) {
  out.clear();
  MutexLock lock(mutex_);
  done_ = taken_;
  done_cv_.NotifyAll();
  while (waiting_.empty() && !is_closed_) added_cv_.Wait(mutex_);
  const std::size_t count = std::min(lessons_max, waiting_.size());
  for (std::size_t i = 0; i < count; ++i) {
    out.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  taken_ += count;
  return waiting_.size();
}

void LessonQueue::Close() {
  MutexLock lock(mutex_);
  is_closed_ = true;
  added_cv_.NotifyAll();
}

std::uint64_t LessonQueue::dropped() const {
  MutexLock lock(mutex_);
  return dropped_;
}

std::uint32_t ThinningRule::Strength(std::size_t waiting, Instant now) {
  while (waiting >= kThinFrom * strength_ && strength_ < planner::limits::kThinningMax) {
    strength_ *= 2;
  }
  if (waiting >= kThinFrom * strength_ / 2) calm_since_ = now;
  if (strength_ > 1 && now - calm_since_ >= kCalm) {
    strength_ /= 2;
    calm_since_ = now;
  }
  return strength_;
}

}  // namespace cairn
