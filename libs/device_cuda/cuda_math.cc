#include "libs/device_cuda/cuda_math.h"

#include "absl/strings/str_cat.h"
#include "kernels/attention/decode.h"

namespace cairn {

AttentionWay AttentionWayOf(const LlamaConfig& c, CudaMath math) {
  if (!kernels::HasTileKernels(c.head_dim, c.rotary_dim, c.q_heads / c.kv_heads)) {
    return AttentionWay::kSimple;
  }
  if (math == CudaMath::kWgmma) return AttentionWay::kTilesWgmma;
  return kernels::RotatesInRegisters(c.head_dim, c.rotary_dim) ? AttentionWay::kTilesInPlace
                                                               : AttentionWay::kTilesScratch;
}

absl::Status CheckMath(const LlamaConfig& c, CudaMath math) {
  if (math != CudaMath::kWgmma) return absl::OkStatus();
  // Its scratch is in another order than AttendDecode could read.
  const bool is_served =
      kernels::HasTileKernels(c.head_dim, c.rotary_dim, c.q_heads / c.kv_heads) &&
      kernels::RotatesInRegisters(c.head_dim, c.rotary_dim);
  if (is_served) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "attention by wgmma does not serve heads of ", c.head_dim, " of which ", c.rotary_dim,
      " rotate, ", c.q_heads, " over ", c.kv_heads, "; wgmma for products alone does"));
}

// Bump a number whenever that part's bits change.
std::string NumericsOf(CudaMath math, AttentionWay way) {
  const char* const linear = math == CudaMath::kMma ? "linear=mma1" : "linear=wgmma1";
  const char* const attend = way == AttentionWay::kSimple       ? "attend=simple1"
                             : way == AttentionWay::kTilesWgmma ? "attend=wgmma1"
                                                                : "attend=mma1";
  return absl::StrCat("bf16,", linear, ",rows=1,tile=64x4,", attend);
}

}  // namespace cairn
