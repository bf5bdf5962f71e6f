#ifndef CAIRN_TOOLS_BENCH_TRANSPORT_PAIR_H_
#define CAIRN_TOOLS_BENCH_TRANSPORT_PAIR_H_

#include <memory>

#include "absl/status/statusor.h"
#include "libs/loop_asio/asio_loop.h"
#include "libs/ports/memory.h"
#include "tools/bench/child_process.h"
#include "tools/bench/contender.h"

namespace cairn::bench {

// libs/transport_ucx alone, over tcp, with the messages of libs/wire and nothing behind them: no
// index, no pins, no checksums. What a node and its peer could reach at best.
//   get: PULL ─► ◄─ DATA      put: OFFER ─► ◄─ WANT, DATA ─► ◄─ STORED
absl::StatusOr<std::unique_ptr<Contender>> NewTransportPair(const ScratchFolder& folder,
                                                            const Buffers& buffers, AsioLoop& loop);
// The other process. Prints its address; never returns but for an error.
absl::Status ServeTransportPair(MemorySource& memory);

}  // namespace cairn::bench
#endif  // CAIRN_TOOLS_BENCH_TRANSPORT_PAIR_H_
