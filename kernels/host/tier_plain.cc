// The tier for any CPU, and the second opinion on every other tier.
#include "kernels/host/tier.h"

namespace cairn::host {
namespace {

#include "kernels/host/lanes_plain.inc"

#include "kernels/host/tier_exp.inc"

#include "kernels/host/tier_gemm.inc"

#include "kernels/host/tier_rows.inc"

#include "kernels/host/tier_attention.inc"

}  // namespace

constinit const HostOps kPlainTier = {
    .name = "plain",
    .numerics = "host-plain-1,qk=f32",
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
