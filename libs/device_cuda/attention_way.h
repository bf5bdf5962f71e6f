#ifndef CAIRN_LIBS_DEVICE_CUDA_ATTENTION_WAY_H_
#define CAIRN_LIBS_DEVICE_CUDA_ATTENTION_WAY_H_

#include <cstdint>

#include "libs/device_host/llama_config.h"

namespace cairn {

// Which kernels attend. The model's shape alone decides, since kernels of different ways have
// different bits.
enum class AttentionWay : std::uint8_t {
  kSimple,        // AttendRows for all rows, after RotateKeys of all tiles
  kTilesScratch,  // AttendDecode and AttendPrefill, both after RotateKeys
  kTilesInPlace,  // the same bits: AttendDecode rotates in registers, and needs no scratch
};

AttentionWay AttentionWayOf(const LlamaConfig& config);
// Its part of Device::numerics().
const char* NumericsOf(AttentionWay way);

}  // namespace cairn
#endif  // CAIRN_LIBS_DEVICE_CUDA_ATTENTION_WAY_H_
