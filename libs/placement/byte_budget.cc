#include "libs/placement/byte_budget.h"

#include <cstddef>
#include <queue>

#include "absl/strings/str_cat.h"
#include "libs/base/status_macros.h"
#include "libs/placement/limits.h"

namespace cairn::placement {
namespace {

// Whether a gains more per byte than b.
bool IsBetter(const BudgetStep& a, const BudgetStep& b) {
  return static_cast<__int128>(a.gain) * b.bytes > static_cast<__int128>(b.gain) * a.bytes;
}

absl::Status ValidateCurves(const std::vector<BudgetCurve>& families) {
  std::size_t steps = families.size();
  __int128 gains = 0;
  for (std::size_t f = 0; f < families.size(); ++f) {
    steps += families[f].size();
    for (std::size_t i = 0; i < families[f].size(); ++i) {
      const BudgetStep& step = families[f][i];
      gains += step.gain;
      if (step.gain < 0 || step.bytes < 1 || step.bytes > limits::kBudgetBytesMax) {
        return absl::InvalidArgumentError(absl::StrCat("family ", f, ", step ", i, ": gain ",
                                                       step.gain, " for ", step.bytes, " bytes"));
      }
      if (i > 0 && IsBetter(step, families[f][i - 1])) {
        return absl::InvalidArgumentError(absl::StrCat(
            "family ", f, ", step ", i, " gains more per byte than the step before it"));
      }
    }
  }
  if (steps > limits::kBudgetItemsMax || gains > limits::kTotalCostMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("byte budget: ", steps, " families and steps, at most ",
                     limits::kBudgetItemsMax, " are taken, and gains of 2^61 in all"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<BudgetPlan> SpendBytes(const std::vector<BudgetCurve>& families,
                                      std::int64_t budget_bytes) {
  CAIRN_RETURN_IF_ERROR(ValidateCurves(families));
  if (budget_bytes < 0 || budget_bytes > limits::kBudgetBytesMax) {
    return absl::InvalidArgumentError(absl::StrCat("a budget of ", budget_bytes, " bytes"));
  }
  struct Offer {
    BudgetStep step;
    std::size_t family;
    bool operator<(const Offer& other) const {  // the top of the queue is the best
      if (IsBetter(other.step, step)) return true;
      return !IsBetter(step, other.step) && family > other.family;
    }
  };
  std::priority_queue<Offer> offers;
  for (std::size_t f = 0; f < families.size(); ++f) {
    if (!families[f].empty()) offers.push({.step = families[f][0], .family = f});
  }
  BudgetPlan plan{.states = std::vector<std::uint32_t>(families.size(), 0), .gain = 0, .bytes = 0};
  while (!offers.empty()) {
    const Offer best = offers.top();
    offers.pop();
    if (best.step.gain == 0 || best.step.bytes > budget_bytes - plan.bytes) continue;
    plan.gain += best.step.gain;
    plan.bytes += best.step.bytes;
    const std::uint32_t taken = ++plan.states[best.family];
    const BudgetCurve& curve = families[best.family];
    if (taken < curve.size()) offers.push({.step = curve[taken], .family = best.family});
  }
  return plan;
}

}  // namespace cairn::placement
