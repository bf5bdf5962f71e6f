#ifndef CAIRN_TOOLS_BENCH_SHARED_MEMORY_H_
#define CAIRN_TOOLS_BENCH_SHARED_MEMORY_H_

#include <memory>

#include "absl/status/statusor.h"
#include "libs/ports/memory.h"
#include "tools/bench/child_process.h"
#include "tools/bench/contender.h"

namespace cairn::bench {

// memcpy by one thread out of another process's sealed memfd, mapped read-only: the bound for
// everything on one host. Gets only; puts are compared with it too, being the same copy.
absl::StatusOr<std::unique_ptr<Contender>> NewSharedMemory(const ScratchFolder& folder,
                                                           const Buffers& buffers,
                                                           MemorySource& memory);
// The other process. Prints its descriptor and sleeps until it is killed.
absl::Status ServeSharedMemory(MemorySource& memory);

}  // namespace cairn::bench
#endif  // CAIRN_TOOLS_BENCH_SHARED_MEMORY_H_
