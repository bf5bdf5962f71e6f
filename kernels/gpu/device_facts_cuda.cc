#include <cuda_runtime.h>

#include "kernels/gpu/device_facts.h"

namespace cairn::gpu {
namespace {

std::uint32_t Attribute(cudaDeviceAttr attribute, int ordinal) {
  int value = 0;
  (void)cudaDeviceGetAttribute(&value, attribute, ordinal);
  return value < 0 ? 0 : static_cast<std::uint32_t>(value);
}

}  // namespace

rt::Result<DeviceFacts> FactsOf(const rt::Device& device) {
  int ordinal = 0, driver = 0, runtime = 0;
  std::size_t free = 0, total = 0;
  for (const cudaError_t error : {cudaGetDevice(&ordinal), cudaMemGetInfo(&free, &total),
                                  cudaDriverGetVersion(&driver), cudaRuntimeGetVersion(&runtime)}) {
    if (error != cudaSuccess) {
      return rt::Status(std::string("facts of the device: ") + cudaGetErrorString(error));
    }
  }
  DeviceFacts facts;
  facts.name = device.name();
  facts.multiprocessors = Attribute(cudaDevAttrMultiProcessorCount, ordinal);
  facts.l2_bytes = Attribute(cudaDevAttrL2CacheSize, ordinal);
  facts.memory_bytes = free;
  facts.max_mhz = Attribute(cudaDevAttrClockRate, ordinal) / 1000;
  facts.driver = static_cast<std::uint32_t>(driver);
  facts.runtime = static_cast<std::uint32_t>(runtime);
  return facts;
}

}  // namespace cairn::gpu
