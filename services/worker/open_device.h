#ifndef CAIRN_SERVICES_WORKER_OPEN_DEVICE_H_
#define CAIRN_SERVICES_WORKER_OPEN_DEVICE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "libs/device_host/host_device.h"
#include "libs/gguf/gguf_file.h"
#include "libs/ports/device.h"

namespace cairn {

// A GPU's tiers; all others are the CPU's (HostDevice::CheckTier). Each has bits of its own.
inline constexpr absl::string_view kCudaTier = "cuda";
inline constexpr absl::string_view kCudaWgmmaProductsTier = "cuda-wgmma-products";
inline constexpr absl::string_view kCudaWgmmaTier = "cuda-wgmma";
bool IsCudaTier(absl::string_view tier);

struct OpenedDevice {
  std::unique_ptr<Device> device;
  std::string model_name;  // general.name
  std::string rope_text;   // keys.md, identity field `rope`
  std::string tier;        // for people: what runs
};

// UNIMPLEMENTED for a GPU's tier in a program that was built without nvcc, UNAVAILABLE where there
// is no GPU that will do, each saying so; other errors as HostDevice::Create and
// CudaDevice::Create.
absl::StatusOr<OpenedDevice> OpenDevice(const GgufFile& file, const HostDevice::Options& options);

}  // namespace cairn
#endif  // CAIRN_SERVICES_WORKER_OPEN_DEVICE_H_
