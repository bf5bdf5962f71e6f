#ifndef CAIRN_SERVICES_WORKER_OPEN_DEVICE_H_
#define CAIRN_SERVICES_WORKER_OPEN_DEVICE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "libs/device_host/host_device.h"
#include "libs/gguf/gguf_file.h"
#include "libs/ports/device.h"

namespace cairn {

// The tier that is a GPU's; all others are the CPU's (HostDevice::CheckTier).
inline constexpr char kCudaTier[] = "cuda";

struct OpenedDevice {
  std::unique_ptr<Device> device;
  std::string model_name;  // general.name
  std::string rope_text;   // keys.md, identity field `rope`
  std::string tier;        // for people: what runs
};

// UNIMPLEMENTED for tier cuda in a program that was built without nvcc, UNAVAILABLE where there is
// no GPU that will do, each saying so; other errors as HostDevice::Create and CudaDevice::Create.
absl::StatusOr<OpenedDevice> OpenDevice(const GgufFile& file, const HostDevice::Options& options);

}  // namespace cairn
#endif  // CAIRN_SERVICES_WORKER_OPEN_DEVICE_H_
