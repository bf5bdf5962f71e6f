#ifndef CAIRN_TESTS_UNIT_BENCH_PLACEMENT_RANDOM_TRACE_H_
#define CAIRN_TESTS_UNIT_BENCH_PLACEMENT_RANDOM_TRACE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "libs/base/rng.h"
#include "tools/bench/placement/replay_trace.h"

namespace cairn::bench {

// Requests that go on from the cut of an earlier one, with few contents, so that they meet often.
inline std::vector<placement::TraceRequest> RandomRequests(Rng& rng, std::size_t count,
                                                           std::uint64_t more_max) {
  std::vector<placement::TraceRequest> requests;
  std::vector<std::vector<std::uint64_t>> texts;
  PrefixNames names;
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<std::uint64_t> text;
    if (!texts.empty()) {
      text = texts[rng.Below(texts.size())];
      text.resize(rng.Below(text.size() + 1));
    }
    for (std::uint64_t more = rng.Between(1, more_max); more > 0; --more) {
      text.push_back(rng.Below(3));
    }
    placement::TraceRequest request{
        .blocks = {}, .full_blocks = static_cast<std::uint32_t>(text.size() - rng.Below(2))};
    std::uint64_t node = 0;
    for (const std::uint64_t content : text) {
      node = names.NameOf(node, content);
      request.blocks.push_back(node);
    }
    requests.push_back(std::move(request));
    texts.push_back(std::move(text));
  }
  return requests;
}

}  // namespace cairn::bench
#endif  // CAIRN_TESTS_UNIT_BENCH_PLACEMENT_RANDOM_TRACE_H_
