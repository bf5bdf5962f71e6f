#include "libs/device_cuda/attention_way.h"

#include "kernels/attention/decode.h"

namespace cairn {

AttentionWay AttentionWayOf(const LlamaConfig& c) {
  if (!kernels::HasTileKernels(c.head_dim, c.rotary_dim, c.q_heads / c.kv_heads)) {
    return AttentionWay::kSimple;
  }
  return kernels::RotatesInRegisters(c.head_dim, c.rotary_dim) ? AttentionWay::kTilesInPlace
                                                               : AttentionWay::kTilesScratch;
}

const char* NumericsOf(AttentionWay way) {
  return way == AttentionWay::kSimple ? "attend=simple1" : "attend=tiles1";
}

}  // namespace cairn
