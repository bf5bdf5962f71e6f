#include "libs/copier_manual/manual_copier.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "libs/base/check.h"
#include "libs/base/limits.h"
#include "libs/base/units.h"

namespace cairn {

struct ManualCopier::Shared {
  Loop& loop;
  const Options options;
  Rng rng;
  std::size_t jobs = 0;
};

// Owned by the loop's timer, so that a crash of the loop ends it without another byte moved.
struct ManualCopier::Job {
  Job(std::shared_ptr<Shared> s, absl::Span<std::byte> t, absl::Span<const std::byte> from,
      absl::AnyInvocable<void(Checksum)> on_done)
      : shared(std::move(s)), target(t), source(from), done(std::move(on_done)) {
    ++shared->jobs;
  }
  ~Job() { --shared->jobs; }

  const std::shared_ptr<Shared> shared;
  absl::Span<std::byte> target;
  const absl::Span<const std::byte> source;
  absl::AnyInvocable<void(Checksum)> done;
  std::string scratch;  // the target of a Sum: what it saw, slice by slice
  std::size_t moved = 0;
};

ManualCopier::ManualCopier(Loop& loop, const Options& options)
    : shared_(std::make_shared<Shared>(Shared{loop, options, Rng(options.seed)})) {
  CAIRN_CHECK(options.slice_bytes_max >= kPieceBytes) << options.slice_bytes_max;
}

std::size_t ManualCopier::jobs() const { return shared_->jobs; }

absl::Status ManualCopier::Copy(absl::Span<std::byte> target, absl::Span<const std::byte> source,
                                absl::AnyInvocable<void(Checksum)> done) {
  CAIRN_CHECK(target.size() == source.size()) << target.size() << " != " << source.size();
  return Begin(std::make_unique<Job>(shared_, target, source, std::move(done)));
}

absl::Status ManualCopier::Sum(absl::Span<const std::byte> bytes,
                               absl::AnyInvocable<void(Checksum)> done) {
  auto job = std::make_unique<Job>(shared_, absl::Span<std::byte>(), bytes, std::move(done));
  job->scratch.resize(bytes.size());
  job->target = absl::MakeSpan(reinterpret_cast<std::byte*>(job->scratch.data()), bytes.size());
  return Begin(std::move(job));
}

absl::Status ManualCopier::Begin(std::unique_ptr<Job> job) {
  if (shared_->jobs > limits::kCopyJobsMax) {
    return absl::ResourceExhaustedError("too many copies wait");
  }
  Schedule(std::move(job));
  return absl::OkStatus();
}

void ManualCopier::Schedule(std::unique_ptr<Job> job) {
  Shared& shared = *job->shared;
  const auto delay_max = absl::ToInt64Nanoseconds(shared.options.delay_max);
  const auto delay =
      absl::Nanoseconds(shared.rng.Between(0, static_cast<std::uint64_t>(delay_max)));
  shared.loop.RunAt(shared.loop.Now() + delay,
                    [job = std::move(job)]() mutable { RunSlice(std::move(job)); });
}

void ManualCopier::RunSlice(std::unique_ptr<Job> job) {
  Shared& shared = *job->shared;
  const std::size_t slice =
      std::min<std::size_t>(shared.rng.Between(kPieceBytes, shared.options.slice_bytes_max),
                            job->source.size() - job->moved);
  if (slice > 0) {
    std::memcpy(job->target.data() + job->moved, job->source.data() + job->moved, slice);
    job->moved += slice;
  }
  if (job->moved < job->source.size()) {
    Schedule(std::move(job));
    return;
  }
  const Checksum checksum = ChecksumOf(job->target);
  auto done = std::move(job->done);
  job.reset();  // not a job any more when its owner asks
  done(checksum);
}

}  // namespace cairn
