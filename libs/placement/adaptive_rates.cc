#include "libs/placement/adaptive_rates.h"

#include <cmath>

namespace cairn::placement {
namespace {

constexpr double kChance = 1e-6;
constexpr double kClaimsMin = 15;  // below, the bound is vacuous

}  // namespace

void AdaptiveRates::Claim(std::uint32_t distance) {
  settled_.Claim(distance);
  recent_.Claim(distance);
  const double claims = recent_.EffectiveClaims();
  if (claims < kClaimsMin) return;
  const double bound = std::sqrt(std::log(2 / kChance) / (2 * claims));
  if (recent_.LargestGap(settled_) <= bound) return;
  settled_ = recent_.WithoutDecay();
  ++jumps_;
}

void AdaptiveRates::Expose(std::uint32_t positions) {
  settled_.Expose(positions);
  recent_.Expose(positions);
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
