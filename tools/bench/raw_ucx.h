#ifndef CAIRN_TOOLS_BENCH_RAW_UCX_H_
#define CAIRN_TOOLS_BENCH_RAW_UCX_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "libs/ports/memory.h"
#include "tools/bench/child_process.h"
#include "tools/bench/contender.h"

namespace cairn::bench {

// UCX active messages and nothing else, over tcp with the product's context, worker and settings:
// what libs/transport_ucx could reach at best.
//   get: a request; the answer's bytes come by rendezvous      put: bytes by rendezvous; an answer
// Both sides wait like the product: poll for 50 us, then sleep on the descriptor.
absl::StatusOr<std::unique_ptr<Contender>> NewRawUcx(const ScratchFolder& folder,
                                                     const Buffers& buffers);
// The other process. Prints its address; never returns but for an error.
absl::Status ServeRawUcx(MemorySource& memory);

}  // namespace cairn::bench
#endif  // CAIRN_TOOLS_BENCH_RAW_UCX_H_
