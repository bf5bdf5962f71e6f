#ifndef CAIRN_TOOLS_BENCH_PLACEMENT_PUBLISHED_PLANS_H_
#define CAIRN_TOOLS_BENCH_PLACEMENT_PUBLISHED_PLANS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/bench/placement/published_log.h"

namespace cairn::bench {

// How many requests of a published run got exactly the states that we put there.
struct PlanCheck {
  std::string set;
  std::string rule;
  std::uint32_t budget = 0;  // states, or tokens between them ("block")
  std::uint64_t requests = 0;
  std::uint64_t equal = 0;
  double solver_s = 0;           // of all solves together
  std::string first_difference;  // for people; empty: none
};

// Every run of a set whose rule is known, planned anew.
//   dp        per request the histogram fades by 0.99 and takes the match; a new plan is solved
//             when the observations are a multiple of 10; a request keeps the positions within it
//   balanced  position k is k times floor(length / (M + 1)), floored to the grid
//   block     every B-th token
// INVALID_ARGUMENT: a dp run without a histogram to begin with, or what libs/placement refuses.
absl::StatusOr<std::vector<PlanCheck>> CheckPublishedPlans(const PublishedSet& set);

}  // namespace cairn::bench
#endif  // CAIRN_TOOLS_BENCH_PLACEMENT_PUBLISHED_PLANS_H_
