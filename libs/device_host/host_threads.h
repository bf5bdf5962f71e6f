#ifndef CAIRN_LIBS_DEVICE_HOST_HOST_THREADS_H_
#define CAIRN_LIBS_DEVICE_HOST_HOST_THREADS_H_

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "absl/functional/function_ref.h"

namespace cairn {

// HostThreads runs one function on a fixed team of threads, the caller among them, and waits for
// all: a parallel section. Sections are short (tens of microseconds), so idle members spin briefly
// before they sleep; a team that is not used uses no CPU. Threads: one caller at a time.
class HostThreads {
 public:
  explicit HostThreads(std::uint32_t threads);  // >= 1, the caller included
  ~HostThreads();
  HostThreads(const HostThreads&) = delete;
  HostThreads& operator=(const HostThreads&) = delete;

  std::uint32_t threads() const { return static_cast<std::uint32_t>(team_.size()) + 1; }
  // Calls part(i) once for every i below threads(), each on a thread of its own.
  void Run(absl::FunctionRef<void(std::uint32_t)> part);

 private:
  void Serve(std::uint32_t index);

  std::vector<std::thread> team_;
  const absl::FunctionRef<void(std::uint32_t)>* part_ = nullptr;  // of the section that runs
  std::atomic<std::uint32_t> section_{0};  // counts sections; a change starts one
  std::atomic<std::uint32_t> running_{0};  // members that have not finished the section
  std::atomic<bool> is_stopping_{false};
};

}  // namespace cairn
#endif  // CAIRN_LIBS_DEVICE_HOST_HOST_THREADS_H_
