#ifndef CAIRN_LIBS_COPIER_THREADS_THREAD_COPIER_H_
#define CAIRN_LIBS_COPIER_THREADS_THREAD_COPIER_H_

#include <cstddef>
#include <memory>

#include "libs/ports/copier.h"
#include "libs/ports/loop.h"

namespace cairn {

// ThreadCopier copies and sums on threads of its own, which share large jobs; completions come to
// the loop in batches. A job of at most 256 KiB that finds no other is done by the caller, within
// about 40 us; its completion is posted like any. The destructor finishes all jobs first and posts
// their completions: they run if the loop still does.
//
// Threads: calls from the loop's thread (or, once it has stopped, the one that stopped it).
class ThreadCopier : public Copier {
 public:
  struct Options {
    int threads = 2;
  };
  ThreadCopier(Loop& loop, const Options& options);
  ~ThreadCopier() override;
  absl::Status Copy(absl::Span<std::byte> target, absl::Span<const std::byte> source,
                    absl::AnyInvocable<void(Checksum)> done) override;
  absl::Status Sum(absl::Span<const std::byte> bytes,
                   absl::AnyInvocable<void(Checksum)> done) override;

 private:
  struct Pool;
  const std::unique_ptr<Pool> pool_;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_COPIER_THREADS_THREAD_COPIER_H_
