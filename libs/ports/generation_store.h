#ifndef CAIRN_LIBS_PORTS_GENERATION_STORE_H_
#define CAIRN_LIBS_PORTS_GENERATION_STORE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cairn {

// GenerationStore keeps values that outlive the process, each whole under a number. It knows
// nothing of what they mean: whoever stores one puts a checksum inside (libs/planner,
// snapshot_log.h).
//
// Threads: one at a time. Calls block for as long as the disk takes.
class GenerationStore {
 public:
  virtual ~GenerationStore() = default;

  // On return the value survives a crash of the machine; before that, either nothing of it or all
  // of it is there. Replaces one of the same generation, which a crash may lose. UNAVAILABLE: what
  // the system said.
  virtual absl::Status Put(std::uint64_t generation, absl::string_view value) = 0;
  // Generations that are there, ascending, readable or not.
  virtual absl::StatusOr<std::vector<std::uint64_t>> List() const = 0;
  // NOT_FOUND: none of that number. DATA_LOSS: it cannot be read.
  virtual absl::StatusOr<std::string> Get(std::uint64_t generation) const = 0;
  // One that is not there is no error.
  virtual absl::Status Remove(std::uint64_t generation) = 0;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_PORTS_GENERATION_STORE_H_
