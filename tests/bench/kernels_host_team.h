#ifndef CAIRN_TESTS_BENCH_KERNELS_HOST_TEAM_H_
#define CAIRN_TESTS_BENCH_KERNELS_HOST_TEAM_H_

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

// Threads and memory of the benches of kernels/host, which has neither.

namespace cairn::host::bench {

// Threads that run one function together, with a barrier that spins: sections last microseconds.
class Team {
 public:
  explicit Team(int size) : size_(size) {
    for (int i = 1; i < size; ++i) threads_.emplace_back([this, i] { Serve(i); });
  }
  ~Team() {
    Run({});
    for (std::thread& t : threads_) t.join();
  }
  int size() const { return size_; }
  void Run(std::function<void(int)> work) {
    work_ = std::move(work);
    Wait();
    if (work_) work_(0);
    Wait();
  }
  // Called by every member inside `work`.
  void Wait() {
    const int turn = turn_.load(std::memory_order_acquire);
    if (waiting_.fetch_add(1, std::memory_order_acq_rel) + 1 == size_) {
      waiting_.store(0, std::memory_order_relaxed);
      turn_.store(turn + 1, std::memory_order_release);
      return;
    }
    for (int spins = 0; turn_.load(std::memory_order_acquire) == turn; ++spins) {
      if (spins > 20000) std::this_thread::yield();
    }
  }

 private:
  void Serve(int index) {
    for (;;) {
      Wait();
      if (!work_) return Wait();
      work_(index);
      Wait();
    }
  }
  const int size_;
  std::function<void(int)> work_;
  std::atomic<int> waiting_{0};
  std::atomic<int> turn_{0};
  std::vector<std::thread> threads_;
};

template <class T>
struct Buffer {  // 64-byte aligned
  explicit Buffer(std::size_t count)
      : memory(static_cast<T*>(std::aligned_alloc(4096, (count * sizeof(T) + 4095) / 4096 * 4096)),
               &std::free) {
    std::memset(memory.get(), 0, count * sizeof(T));
  }
  T* get() const { return memory.get(); }
  std::unique_ptr<T, void (*)(void*)> memory;
};

}  // namespace cairn::host::bench

#endif  // CAIRN_TESTS_BENCH_KERNELS_HOST_TEAM_H_
