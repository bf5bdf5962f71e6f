#ifndef CAIRN_TOOLS_BENCH_PLACEMENT_REPLAY_TRACE_H_
#define CAIRN_TOOLS_BENCH_PLACEMENT_REPLAY_TRACE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "libs/placement/replay.h"

namespace cairn::bench {

// Requests as libs/placement replays them, whatever they were read from. Blocks are named by node
// of the trie of all prefixes: 1, 2, ... in the order in which they first came, so that a node's
// parent has a smaller name; 0 is the empty prefix.
struct ReplayTrace {
  std::string name;                // a path, or "law:NAME"
  std::string note;                // what else one has to know of it; empty: nothing
  std::uint32_t block_tokens = 0;  // of a full block
  std::vector<placement::TraceRequest> requests;
};

// Names blocks. Equal contents (or ids) after equal prefixes are one node; equal contents after
// different prefixes are two, whatever the file's ids say.
class PrefixNames {
 public:
  std::uint64_t NameOf(std::uint64_t parent, std::uint64_t content) {
    return names_.try_emplace({parent, content}, names_.size() + 1).first->second;
  }

 private:
  absl::flat_hash_map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> names_;
};

// How deep a request may agree with earlier ones, by rule R3: leading blocks seen before, the
// request's last one left out. One for each request.
std::vector<std::uint32_t> UsableDepths(absl::Span<const placement::TraceRequest> requests);

}  // namespace cairn::bench
#endif  // CAIRN_TOOLS_BENCH_PLACEMENT_REPLAY_TRACE_H_
