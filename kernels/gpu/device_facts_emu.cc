#include "kernels/gpu/device_facts.h"

namespace cairn::gpu {

rt::Result<DeviceFacts> FactsOf(const rt::Device& device) {
  return DeviceFacts{.name = device.name(),
                     .multiprocessors = 1,
                     .l2_bytes = 1 << 10,
                     .memory_bytes = 1 << 24,
                     .max_mhz = 2000,
                     .is_emulated = true};
}

}  // namespace cairn::gpu
