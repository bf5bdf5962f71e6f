#ifndef CAIRN_KERNELS_GPU_MMA_EQUAL_RUN_H_
#define CAIRN_KERNELS_GPU_MMA_EQUAL_RUN_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "kernels/gpu/mma_equal.h"
#include "kernels/sk/rt/runtime.h"

namespace cairn::gpu {

using Print = std::function<void(const std::string& line)>;

struct EqualOptions {
  std::uint64_t dots = 1'000'000;  // of each case, rounded up to whole tiles
  std::uint64_t seed = 1;
  double seconds = 25;  // cases that would begin later are left out, and said to be
  std::span<const EqualVariant> variants = kEqualVariants;
};
// What came out, beside the lines of JSON that went to `print`: one a case, one of all.
struct EqualResult {
  std::uint64_t dots = 0;
  std::uint64_t wgmma_unequal = 0;  // to mma.sync
  std::uint32_t left_out = 0;       // cases
  std::string wrong;  // what should hold whatever the order of sums is, and did not; or ""
};
// Counts, prints and judges one case; `sums` are [kEqualSums][dots].
void JudgeCase(EqualVariant variant, EqualNumbers numbers, const EqualTiles& tiles,
               std::span<const float> sums, EqualResult& result, const Print& print);
rt::Result<EqualResult> RunMmaEqual(rt::Device& device, const EqualOptions& options,
                                    const Print& print);

}  // namespace cairn::gpu

#endif  // CAIRN_KERNELS_GPU_MMA_EQUAL_RUN_H_
