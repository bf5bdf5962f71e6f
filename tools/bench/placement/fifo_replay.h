#ifndef CAIRN_TOOLS_BENCH_PLACEMENT_FIFO_REPLAY_H_
#define CAIRN_TOOLS_BENCH_PLACEMENT_FIFO_REPLAY_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tools/bench/placement/published_log.h"

namespace cairn::bench {

struct FifoFigures {
  std::string strategy;
  std::uint64_t tokens_saved = 0;
  std::uint64_t states = 0;  // placed
  std::int64_t regret = 0;   // tokens: what the best single one saved, less this
  double solver_s = 0;       // in all plans
};
struct FifoReport {
  std::string set;
  std::size_t entries_max = 0;
  std::uint32_t budget = 0;
  std::uint64_t requests = 0;
  std::uint64_t matched_tokens = 0;     // all matches, whatever the cache still held of them
  std::uint64_t ceiling_tokens = 0;     // what states at every position would save
  std::vector<FifoFigures> strategies;  // the service's first
};
inline constexpr char kServiceStrategy[] = "followed";

// Replays the requests of a published log (the states in it are not looked at) through a FifoWorld
// for each strategy:
//   followed            the service: a planner (libs/planner) as cairn-placement runs it, asked and
//                       told what a node would ask and tell it
//   branch_else_half    a state where the request parted, if there is none; else at half its length
//   branch_else_last64  the same, else at the last full 64 tokens: Marconi's rule
//   and every expert of the service and baseline of libs/placement alone
// with at most `budget` new states a request. Regret is against the best of all but the service.
// INVALID_ARGUMENT: what the planner refuses.
absl::StatusOr<FifoReport> ReplayFifo(absl::string_view set, absl::Span<const LogRequest> requests,
                                      std::size_t entries_max, std::uint32_t budget);

}  // namespace cairn::bench
#endif  // CAIRN_TOOLS_BENCH_PLACEMENT_FIFO_REPLAY_H_
