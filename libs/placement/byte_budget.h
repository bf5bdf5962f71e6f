#ifndef CAIRN_LIBS_PLACEMENT_BYTE_BUDGET_H_
#define CAIRN_LIBS_PLACEMENT_BYTE_BUDGET_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"

namespace cairn::placement {

// One more state of a family: what it saves (expected cost, the solvers' unit), and its price in
// bytes: the state itself and the KV that it needs to be of use.
struct BudgetStep {
  std::int64_t gain = 0;   // at least 0
  std::int64_t bytes = 0;  // at least 1
};

// The states of one family in the order in which they would be taken. Gain per byte must not rise:
// a line's marginal gains fall (the optimum is convex there), and so do those of GreedyTrie.
using BudgetCurve = std::vector<BudgetStep>;

struct BudgetPlan {
  std::vector<std::uint32_t> states;  // [family]: how many of its steps are taken
  std::int64_t gain = 0;
  std::int64_t bytes = 0;
};

// Shares `budget_bytes` over families: the step with the most gain per byte that still fits, again
// and again (a family whose next step does not fit is done). What it gains is within one step of
// the optimum: less than it by at most the gain of the first step that did not fit (Dantzig's bound
// for the knapsack). What should go first when bytes are short is asked of the same function with
// less. Ties: the lower family. O(S log F). INVALID_ARGUMENT naming family and step: a value out of
// bounds, gain per byte that rises, or more than limits::kBudgetItemsMax steps.
absl::StatusOr<BudgetPlan> SpendBytes(const std::vector<BudgetCurve>& families,
                                      std::int64_t budget_bytes);

}  // namespace cairn::placement
#endif  // CAIRN_LIBS_PLACEMENT_BYTE_BUDGET_H_
