#ifndef CAIRN_LIBS_DEVICE_CUDA_CUDA_MATH_H_
#define CAIRN_LIBS_DEVICE_CUDA_CUDA_MATH_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "libs/device_host/llama_config.h"

namespace cairn {

// Which tensor-core instructions a model is multiplied with. Sums of the two have orders of their
// own, so each choice is an arithmetic of its own, and says so in Device::numerics().
//
// The first two keep promise 4 whole: a row's bits are the same however it came. The third has the
// fastest prefill, but no decode to match it: what was sampled is computed by other instructions
// than a prompt, so its keys and values are offered to nobody (ModelShape::is_generated_kv_final).
enum class CudaMath : std::uint8_t {
  kMma,            // mma.sync for all
  kWgmmaProducts,  // wgmma for products with weights, mma.sync for attention
  kWgmma,          // wgmma for these and for attention of prompts
};

// Which kernels attend. Those of different ways have different bits, but for kTilesScratch and
// kTilesInPlace.
enum class AttentionWay : std::uint8_t {
  kSimple,        // AttendRows for all rows, after RotateKeys of all tiles
  kTilesScratch,  // AttendDecode and AttendPrefill, both after RotateKeys
  kTilesInPlace,  // AttendDecode rotates in registers, and needs no scratch
  kTilesWgmma,    // as before, but AttendPrefillWgmma after SwizzleTiles
};

// By the model's shape.
AttentionWay AttentionWayOf(const LlamaConfig& config, CudaMath math);
// INVALID_ARGUMENT where there are no kernels for the model.
absl::Status CheckMath(const LlamaConfig& config, CudaMath math);
// The part of Device::numerics() that both decide.
std::string NumericsOf(CudaMath math, AttentionWay way);

}  // namespace cairn
#endif  // CAIRN_LIBS_DEVICE_CUDA_CUDA_MATH_H_
