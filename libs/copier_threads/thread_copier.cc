#include "libs/copier_threads/thread_copier.h"

#include <pthread.h>

#include <deque>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "libs/base/check.h"
#include "libs/base/limits.h"
#include "libs/base/mutex.h"

namespace cairn {
namespace {

struct Job {
  absl::Span<std::byte> target;  // empty for a Sum
  absl::Span<const std::byte> source;
  absl::AnyInvocable<void(Checksum)> done;
};

struct Finished {
  absl::AnyInvocable<void(Checksum)> done;
  Checksum checksum;
};

}  // namespace

// Shared with the completions on their way to the loop, which may outlive the copier.
struct CopierState {
  Mutex mutex;
  CondVar changed;
  std::deque<Job> waiting CAIRN_GUARDED_BY(mutex);
  std::vector<Finished> finished CAIRN_GUARDED_BY(mutex);
  bool is_posted CAIRN_GUARDED_BY(mutex) = false;  // a batch of completions is on its way
  bool is_ending CAIRN_GUARDED_BY(mutex) = false;
};

struct ThreadCopier::Pool {
  explicit Pool(Loop& l) : loop(l), state(std::make_shared<CopierState>()) {}
  Loop& loop;
  const std::shared_ptr<CopierState> state;
  std::vector<std::thread> threads;

  absl::Status Add(Job job);
  void Work();
};

absl::Status ThreadCopier::Pool::Add(Job job) {
  MutexLock lock(state->mutex);
  if (state->waiting.size() >= limits::kCopyJobsMax) {
    return absl::ResourceExhaustedError("too many copies wait");
  }
  state->waiting.push_back(std::move(job));
  state->changed.NotifyOne();
  return absl::OkStatus();
}

// On the loop: calls all completions that are there.
static void RunFinished(CopierState& state) {
  std::vector<Finished> batch;
  {
    MutexLock lock(state.mutex);
    state.is_posted = false;
    batch.swap(state.finished);
  }
  for (Finished& one : batch) one.done(one.checksum);
}

void ThreadCopier::Pool::Work() {
  for (;;) {
    Job job;
    {
      MutexLock lock(state->mutex);
      while (state->waiting.empty() && !state->is_ending) state->changed.Wait(state->mutex);
      if (state->waiting.empty()) return;
      job = std::move(state->waiting.front());
      state->waiting.pop_front();
    }
    const Checksum checksum = job.target.data() == nullptr
                                  ? ChecksumOf(job.source)
                                  : CopyAndChecksum(job.target, job.source);
    bool posts = false;
    {
      MutexLock lock(state->mutex);
      state->finished.push_back(Finished{std::move(job.done), checksum});
      posts = !std::exchange(state->is_posted, true);
    }
    if (posts) loop.Post([shared = state] { RunFinished(*shared); });
  }
}

ThreadCopier::ThreadCopier(Loop& loop, const Options& options)
    : pool_(std::make_unique<Pool>(loop)) {
  CAIRN_CHECK(options.threads > 0) << options.threads;
  for (int i = 0; i < options.threads; ++i) {
    pool_->threads.emplace_back([pool = pool_.get()] { pool->Work(); });
    pthread_setname_np(pool_->threads.back().native_handle(), absl::StrCat("copy-", i).c_str());
  }
}

ThreadCopier::~ThreadCopier() {
  {
    MutexLock lock(pool_->state->mutex);
    pool_->state->is_ending = true;
    pool_->state->changed.NotifyAll();
  }
  for (std::thread& thread : pool_->threads) thread.join();
}

absl::Status ThreadCopier::Copy(absl::Span<std::byte> target, absl::Span<const std::byte> source,
                                absl::AnyInvocable<void(Checksum)> done) {
  CAIRN_CHECK(target.size() == source.size()) << target.size() << " != " << source.size();
  return pool_->Add(Job{target, source, std::move(done)});
}

absl::Status ThreadCopier::Sum(absl::Span<const std::byte> bytes,
                               absl::AnyInvocable<void(Checksum)> done) {
  return pool_->Add(Job{{}, bytes, std::move(done)});
}

}  // namespace cairn
