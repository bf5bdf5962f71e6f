#include "kernels/host/host_ops.h"

#include "kernels/host/tier.h"

#ifdef CAIRN_HOST_TIER_AVX2
#include <cpuid.h>
#endif

namespace cairn::host {
namespace {

#ifdef CAIRN_HOST_TIER_AVX2
// Clang 14's __builtin_cpu_supports does not know F16C.
bool HasF16c() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
}
#endif

struct Tier {
  const HostOps* ops;
  bool (*runs_here)();
};

// Slowest first. A new tier is one line here, one file and its flags in CMakeLists.txt.
constexpr Tier kTiers[] = {
    {&kPlainTier, [] { return true; }},
#ifdef CAIRN_HOST_TIER_AVX2
    {&kAvx2Tier,
     [] { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && HasF16c(); }},
#endif
};

}  // namespace

const HostOps* SelectHostOps(std::string_view name) {
  const HostOps* chosen = nullptr;
  for (const Tier& tier : kTiers) {
    if ((name == "auto" || name == tier.ops->name) && tier.runs_here()) chosen = tier.ops;
  }
  return chosen;
}

std::vector<const HostOps*> RunnableHostOps() {
  std::vector<const HostOps*> runnable;
  for (const Tier& tier : kTiers) {
    if (tier.runs_here()) runnable.push_back(tier.ops);
  }
  return runnable;
}

std::vector<std::string_view> HostOpsNames() {
  std::vector<std::string_view> names;
  for (const Tier& tier : kTiers) names.emplace_back(tier.ops->name);
  return names;
}

std::size_t AttentionScratchBytes(const KvShape& shape, std::uint32_t q_heads) {
  // As LayOut in tier_attention.inc: 64 rows in a group, 6 entries in a block, 256 slots in a
  // split.
  const std::size_t entries = 64 * static_cast<std::size_t>(q_heads / shape.kv_heads);
  const std::size_t split = 2 * 256 * static_cast<std::size_t>(shape.head_dim);
  const std::size_t rows = entries * (shape.head_dim + PartialFloats(shape));
  return (split + rows + 6 * (256 + PartialFloats(shape))) * sizeof(float);
}

}  // namespace cairn::host
