#include "services/worker/open_device.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "libs/base/status_macros.h"

#ifdef CAIRN_DEVICE_CUDA
#include "libs/device_cuda/cuda_device.h"
#endif

namespace cairn {
namespace {

absl::StatusOr<OpenedDevice> OpenCuda(const GgufFile& file, const HostDevice::Options& options) {
#ifdef CAIRN_DEVICE_CUDA
  const CudaMath math = options.tier == kCudaWgmmaTier           ? CudaMath::kWgmma
                        : options.tier == kCudaWgmmaProductsTier ? CudaMath::kWgmmaProducts
                                                                 : CudaMath::kMma;
  CAIRN_ASSIGN_OR_RETURN(
      std::unique_ptr<CudaDevice> device,
      CudaDevice::Create(file, {.block_tokens = options.block_tokens, .math = math}));
  OpenedDevice opened{.model_name = device->config().name,
                      .rope_text = device->rope_text(),
                      .tier = device->device_name()};
  opened.device = std::move(device);
  return opened;
#else
  return absl::UnimplementedError(
      absl::StrCat("engine.tier is ", options.tier,
                   ", but this cairn-worker was built where there was no nvcc"));
#endif
}

}  // namespace

bool IsCudaTier(absl::string_view tier) {
  return tier == kCudaTier || tier == kCudaWgmmaProductsTier || tier == kCudaWgmmaTier;
}

absl::StatusOr<OpenedDevice> OpenDevice(const GgufFile& file, const HostDevice::Options& options) {
  if (IsCudaTier(options.tier)) return OpenCuda(file, options);
  CAIRN_ASSIGN_OR_RETURN(std::unique_ptr<HostDevice> device, HostDevice::Create(file, options));
  OpenedDevice opened{.model_name = device->config().name,
                      .rope_text = device->rope_text(),
                      .tier = device->tier()};
  opened.device = std::move(device);
  return opened;
}

}  // namespace cairn
