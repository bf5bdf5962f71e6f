#ifndef CAIRN_LIBS_DEVICE_HOST_HOST_DEVICE_H_
#define CAIRN_LIBS_DEVICE_HOST_HOST_DEVICE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/host/host_ops.h"
#include "kernels/host/rope_table.h"
#include "libs/device_host/host_step.h"
#include "libs/device_host/host_threads.h"
#include "libs/device_host/llama_config.h"
#include "libs/device_host/llama_weights.h"
#include "libs/ports/device.h"

namespace cairn {

// HostDevice runs a Llama model on the CPU (libs/ports/device.h holds the contract).
//
//   embed -> per layer: norm, q k v, store k v of all rows, attend, output, add,
//                       norm, gate up, swiglu, down, add  -> norm, head for the wanted rows
//
// Each line of a layer is one or two parallel sections over panels of columns, rows, or attention
// items; how they are cut changes no bit (kernels/host/host_ops.h).
class HostDevice : public Device {
 public:
  struct Options {
    std::uint32_t threads = 1;
    std::string tier = "auto";  // "plain", "avx2", or the fastest that this CPU runs
    std::uint32_t block_tokens = 16;
    KvDtype kv_dtype = KvDtype::kBf16;
  };
  // `file` and its bytes must outlive the device. Errors: as ReadLlamaConfig and LoadLlamaWeights;
  // INVALID_ARGUMENT for a tier that is unknown or that this CPU lacks, and for a model or block
  // size that the kernels cannot serve.
  static absl::Status CheckTier(const std::string& tier);  // that part alone
  static absl::StatusOr<std::unique_ptr<HostDevice>> Create(const GgufFile& file,
                                                            const Options& options);
  ~HostDevice() override;

  const ModelShape& shape() const override { return shape_; }
  const KvLayout& layout() const override { return layout_; }
  std::string numerics() const override;
  absl::Status Run(absl::Span<const StepChunk> chunks, StepOutput output) override;

  const LlamaConfig& config() const { return config_; }
  std::string rope_text() const {
    return RopeIdentityText(config_, !weights_.frequency_divisors.empty());
  }
  const char* tier() const { return ops_.name; }

 private:
  struct Buffers;  // activations, grown to the largest step seen

  HostDevice(const host::HostOps& ops, const LlamaConfig& config, const KvLayout& layout,
             std::uint32_t threads);
  void Embed(const HostStep& step);
  void Layer(const LlamaLayer& layer, std::uint32_t index, HostStep& step);
  void StoreKv(std::uint32_t layer, const HostStep& step);
  void Attend(std::uint32_t layer, HostStep& step);
  void FeedForward(const LlamaLayer& layer, std::uint32_t rows);
  void Head(const HostStep& step, const StepOutput& output);
  // One part's share of a product's columns: [begin, end) in panels.
  host::Range Gemm(const host::PackedMatrix& weights, const float* x, std::uint32_t rows, float* y,
                   std::uint32_t part);
  // A section over rows; inline for a few, where a section costs more than it saves.
  void ForRows(std::uint32_t rows, absl::FunctionRef<void(std::uint32_t, std::uint32_t)> range);

  const host::HostOps& ops_;
  const LlamaConfig config_;
  const KvLayout layout_;
  ModelShape shape_;
  HostStepLimits limits_;
  HostThreads threads_;
  LlamaWeights weights_;
  std::unique_ptr<host::RopeTable> rope_;
  std::unique_ptr<Buffers> buffers_;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_DEVICE_HOST_HOST_DEVICE_H_
