#include "libs/engine/sampler.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "libs/base/check.h"
#include "libs/base/rng.h"
#include "libs/ports/highest_logit.h"

namespace cairn {
namespace {

// e^x for x <= 0, relative error below 1e-15; 0 far out. Our own, since libm's code differs by CPU
// and the chosen token must not. x = k ln 2 + r with |r| <= ln 2 / 2, then Taylor's series for e^r.
double Exp(double x) {
  if (x < -700) return 0;
  constexpr double kLog2E = 1.4426950408889634;
  constexpr double kLn2High = 6.93147180369123816490e-01;  // low bits zero: k * kLn2High is exact
  constexpr double kLn2Low = 1.90821492927058770002e-10;
  const auto k = static_cast<std::int64_t>(x * kLog2E - 0.5);
  const double r = (x - static_cast<double>(k) * kLn2High) - static_cast<double>(k) * kLn2Low;
  double sum = 1;
  for (int i = 14; i >= 1; --i) sum = 1 + sum * r / i;
  return sum * std::bit_cast<double>(static_cast<std::uint64_t>(1023 + k) << 52);
}

}  // namespace

// Output `place` of the stream of base/rng.h that starts at the mixed seed. (Mixing seed and place
// alike and combining them would give 0, the lowest token, wherever the two are the same number.)
double SampleUniform(std::uint64_t seed, std::uint32_t choice, std::uint32_t output_index) {
  constexpr std::uint64_t kStride = 0x9e3779b97f4a7c15u;
  const std::uint64_t place = (std::uint64_t{choice} << 32) | output_index;
  return static_cast<double>(Mix64(Mix64(seed + kStride) + (place + 1) * kStride) >> 11) *
         0x1.0p-53;
}

std::uint32_t Sampler::Sample(const SamplingOptions& options, std::uint32_t choice,
                              std::uint32_t output_index, absl::Span<const float> logits) {
  CAIRN_CHECK(!logits.empty());
  const std::uint32_t highest = HighestLogit(logits);
  // A model with broken weights gives logits that are no numbers, which nothing can be sorted by.
  if (options.temperature <= 0 || !std::isfinite(logits[highest])) return highest;

  candidates_.clear();
  for (std::uint32_t i = 0; i < logits.size(); ++i) {
    if (!std::isnan(logits[i])) candidates_.push_back({logits[i], i});
  }
  if (options.top_p < 1) {
    std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
      return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
    });
  }
  const auto weight = [&](const Candidate& c) {
    return Exp((double{c.logit} - double{logits[highest]}) / double{options.temperature});
  };
  double total = 0;
  for (const Candidate& c : candidates_) total += weight(c);
  if (options.top_p < 1) {  // the shortest head that reaches the share; never empty
    double kept = 0;
    std::size_t count = 0;
    while (count < candidates_.size() && kept < double{options.top_p} * total) {
      kept += weight(candidates_[count++]);
    }
    candidates_.resize(std::max<std::size_t>(count, 1));
    total = kept;
  }
  const double target = SampleUniform(options.seed, choice, output_index) * total;
  double sum = 0;
  for (const Candidate& c : candidates_) {
    sum += weight(c);
    if (sum > target) return c.token;
  }
  return candidates_.back().token;  // rounding: the sum fell short of the total
}

}  // namespace cairn
