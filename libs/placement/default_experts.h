#ifndef CAIRN_LIBS_PLACEMENT_DEFAULT_EXPERTS_H_
#define CAIRN_LIBS_PLACEMENT_DEFAULT_EXPERTS_H_

#include <memory>
#include <vector>

#include "libs/placement/expert.h"

namespace cairn::placement {

// The experts that the service runs, one setting for all inputs, the first guess first: LawExpert
// by class, pooled, and counting from both ends, and Marconi's rule (branch point, else last full
// block). A state has to be expected to save a fiftieth of a block over its life: that costs a
// thousandth of the share, and spares a quarter of the states where the budget is large
// (README.md).
std::vector<std::unique_ptr<Expert>> DefaultExperts();

}  // namespace cairn::placement
#endif  // CAIRN_LIBS_PLACEMENT_DEFAULT_EXPERTS_H_
