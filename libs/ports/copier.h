#ifndef CAIRN_LIBS_PORTS_COPIER_H_
#define CAIRN_LIBS_PORTS_COPIER_H_

#include <cstddef>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "libs/base/checksum.h"

namespace cairn {

// Copier moves and sums bulk bytes off the loop (threads in production, slices of virtual time in
// simulation, so that every race of a copy with its source is tried).
//
// Threads: calls from the loop that it was made for; `done` runs on that loop.
// Limits:  RESOURCE_EXHAUSTED when limits::kCopyJobsMax jobs wait.
// Loans:   both spans are lent until `done`, which always comes, also at shutdown.
class Copier {
 public:
  virtual ~Copier() = default;
  // Copies `source` to `target` (equal sizes), then calls `done` with the checksum of what `target`
  // holds.
  virtual absl::Status Copy(absl::Span<std::byte> target, absl::Span<const std::byte> source,
                            absl::AnyInvocable<void(Checksum)> done) = 0;
  // Calls `done` with the checksum of `bytes`.
  virtual absl::Status Sum(absl::Span<const std::byte> bytes,
                           absl::AnyInvocable<void(Checksum)> done) = 0;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_PORTS_COPIER_H_
