// Compiled with -mavx2 -mfma -mf16c. Everything here has internal linkage but the table, and
// nothing inline from the standard library is used: such a function, compiled here, could be the
// copy that the linker keeps for everyone, also on a CPU without AVX2. The test
// kernels_host_symbols looks for them.
#include <immintrin.h>

#include "kernels/host/tier.h"

namespace cairn::host {
namespace {

#include "kernels/host/lanes_avx2.inc"

#include "kernels/host/tier_exp.inc"

#include "kernels/host/tier_gemm.inc"

#include "kernels/host/tier_rows.inc"

#include "kernels/host/tier_attention.inc"

}  // namespace

constinit const HostOps kAvx2Tier = {
    .name = "avx2",
    .numerics = "host-avx2-1,qk=f32",
    .gemm = Gemm,
    .rms_norm = RmsNorm,
    .swiglu = SwigluRows,
    .exp = ExpOf,
    .add = AddTo,
    .argmax = Argmax,
    .store_kv = StoreKv,
    .attend = Attend,
    .attend_splits = AttendSplits,
    .fold_splits = FoldSplits,
    .rotate = RotateHead,
};

}  // namespace cairn::host
