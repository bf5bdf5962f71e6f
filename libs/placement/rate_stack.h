#ifndef CAIRN_LIBS_PLACEMENT_RATE_STACK_H_
#define CAIRN_LIBS_PLACEMENT_RATE_STACK_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "libs/placement/rate_table.h"

namespace cairn::placement {

// RateStack reads rate tables that are each the prior of the next, for one position after another:
// what a bin has counted is looked up once for all of its distances. It says exactly what nested
// calls of RateTable::Rate would. Holds the tables by address: for the length of one plan.
class RateStack {
 public:
  static constexpr std::size_t kLevelsMax = 4;

  // The next table, whose prior (the rate so far) is worth `prior_exposures`. At most kLevelsMax.
  void Add(const RateTable& table, double prior_exposures);
  // The rate at a distance, on a prior that need not be the same for all distances of a bin.
  double Rate(std::uint32_t distance, double prior);

 private:
  struct Level {
    const RateTable* table = nullptr;
    double prior_exposures = 0;
    // Of the bin at hand.
    double claims = 0;
    double exposures = 0;  // the prior's included
  };
  void Enter(std::uint32_t distance);

  std::array<Level, kLevelsMax> levels_;
  std::size_t count_ = 0;
  std::uint32_t first_ = 0;  // the bin at hand: [first_, end_)
  std::uint32_t end_ = 0;
};

}  // namespace cairn::placement
#endif  // CAIRN_LIBS_PLACEMENT_RATE_STACK_H_
