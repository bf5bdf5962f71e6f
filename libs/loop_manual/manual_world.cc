#include "libs/loop_manual/manual_world.h"

#include <algorithm>

#include "libs/base/check.h"

namespace cairn {

ManualLoop::ManualLoop(ManualWorld& world, const Options& options)
    : world_(world), name_(options.name), clock_offset_(options.clock_offset) {}

ManualLoop::~ManualLoop() { Crash(); }

Instant ManualLoop::Now() const { return world_.Now() + clock_offset_; }

void ManualLoop::Post(Task task) {
  if (is_crashed_) return;
  ready_.push_back(Ready{std::move(task), TimerId()});
}

TimerId ManualLoop::RunAt(Instant when, Task task) {
  const TimerId timer(++timers_made_);
  if (is_crashed_) return timer;
  timers_.emplace(timer, std::move(task));
  if (when == Instant::Infinite()) return timer;  // waits for Cancel or the end
  due_.push_back(Due{when - clock_offset_, timer});
  std::push_heap(due_.begin(), due_.end(), std::greater<Due>());
  return timer;
}

void ManualLoop::Cancel(TimerId timer) {
  const auto it = timers_.find(timer);
  if (it == timers_.end()) return;
  Task task = std::move(it->second);  // destroyed last: its destructor may call back into the loop
  timers_.erase(it);
}

absl::Status ManualLoop::WatchReadable(int fd, absl::AnyInvocable<void()> on_ready) {
  return absl::UnimplementedError("a simulated process has no descriptors");
}

absl::Status ManualLoop::WatchWritable(int fd, absl::AnyInvocable<void()> on_ready) {
  return absl::UnimplementedError("a simulated process has no descriptors");
}

void ManualLoop::Crash() {
  is_crashed_ = true;
  due_.clear();
  const auto ready = std::exchange(ready_, {});
  const auto timers = std::exchange(timers_, {});
}

Instant ManualLoop::NextDue() {
  while (!due_.empty() && !timers_.contains(due_.front().timer)) {
    std::pop_heap(due_.begin(), due_.end(), std::greater<Due>());
    due_.pop_back();
  }
  return due_.empty() ? Instant::Infinite() : due_.front().when;
}

void ManualLoop::Ripen(Instant now) {
  while (NextDue() <= now) {
    if (due_.empty()) return;
    ready_.push_back(Ready{Task(), due_.front().timer});
    std::pop_heap(due_.begin(), due_.end(), std::greater<Due>());
    due_.pop_back();
  }
}

bool ManualLoop::RunOne() {
  Ready ready = std::move(ready_.front());
  ready_.pop_front();
  if (!ready.task) {
    const auto it = timers_.find(ready.timer);
    if (it == timers_.end()) return false;
    ready.task = std::move(it->second);
    timers_.erase(it);
  }
  ready.task();
  return true;
}

ManualWorld::ManualWorld(const Options& options)
    : rng_(options.seed),
      task_nanos_max_(static_cast<std::uint64_t>(
          std::max<std::int64_t>(0, absl::ToInt64Nanoseconds(options.task_time_max)))) {}

ManualWorld::~ManualWorld() {
  // A task may own what posts to another loop when it is destroyed: none may be gone by then.
  for (const auto& loop : loops_) loop->Crash();
}

ManualLoop& ManualWorld::AddLoop(const ManualLoop::Options& options) {
  loops_.push_back(std::make_unique<ManualLoop>(*this, options));
  live_.push_back(loops_.back().get());
  return *loops_.back();
}

bool ManualWorld::RunReady() {
  candidates_.clear();
  bool has_crashed = false;
  for (ManualLoop* loop : live_) {
    has_crashed |= loop->is_crashed_;
    if (loop->is_paused_) continue;
    loop->Ripen(now_);
    if (!loop->ready_.empty()) candidates_.push_back(loop);
  }
  if (has_crashed) std::erase_if(live_, [](ManualLoop* loop) { return loop->is_crashed_; });
  if (candidates_.empty()) return false;
  const std::size_t pick = candidates_.size() == 1 ? 0 : rng_.Below(candidates_.size());
  ++steps_;
  if (candidates_[pick]->RunOne() && task_nanos_max_ > 0) {
    now_ = now_ + absl::Nanoseconds(rng_.Below(task_nanos_max_ + 1));
  }
  return true;
}

Instant ManualWorld::NextDue() {
  Instant next = Instant::Infinite();
  for (ManualLoop* loop : live_) {
    if (!loop->is_paused_) next = std::min(next, loop->NextDue());
  }
  return next;
}

bool ManualWorld::Step() {
  if (RunReady()) return true;
  const Instant next = NextDue();
  if (next == Instant::Infinite()) return false;
  now_ = std::max(now_, next);
  return RunReady();
}

void ManualWorld::RunUntil(Instant when) {
  while (now_ < when) {
    if (RunReady()) continue;
    const Instant next = NextDue();
    if (next > when) break;
    now_ = std::max(now_, next);
  }
  now_ = std::max(now_, when);
}

void ManualWorld::RunFor(absl::Duration span) { RunUntil(now_ + span); }

bool ManualWorld::RunUntil(absl::FunctionRef<bool()> is_done, absl::Duration limit) {
  const Instant end = now_ + limit;
  while (!is_done()) {
    if (now_ >= end) return false;
    if (RunReady()) continue;
    const Instant next = NextDue();
    if (next > end || next == Instant::Infinite()) return false;
    now_ = std::max(now_, next);
  }
  return true;
}

}  // namespace cairn
