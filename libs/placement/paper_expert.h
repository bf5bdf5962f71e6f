#ifndef CAIRN_LIBS_PLACEMENT_PAPER_EXPERT_H_
#define CAIRN_LIBS_PLACEMENT_PAPER_EXPERT_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "libs/placement/expert.h"
#include "libs/placement/overlap_histogram.h"

namespace cairn::placement {

// The published method ("Sparse Prefix Caching", arXiv 2605.05219) as an expert: one histogram of
// the ABSOLUTE depths at which requests part, and for each entry the exact plan of that law cut off
// at its end. Here to be compared with: entries of different lengths hide the law from it, and
// claims from beyond an entry's end are forgotten for it.
class PaperExpert : public Expert {
 public:
  // `decay`: weight left of an observation when the next one comes. The published logs have 0.99;
  // on the traces of README.md a longer memory comes closest to what the method is said to reach
  // there, and balanced positions until there are two observations.
  explicit PaperExpert(double decay = 0.9985);
  std::string_view name() const override { return "paper"; }
  void Observe(const Claim& claim) override;
  std::vector<std::uint32_t> Plan(const PlanQuery& query) const override;

 private:
  OverlapHistogram histogram_;
};

}  // namespace cairn::placement
#endif  // CAIRN_LIBS_PLACEMENT_PAPER_EXPERT_H_
