#include "libs/copier_threads/thread_copier.h"

#include <pthread.h>

#include <algorithm>
#include <deque>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "libs/base/check.h"
#include "libs/base/checksum_pieces.h"
#include "libs/base/limits.h"
#include "libs/base/mutex.h"
#include "libs/base/units.h"

namespace cairn {
namespace {

// A job that is alone and this small is done by the caller, within about 40 us: to wake a thread
// and to be woken by it takes longer.
constexpr std::size_t kAtOnceBytes = 256 * kKiB;
// A large job is shared by the threads, in parts of at least this size.
constexpr std::size_t kPartBytesMin = 256 * kKiB;

struct Job {
  absl::Span<std::byte> target;  // empty for a Sum
  absl::Span<const std::byte> source;
  absl::AnyInvocable<void(Checksum)> done;
  std::vector<std::uint64_t> sums;  // of its pieces, if it has parts
  std::size_t parts_left = 1;       // guarded by the state's mutex
};

// What one thread does of a job.
struct Part {
  std::shared_ptr<Job> job;
  std::size_t at = 0;
  std::size_t bytes = 0;
};

struct Finished {
  absl::AnyInvocable<void(Checksum)> done;
  Checksum checksum;
};

Checksum DoAll(const Job& job) {
  return job.target.data() == nullptr ? ChecksumOf(job.source)
                                      : CopyAndChecksum(job.target, job.source);
}

void DoPart(const Part& part) {
  Job& job = *part.job;
  const absl::Span<const std::byte> source = job.source.subspan(part.at, part.bytes);
  const absl::Span<std::uint64_t> sums =
      absl::MakeSpan(job.sums).subspan(part.at / kPieceBytes, CeilDiv(part.bytes, kPieceBytes));
  if (job.target.data() == nullptr) {
    SumPieces(source, sums);
  } else {
    CopyAndSumPieces(job.target.subspan(part.at, part.bytes), source, sums);
  }
}

}  // namespace

// Shared with the completions on their way to the loop, which may outlive the copier.
struct CopierState {
  Mutex mutex;
  CondVar changed;
  std::deque<Part> waiting CAIRN_GUARDED_BY(mutex);
  std::vector<Finished> finished CAIRN_GUARDED_BY(mutex);
  std::size_t jobs CAIRN_GUARDED_BY(mutex) = 0;    // taken, their completions not yet begun
  bool is_posted CAIRN_GUARDED_BY(mutex) = false;  // a batch of completions is on its way
  bool is_ending CAIRN_GUARDED_BY(mutex) = false;
};

struct ThreadCopier::Pool {
  Pool(Loop& l, std::size_t t) : loop(l), threads_max(t), state(std::make_shared<CopierState>()) {}
  Loop& loop;
  const std::size_t threads_max;
  const std::shared_ptr<CopierState> state;
  std::vector<std::thread> threads;

  absl::Status Add(Job job);
  void Work();
  void Finish(Job& job, Checksum checksum);
};

absl::Status ThreadCopier::Pool::Add(Job job) {
  const std::size_t bytes = job.source.size();
  const std::size_t parts = std::clamp<std::size_t>(bytes / kPartBytesMin, 1, threads_max);
  bool is_alone = false;
  {
    MutexLock lock(state->mutex);
    if (state->jobs > limits::kCopyJobsMax) {
      return absl::ResourceExhaustedError("too many copies wait");
    }
    is_alone = state->jobs++ == 0;
  }
  if (is_alone && bytes <= kAtOnceBytes) {
    Finish(job, DoAll(job));
    return absl::OkStatus();
  }
  if (parts > 1) job.sums.resize(CeilDiv(bytes, kPieceBytes));
  const std::size_t part_bytes = RoundUp(CeilDiv(bytes, parts), kPieceBytes);
  const auto shared = std::make_shared<Job>(std::move(job));
  MutexLock lock(state->mutex);
  shared->parts_left = 0;
  std::size_t at = 0;
  do {
    state->waiting.push_back({shared, at, std::min(part_bytes, bytes - at)});
    ++shared->parts_left;
    at += part_bytes;
    state->changed.NotifyOne();
  } while (at < bytes);
  return absl::OkStatus();
}

// On the loop: calls all completions that are there.
static void RunFinished(CopierState& state) {
  std::vector<Finished> batch;
  {
    MutexLock lock(state.mutex);
    state.is_posted = false;
    batch.swap(state.finished);
    state.jobs -= batch.size();
  }
  for (Finished& one : batch) one.done(one.checksum);
}

void ThreadCopier::Pool::Finish(Job& job, Checksum checksum) {
  bool posts = false;
  {
    MutexLock lock(state->mutex);
    state->finished.push_back(Finished{std::move(job.done), checksum});
    posts = !std::exchange(state->is_posted, true);
  }
  if (posts) loop.Post([shared = state] { RunFinished(*shared); });
}

void ThreadCopier::Pool::Work() {
  for (;;) {
    Part part;
    {
      MutexLock lock(state->mutex);
      while (state->waiting.empty() && !state->is_ending) state->changed.Wait(state->mutex);
      if (state->waiting.empty()) return;
      part = std::move(state->waiting.front());
      state->waiting.pop_front();
    }
    if (part.job->sums.empty()) {
      Finish(*part.job, DoAll(*part.job));
      continue;
    }
    DoPart(part);
    bool is_last = false;
    {
      MutexLock lock(state->mutex);
      is_last = --part.job->parts_left == 0;
    }
    if (is_last) Finish(*part.job, ChecksumOfSums(part.job->sums));
  }
}

ThreadCopier::ThreadCopier(Loop& loop, const Options& options)
    : pool_(std::make_unique<Pool>(loop, static_cast<std::size_t>(options.threads))) {
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
  return pool_->Add(Job{.target = target, .source = source, .done = std::move(done)});
}

absl::Status ThreadCopier::Sum(absl::Span<const std::byte> bytes,
                               absl::AnyInvocable<void(Checksum)> done) {
  return pool_->Add(Job{.target = {}, .source = bytes, .done = std::move(done)});
}

}  // namespace cairn
