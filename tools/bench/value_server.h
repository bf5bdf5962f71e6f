#ifndef CAIRN_TOOLS_BENCH_VALUE_SERVER_H_
#define CAIRN_TOOLS_BENCH_VALUE_SERVER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "tools/bench/child_process.h"
#include "tools/bench/contender.h"

namespace cairn::bench {

// The caches that people have: a server of our own on loopback, spoken to over one raw socket, so
// that no client library's copies are measured. Values go straight between socket and buffers.
// NOT_FOUND: `program` is not installed.
absl::StatusOr<std::unique_ptr<Contender>> NewMemcached(const ScratchFolder& folder,
                                                        const Buffers& buffers,
                                                        const std::string& program);
absl::StatusOr<std::unique_ptr<Contender>> NewRedis(const ScratchFolder& folder,
                                                    const Buffers& buffers,
                                                    const std::string& program);

}  // namespace cairn::bench
#endif  // CAIRN_TOOLS_BENCH_VALUE_SERVER_H_
