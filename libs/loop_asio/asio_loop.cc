#include "libs/loop_asio/asio_loop.h"

#include <pthread.h>

#include <utility>  // before Asio, which uses std::exchange without it

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "libs/base/check.h"
#include "libs/base/mutex.h"

namespace cairn {
namespace {

namespace asio = boost::asio;
using Descriptor = asio::posix::stream_descriptor;

// The watches of one descriptor. Kept by its pending waits, so that a callback which ends its own
// watch does not destroy itself.
struct Watch {
  explicit Watch(asio::io_context& io) : descriptor(io) {}
  Descriptor descriptor;
  absl::AnyInvocable<void()> on_readable;
  absl::AnyInvocable<void()> on_writable;
  bool is_live = true;
};

struct Timer {
  Timer(asio::io_context& io, Task t) : timer(io), task(std::move(t)) {}
  asio::steady_timer timer;
  Task task;
};

std::chrono::steady_clock::time_point AsTimePoint(Instant when) {
  return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(when.nanos()));
}

}  // namespace

struct AsioLoop::State {
  asio::io_context io{1};
  asio::executor_work_guard<asio::io_context::executor_type> guard{io.get_executor()};
  absl::flat_hash_map<TimerId, std::unique_ptr<Timer>> timers;
  std::uint64_t timers_made = 0;
  absl::flat_hash_map<int, std::shared_ptr<Watch>> watches;

  mutable Mutex mutex;
  CondVar ended_changed;
  std::vector<Task> posted CAIRN_GUARDED_BY(mutex);
  bool is_draining CAIRN_GUARDED_BY(mutex) = false;  // a run of DrainPosted is on its way
  bool is_stopped CAIRN_GUARDED_BY(mutex) = false;
  bool has_begun CAIRN_GUARDED_BY(mutex) = false;
  bool has_ended CAIRN_GUARDED_BY(mutex) = false;
  std::thread::id runner CAIRN_GUARDED_BY(mutex);
  std::vector<Task> running;  // the batch that DrainPosted works on
  std::thread thread;

  void DrainPosted();
  void Run();
  void DestroyAll();
  void Wait(const std::shared_ptr<Watch>& watch, bool for_read);
  absl::StatusOr<std::shared_ptr<Watch>> WatchOf(int fd);
  bool Stopped() const {
    MutexLock lock(mutex);
    return is_stopped;
  }
};

void AsioLoop::State::DrainPosted() {
  {
    MutexLock lock(mutex);
    is_draining = false;
    if (is_stopped) return;
    running.swap(posted);
  }
  for (Task& task : running) {
    task();
    task = nullptr;
    if (io.stopped()) break;  // DestroyAll sees to the rest
  }
  if (!io.stopped()) running.clear();
}

void AsioLoop::State::Run() {
  bool stopped = false;
  {
    MutexLock lock(mutex);
    CAIRN_CHECK(!has_begun) << "a loop runs once";
    has_begun = true;
    runner = std::this_thread::get_id();
    stopped = is_stopped;
  }
  if (!stopped) io.run();
  DestroyAll();
  MutexLock lock(mutex);
  has_ended = true;
  ended_changed.NotifyAll();
}

void AsioLoop::State::DestroyAll() {
  std::vector<Task> doomed;
  {
    MutexLock lock(mutex);
    doomed.swap(posted);
  }
  doomed.clear();
  running.clear();
  const auto doomed_timers = std::exchange(timers, {});
  auto doomed_watches = std::exchange(watches, {});
  for (auto& [fd, watch] : doomed_watches) {
    watch->is_live = false;
    watch->descriptor.release();
    watch->on_readable = nullptr;
    watch->on_writable = nullptr;
  }
}

AsioLoop::AsioLoop() : state_(std::make_unique<State>()) {}

AsioLoop::~AsioLoop() {
  Stop();
  if (state_->thread.joinable()) state_->thread.join();
  state_->DestroyAll();  // of a loop that never ran
}

void AsioLoop::Run() { state_->Run(); }

void AsioLoop::Start(const std::string& thread_name) {
  CAIRN_CHECK(!state_->thread.joinable()) << "started twice";
  state_->thread = std::thread([state = state_.get()] { state->Run(); });
  pthread_setname_np(state_->thread.native_handle(), thread_name.substr(0, 15).c_str());
}

void AsioLoop::Stop() {
  State& state = *state_;
  MutexLock lock(state.mutex);
  state.is_stopped = true;
  state.io.stop();
  if (!state.has_begun || state.runner == std::this_thread::get_id()) return;
  while (!state.has_ended) state.ended_changed.Wait(state.mutex);
}

bool AsioLoop::IsOwnThread() const {
  MutexLock lock(state_->mutex);
  return state_->runner == std::this_thread::get_id();
}

Instant AsioLoop::Now() const {
  return Instant::FromNanos(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                std::chrono::steady_clock::now().time_since_epoch())
                                .count());
}

void AsioLoop::Post(Task task) {
  State& state = *state_;
  MutexLock lock(state.mutex);  // `task` is a parameter: if refused, it is destroyed after the lock
  if (state.is_stopped) return;
  state.posted.push_back(std::move(task));
  if (std::exchange(state.is_draining, true)) return;
  asio::post(state.io, [&state] { state.DrainPosted(); });
}

TimerId AsioLoop::RunAt(Instant when, Task task) {
  State& state = *state_;
  const TimerId id(++state.timers_made);
  if (state.Stopped()) return id;
  auto timer = std::make_unique<Timer>(state.io, std::move(task));
  if (when != Instant::Infinite()) {
    timer->timer.expires_at(AsTimePoint(when));
    timer->timer.async_wait([&state, id](const boost::system::error_code& error) {
      if (error) return;
      const auto it = state.timers.find(id);
      if (it == state.timers.end()) return;  // cancelled when it was already due
      const std::unique_ptr<Timer> due = std::move(it->second);
      state.timers.erase(it);
      due->task();
    });
  }
  state.timers.emplace(id, std::move(timer));
  return id;
}

void AsioLoop::Cancel(TimerId timer) {
  const auto it = state_->timers.find(timer);
  if (it == state_->timers.end()) return;
  const std::unique_ptr<Timer> doomed = std::move(it->second);
  state_->timers.erase(it);
}

absl::StatusOr<std::shared_ptr<Watch>> AsioLoop::State::WatchOf(int fd) {
  std::shared_ptr<Watch>& watch = watches[fd];
  if (watch != nullptr) return watch;
  auto made = std::make_shared<Watch>(io);
  boost::system::error_code error;
  made->descriptor.assign(fd, error);
  if (error) {
    watches.erase(fd);
    return absl::InvalidArgumentError(
        absl::StrCat("cannot watch descriptor ", fd, ": ", error.message()));
  }
  watch = std::move(made);
  return watch;
}

void AsioLoop::State::Wait(const std::shared_ptr<Watch>& watch, bool for_read) {
  watch->descriptor.async_wait(for_read ? Descriptor::wait_read : Descriptor::wait_write,
                               [this, watch, for_read](const boost::system::error_code& error) {
                                 if (error || !watch->is_live) return;
                                 (for_read ? watch->on_readable : watch->on_writable)();
                                 if (watch->is_live) Wait(watch, for_read);
                               });
}

absl::Status AsioLoop::WatchReadable(int fd, absl::AnyInvocable<void()> on_ready) {
  if (state_->Stopped()) return absl::OkStatus();
  absl::StatusOr<std::shared_ptr<Watch>> watch = state_->WatchOf(fd);
  if (!watch.ok()) return watch.status();
  CAIRN_CHECK(!(*watch)->on_readable) << "descriptor " << fd << " is watched already";
  (*watch)->on_readable = std::move(on_ready);
  state_->Wait(*watch, /*for_read=*/true);
  return absl::OkStatus();
}

absl::Status AsioLoop::WatchWritable(int fd, absl::AnyInvocable<void()> on_ready) {
  if (state_->Stopped()) return absl::OkStatus();
  absl::StatusOr<std::shared_ptr<Watch>> watch = state_->WatchOf(fd);
  if (!watch.ok()) return watch.status();
  CAIRN_CHECK(!(*watch)->on_writable) << "descriptor " << fd << " is watched already";
  (*watch)->on_writable = std::move(on_ready);
  state_->Wait(*watch, /*for_read=*/false);
  return absl::OkStatus();
}

void AsioLoop::Unwatch(int fd) {
  const auto it = state_->watches.find(fd);
  if (it == state_->watches.end()) return;
  const std::shared_ptr<Watch> watch = std::move(it->second);
  state_->watches.erase(it);
  watch->is_live = false;
  watch->descriptor.release();  // gives the descriptor back and ends its waits
}

}  // namespace cairn
