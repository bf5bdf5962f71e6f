#ifndef CAIRN_TOOLS_BENCH_PLACEMENT_MOONCAKE_TRACE_H_
#define CAIRN_TOOLS_BENCH_PLACEMENT_MOONCAKE_TRACE_H_

#include <cstddef>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "tools/bench/placement/replay_trace.h"

namespace cairn::bench {

// Told how much of a file is read, 0..1; false: stop.
using ReadWatch = absl::FunctionRef<bool(double share)>;

// A trace in Mooncake's form: a JSON object a line, with `input_length` in tokens and `hash_ids` of
// its blocks of 512 (equal ids: equal prefix). Other fields are not looked at (R1). The first
// `requests_max` lines. INVALID_ARGUMENT names file and line: a field missing, of another type or
// beyond limits.h, more full blocks than ids, no request at all. CANCELLED: the watch said so.
absl::StatusOr<ReplayTrace> ReadMooncakeTrace(const std::string& path, std::size_t requests_max,
                                              ReadWatch watch);

}  // namespace cairn::bench
#endif  // CAIRN_TOOLS_BENCH_PLACEMENT_MOONCAKE_TRACE_H_
