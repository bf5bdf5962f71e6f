#ifndef CAIRN_TOOLS_BENCH_PLACEMENT_AGENT_TRACE_H_
#define CAIRN_TOOLS_BENCH_PLACEMENT_AGENT_TRACE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tools/bench/placement/mooncake_trace.h"
#include "tools/bench/placement/replay_trace.h"

namespace cairn::bench {

struct AgentTraceOptions {
  std::string model;                // a GGUF file, for its tokenizer; empty: WordTokens
  std::uint32_t block_tokens = 64;  // 1 .. 2^16
  std::size_t requests_max = 0;
};

// Runs of agents as text: a JSON object a line, one model call, its whole prompt in `input`.
// Prompts become tokens and blocks; a block's name is what it holds and all before it. The trace's
// note says which tokens, and how many calls had no prompt and are left out. INVALID_ARGUMENT names
// file and line, or the model; CANCELLED.
absl::StatusOr<ReplayTrace> ReadAgentTrace(const std::string& path,
                                           const AgentTraceOptions& options, ReadWatch watch);

// Tokens where there is no vocabulary: words, each with the white space before it (trailing white
// space is one more), named by a hash of their bytes.
std::vector<std::uint32_t> WordTokens(absl::string_view text);

// The names of a request's blocks: full ones of `block_tokens`, and what is left as one more.
placement::TraceRequest BlocksOf(const std::vector<std::uint32_t>& tokens,
                                 std::uint32_t block_tokens, PrefixNames& names);

}  // namespace cairn::bench
#endif  // CAIRN_TOOLS_BENCH_PLACEMENT_AGENT_TRACE_H_
