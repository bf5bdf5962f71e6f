#include "libs/placement/adaptive_rates.h"

#include <cmath>

namespace cairn::placement {
namespace {

constexpr double kChance = 1e-6;
constexpr double kClaimsMin = 15;     // below, the bound is vacuous
constexpr double kRecentBegins = 12;  // most tables never see so many claims, and need one table

}  // namespace

void AdaptiveRates::Claim(std::uint32_t distance, double weight) {
  settled_.Claim(distance, weight);
  if (recent_.bins() == 0) {
    if (settled_.Claims() >= kRecentBegins) recent_ = settled_.WithDecay(kRecentDecay);
    return;
  }
  recent_.Claim(distance, weight);
  const double claims = recent_.EffectiveClaims();
  if (claims < kClaimsMin) return;
  const double bound = std::sqrt(std::log(2 / kChance) / (2 * claims));
  if (recent_.LargestGap(settled_) <= bound) return;
  settled_ = recent_.WithDecay(1);
  ++jumps_;
}

void AdaptiveRates::Expose(std::uint32_t positions, double weight) {
  settled_.Expose(positions, weight);
  if (recent_.bins() > 0) recent_.Expose(positions, weight);
}

void AdaptiveRates::Clear() {
  settled_.Clear();
  recent_.Clear();
  jumps_ = 0;
}

void AdaptiveRates::Save(ByteWriter& out) const {
  settled_.Save(out);
  recent_.Save(out);
  out.Put(jumps_);
}

void AdaptiveRates::Load(ByteReader& in) {
  settled_.Load(in);
  recent_.Load(in);
  jumps_ = in.Get<std::uint32_t>();
}

}  // namespace cairn::placement
