#ifndef CAIRN_KERNELS_GPU_DEVICE_FACTS_H_
#define CAIRN_KERNELS_GPU_DEVICE_FACTS_H_

#include <cstdint>
#include <string>

#include "kernels/sk/rt/runtime.h"

namespace cairn::gpu {

// What a measurement has to know of the device. Of the emulated one: made up, and small.
struct DeviceFacts {
  std::string name;
  std::uint32_t multiprocessors = 0;
  std::uint64_t l2_bytes = 0;
  std::uint64_t memory_bytes = 0;  // free ones
  std::uint32_t max_mhz = 0;       // of the multiprocessors, as the driver tells it
  std::uint32_t driver = 0;        // CUDA version of the driver, 13000 for 13.0
  std::uint32_t runtime = 0;       // ... of the runtime library
  bool is_emulated = false;
};
// Of the device that is open.
rt::Result<DeviceFacts> FactsOf(const rt::Device& device);

}  // namespace cairn::gpu

#endif  // CAIRN_KERNELS_GPU_DEVICE_FACTS_H_
