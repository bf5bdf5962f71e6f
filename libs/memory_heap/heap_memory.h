#ifndef CAIRN_LIBS_MEMORY_HEAP_HEAP_MEMORY_H_
#define CAIRN_LIBS_MEMORY_HEAP_HEAP_MEMORY_H_

#include <cstdint>
#include <memory>

#include "libs/ports/memory.h"

namespace cairn {

// HeapMemorySource is the simulated twin of memory_memfd: "shared" memory of one process. A mapping
// is a view of the owner's bytes, so a peer sees every later write, and outlives the owner as a
// kernel mapping would.
//
// Threads: any.
class HeapMemorySource : public MemorySource {
 public:
  HeapMemorySource() = default;
  absl::StatusOr<std::unique_ptr<OwnedMemory>> Create(absl::string_view name,
                                                      std::uint64_t bytes) override;
  absl::StatusOr<std::unique_ptr<PeerMemory>> Map(MemoryGrant grant,
                                                  std::uint64_t bytes_max) override;
};

// What a hostile peer may hand over: memory whose seals are missing, or that is not allocated in
// full.
enum class HeapFlaw { kUnsealed, kSparse };
MemoryGrant FlawedHeapGrant(std::uint64_t bytes, HeapFlaw flaw);

}  // namespace cairn
#endif  // CAIRN_LIBS_MEMORY_HEAP_HEAP_MEMORY_H_
