#ifndef CAIRN_TOOLS_BENCH_PLACEMENT_PUBLISHED_LOG_H_
#define CAIRN_TOOLS_BENCH_PLACEMENT_PUBLISHED_LOG_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "libs/placement/overlap_histogram.h"

namespace cairn::bench {

// The run logs that the authors of "Sparse Prefix Caching" (arXiv 2605.05219) published: one folder
// a data set, one file a run, one line a request.
//   e2e_dp_M.jsonl              their method with M states: an optimal plan of a fading histogram
//   e2e_dp_M_histograms.json    the histogram at each of its solves
//   e2e_balanced_M.jsonl, e2e_block_B.jsonl, e2e_no_cache.jsonl    rules that learn nothing

inline constexpr std::uint32_t kLogGrid = 64;  // tokens: positions are multiples of it

struct LogRequest {
  std::string conversation;
  std::uint32_t length = 0;              // tokens
  std::uint32_t match = 0;               // tokens that agree with what their cache held
  std::vector<std::uint32_t> positions;  // tokens: where they put states
  std::uint32_t entries = 0;             // in their cache then
};

struct PublishedRun {
  std::string rule;          // "dp", "balanced", "block", "no_cache"
  std::uint32_t number = 0;  // states, or tokens between them ("block"); 0: none
  std::string path;
  std::vector<LogRequest> requests;
};

// The histogram with which a log begins.
struct FirstHistogram {
  std::uint64_t observations = 0;
  placement::OverlapHistogram histogram;
};

struct PublishedSet {
  std::string name;                // the folder's
  std::vector<PublishedRun> runs;  // by rule, then by number
  // By run: where its method began, of its own file, else of another run over the same requests.
  std::vector<std::optional<FirstHistogram>> first;
};

// The run whose requests stand for the set: one of the method, else one that had a cache. What is
// the same in all of them: conversations, lengths and matches.
const PublishedRun& CachedRun(const PublishedSet& set);
// How many entries the cache of its runs had: no request ever saw more. 0: the logs do not say.
std::size_t CacheEntries(const PublishedSet& set);

// The sets in a folder: it is one itself, or its folders are. INVALID_ARGUMENT naming file and
// line: no logs there, or anything in them that no run could have written (a position off the grid
// or beyond the request, a match longer than the request, counts that are no numbers).
absl::StatusOr<std::vector<PublishedSet>> ReadPublishedSets(const std::string& folder,
                                                            std::size_t requests_max);

}  // namespace cairn::bench
#endif  // CAIRN_TOOLS_BENCH_PLACEMENT_PUBLISHED_LOG_H_
