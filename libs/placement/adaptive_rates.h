#ifndef CAIRN_LIBS_PLACEMENT_ADAPTIVE_RATES_H_
#define CAIRN_LIBS_PLACEMENT_ADAPTIVE_RATES_H_

#include <cstdint>

#include "libs/base/bytes.h"
#include "libs/placement/rate_table.h"

namespace cairn::placement {

// Rates that forget nothing while the law stays what it is, and everything when it jumps.
// Forgetting all the time costs as much as it gains; so a second table of the last fifty or so
// claims runs beside the settled one as soon as that has a dozen, and when their distributions of
// distance differ by more than chance allows (Dvoretzky-Kiefer-Wolfowitz, once in a million at each
// claim), the recent one becomes the settled one. A law that moves everything is noticed after
// about 25 claims.
//
// Threads: one owner. Cost of a claim: O(bins), of which there are about 50.
class AdaptiveRates {
 public:
  // `weight`: it stands for so many.
  void Claim(std::uint32_t distance, double weight = 1);
  void Expose(std::uint32_t positions, double weight = 1);
  double Rate(std::uint32_t distance, double prior, double prior_exposures) const {
    return settled_.Rate(distance, prior, prior_exposures);
  }
  const RateTable& settled() const { return settled_; }
  // How often the law was found to have jumped.
  std::uint32_t jumps() const { return jumps_; }
  // Nothing counted; memory stays.
  void Clear();
  // As RateTable's.
  void Save(ByteWriter& out) const;
  void Load(ByteReader& in);

 private:
  static constexpr double kRecentDecay = 0.98;  // per claim or exposure: 1 / (1 - decay) of them
  RateTable settled_;
  RateTable recent_{kRecentDecay};  // without bins: not begun
  std::uint32_t jumps_ = 0;
};

}  // namespace cairn::placement
#endif  // CAIRN_LIBS_PLACEMENT_ADAPTIVE_RATES_H_
