#ifndef CAIRN_TOOLS_BENCH_PLACEMENT_LAW_TRACE_H_
#define CAIRN_TOOLS_BENCH_PLACEMENT_LAW_TRACE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tools/bench/placement/replay_trace.h"

namespace cairn::bench {

// Synthetic traces, each by one plain law, so that what a strategy makes of it can be foretold.
//   uniform    a request goes on from an earlier entry at any of its depths alike
//   sessions   conversations: a request is the last one of its session, whole, and something more
//   documents  questions on long documents, a few asked often: they part where the document ends
//   heads      a few shared heads of fixed length, and after them nothing that is alike
//   jump       documents of which the first quarter is shared, and from the middle of the trace on
//              three quarters
struct Law {
  absl::string_view name;
  absl::string_view meaning;
};
const std::vector<Law>& Laws();

struct LawTraceOptions {
  std::string law;
  std::size_t requests = 0;
  std::uint32_t block_tokens = 0;
  std::uint64_t seed = 0;
};

// The same trace for the same options on every machine. INVALID_ARGUMENT lists the laws.
absl::StatusOr<ReplayTrace> MakeLawTrace(const LawTraceOptions& options);

}  // namespace cairn::bench
#endif  // CAIRN_TOOLS_BENCH_PLACEMENT_LAW_TRACE_H_
