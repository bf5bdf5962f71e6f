#ifndef CAIRN_LIBS_DEVICE_CUDA_CUDA_DEVICE_H_
#define CAIRN_LIBS_DEVICE_CUDA_CUDA_DEVICE_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/sk/rt/runtime.h"
#include "libs/device_cuda/block_sums.h"
#include "libs/device_cuda/cuda_math.h"
#include "libs/device_cuda/cuda_weights.h"
#include "libs/device_cuda/device_blocks.h"
#include "libs/device_cuda/kv_copier.h"
#include "libs/device_cuda/step_memory.h"
#include "libs/device_cuda/step_plan.h"
#include "libs/device_host/llama_config.h"
#include "libs/gguf/gguf_file.h"
#include "libs/ports/device.h"

namespace cairn {

// CudaDevice runs a Llama model on a Hopper GPU (libs/ports/device.h holds the contract).
//
// A step: one copy of its plan, copies of blocks that it attends and that are not on the device,
// its kernels (one graph where all decode), which write new keys and values to the host's pool, and
// copies of results, on one stream; the CPU waits once, at the end.
//
// Linked with cairn::device_cuda it runs on a GPU, with cairn::device_cuda_emu on the emulated one.
// Threads: one step at a time; on a GPU other than number 0, from the thread that made it.
class CudaDevice : public Device {
 public:
  struct Options {
    std::uint32_t block_tokens = 16;
    bool uses_graphs = true;  // steps of few rows, all in short chunks, are launched as graphs
    CudaMath math = CudaMath::kMma;
    BlockCopies copies = BlockCopies::kMeasured;
    rt::Device::Options device;
  };
  // `file` is not needed afterwards. UNAVAILABLE where there is no GPU, or none that will do,
  // saying so; other errors as ReadLlamaConfig and UploadLlamaWeights; INVALID_ARGUMENT for a model
  // or block size that the kernels cannot serve.
  static absl::StatusOr<std::unique_ptr<CudaDevice>> Create(const GgufFile& file,
                                                            const Options& options);
  ~CudaDevice() override;

  const ModelShape& shape() const override { return shape_; }
  const KvLayout& layout() const override { return layout_; }
  std::string numerics() const override;
  absl::Status Reserve(const StepRoom& room) override;
  absl::Status Run(absl::Span<const StepChunk> chunks, StepOutput output) override;
  void Sum(absl::Span<const StoredBlock> blocks, absl::Span<Checksum> sums) override;
  void UsePool(absl::Span<const std::byte> memory, absl::Span<const std::uint64_t> takes) override;
  void UseArena(std::shared_ptr<const SharedArena> arena) override;

  const LlamaConfig& config() const { return config_; }
  std::string rope_text() const {
    return RopeIdentityText(config_, !weights_.frequency_divisors.empty());
  }
  std::string device_name() const { return device_->name(); }
  std::uint64_t blocks_loaded() const { return blocks_loaded_; }  // in all steps, from the host
  std::uint64_t graphs_captured() const { return graphs_captured_; }
  std::uint64_t blocks_summed() const { return block_sums_->blocks(); }  // by the device
  // What the emulated device's kernels reached (kernels/test/mutate.py).
  std::vector<rt::Device::SiteUse> Sites() const { return device_->Sites(); }

 private:
  CudaDevice(std::unique_ptr<rt::Device> device, rt::Stream stream, const LlamaConfig& config,
             const KvLayout& layout, const Options& options);
  absl::Status MakeRopeTable();
  absl::Status RunPlan(const StepPlan& plan, const StepOutput& output);
  absl::Status TakeResults(const StepPlan& plan, const StepOutput& output);
  absl::Status QueueKernels(const StepShape& shape);

  std::unique_ptr<rt::Device> device_;  // outlives all below
  rt::Stream stream_;
  const LlamaConfig config_;
  const KvLayout layout_;
  const Options options_;
  const ModelShape shape_;
  const AttentionWay attention_;
  CudaLlamaWeights weights_;
  rt::Buffer rope_table_;
  std::uint32_t rope_positions_ = 0;
  std::uint64_t rope_hash_ = 0;
  std::unique_ptr<KvCopier> copier_;
  DeviceBlocks blocks_;
  StepMemory memory_;
  std::unique_ptr<BlockSums> block_sums_;
  // By StepShape::Grids(); of memory_ as it is at graphs_generation_.
  std::map<StepShape, rt::Graph> graphs_;
  std::uint64_t graphs_generation_ = 0;
  std::uint64_t blocks_loaded_ = 0;
  std::uint64_t graphs_captured_ = 0;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_DEVICE_CUDA_CUDA_DEVICE_H_
