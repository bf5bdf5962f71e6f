#ifndef CAIRN_KERNELS_HOST_TIER_H_
#define CAIRN_KERNELS_HOST_TIER_H_

#include "kernels/host/host_ops.h"

// The tables of all tiers. One translation unit each, compiled with its own flags; those for other
// architectures than the build's are left out by CMakeLists.txt (CAIRN_HOST_TIER_* says what is
// in).
namespace cairn::host {

extern const HostOps kPlainTier;
#ifdef CAIRN_HOST_TIER_AVX2
extern const HostOps kAvx2Tier;
#endif

}  // namespace cairn::host
#endif  // CAIRN_KERNELS_HOST_TIER_H_
