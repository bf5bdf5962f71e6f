#ifndef CAIRN_LIBS_COPIER_MANUAL_MANUAL_COPIER_H_
#define CAIRN_LIBS_COPIER_MANUAL_MANUAL_COPIER_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/time/time.h"
#include "libs/base/rng.h"
#include "libs/ports/copier.h"
#include "libs/ports/loop.h"

namespace cairn {

// ManualCopier is the simulated twin of copier_threads: a copy moves slice by slice over the loop's
// time, so that whatever may write the source in between does. What is summed is what was seen.
//
// Threads: its loop. Jobs belong to the loop: they go on after the copier's end, and die in its
// crash.
class ManualCopier : public Copier {
 public:
  struct Options {
    std::uint64_t seed = 1;
    std::size_t slice_bytes_max = 64 * 1024;  // a slice is 4 KiB to this, the seed's choice
    absl::Duration delay_max = absl::Microseconds(50);  // before each slice
  };
  ManualCopier(Loop& loop, const Options& options);
  absl::Status Copy(absl::Span<std::byte> target, absl::Span<const std::byte> source,
                    absl::AnyInvocable<void(Checksum)> done) override;
  absl::Status Sum(absl::Span<const std::byte> bytes,
                   absl::AnyInvocable<void(Checksum)> done) override;
  std::size_t jobs() const;

 private:
  struct Job;
  struct Shared;
  absl::Status Begin(std::unique_ptr<Job> job);
  static void Schedule(std::unique_ptr<Job> job);
  static void RunSlice(std::unique_ptr<Job> job);

  const std::shared_ptr<Shared> shared_;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_COPIER_MANUAL_MANUAL_COPIER_H_
