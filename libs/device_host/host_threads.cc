#include "libs/device_host/host_threads.h"

#include "libs/base/check.h"

namespace cairn {
namespace {

// About 20 us of waiting in place: longer than the gap between two sections of a step, far shorter
// than what a sleeping caller would notice.
constexpr int kSpins = 2000;

inline void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// Waits until `word` is no longer `seen`.
void AwaitChange(const std::atomic<std::uint32_t>& word, std::uint32_t seen) {
  for (int i = 0; i < kSpins; ++i) {
    if (word.load(std::memory_order_acquire) != seen) return;
    Pause();
  }
  word.wait(seen, std::memory_order_acquire);
}

}  // namespace

HostThreads::HostThreads(std::uint32_t threads) {
  CAIRN_CHECK(threads >= 1);
  for (std::uint32_t i = 1; i < threads; ++i) team_.emplace_back([this, i] { Serve(i); });
}

HostThreads::~HostThreads() {
  is_stopping_.store(true, std::memory_order_relaxed);
  section_.fetch_add(1, std::memory_order_release);
  section_.notify_all();
  for (std::thread& member : team_) member.join();
}

void HostThreads::Run(absl::FunctionRef<void(std::uint32_t)> part) {
  if (team_.empty()) return part(0);
  part_ = &part;
  running_.store(static_cast<std::uint32_t>(team_.size()), std::memory_order_relaxed);
  section_.fetch_add(1, std::memory_order_release);
  section_.notify_all();
  part(0);
  for (;;) {
    const std::uint32_t running = running_.load(std::memory_order_acquire);
    if (running == 0) return;
    AwaitChange(running_, running);
  }
}

void HostThreads::Serve(std::uint32_t index) {
  std::uint32_t seen = 0;
  for (;;) {
    AwaitChange(section_, seen);
    ++seen;  // Run waits for every member, so sections are never skipped
    if (is_stopping_.load(std::memory_order_relaxed)) return;
    (*part_)(index);
    if (running_.fetch_sub(1, std::memory_order_acq_rel) == 1) running_.notify_one();
  }
}

}  // namespace cairn
