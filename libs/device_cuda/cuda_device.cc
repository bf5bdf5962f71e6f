#include "libs/device_cuda/cuda_device.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "kernels/host/rope_table.h"
#include "kernels/rows/sample.h"
#include "libs/base/log.h"
#include "libs/base/status_macros.h"
#include "libs/base/units.h"
#include "libs/device_cuda/cuda_memory.h"
#include "libs/device_cuda/llama_step.h"

namespace cairn {
namespace {

constexpr std::uint32_t kGraphRowsMax = 64;
constexpr std::size_t kGraphsMax = 256;

absl::Status CheckModel(const LlamaConfig& c, std::uint32_t block_tokens) {
  const auto refused = [](const char* what, std::uint64_t value, const char* wanted) {
    return absl::InvalidArgumentError(
        absl::StrCat("the CUDA kernels do not serve ", what, " ", value, ", only ", wanted));
  };
  if (block_tokens != 16 && block_tokens != 32 && block_tokens != 64) {
    return refused("blocks of tokens:", block_tokens, "16, 32 or 64");
  }
  if (c.head_dim % 16 != 0 || c.head_dim > 256) {
    return refused("heads of", c.head_dim, "multiples of 16 up to 256");
  }
  if (c.hidden % 16 != 0) return refused("a width of", c.hidden, "multiples of 16");
  if (c.ffn % 16 != 0) return refused("a feed-forward width of", c.ffn, "multiples of 16");
  return absl::OkStatus();
}

}  // namespace

CudaDevice::CudaDevice(std::unique_ptr<rt::Device> device, rt::Stream stream,
                       const LlamaConfig& config, const KvLayout& layout, const Options& options)
    : device_(std::move(device)),
      stream_(std::move(stream)),
      config_(config),
      layout_(layout),
      options_(options),
      shape_{.vocabulary = config.vocabulary,
             .positions_max = config.positions_max,
             .spans = true,
             .is_generated_kv_final = options.math != CudaMath::kWgmma},
      attention_(AttentionWayOf(config, options.math)),
      blocks_(layout.block_bytes()) {}

CudaDevice::~CudaDevice() = default;

absl::StatusOr<std::unique_ptr<CudaDevice>> CudaDevice::Create(const GgufFile& file,
                                                               const Options& options) {
  CAIRN_ASSIGN_OR_RETURN(const LlamaConfig config, ReadLlamaConfig(file));
  CAIRN_RETURN_IF_ERROR(CheckModel(config, options.block_tokens));
  CAIRN_RETURN_IF_ERROR(CheckMath(config, options.math));
  CAIRN_ASSIGN_OR_RETURN(const KvLayout layout,
                         KvLayout::Create({.layers = config.layers,
                                           .kv_heads = config.kv_heads,
                                           .head_dim = config.head_dim,
                                           .block_tokens = options.block_tokens,
                                           .dtype = KvDtype::kBf16}));
  rt::Result<std::unique_ptr<rt::Device>> device = rt::Device::Open(options.device);
  if (!device.ok()) {
    return absl::UnavailableError(
        absl::StrCat("no GPU that CUDA can use here: ", device.status().message()));
  }
  rt::Result<rt::Stream> stream = (*device)->OpenStream();
  if (!stream.ok()) return ToStatus(stream.status());
  std::unique_ptr<CudaDevice> made(  // tidy: allow(new) a private constructor
      new CudaDevice(std::move(*device), std::move(*stream), config, layout, options));
  CAIRN_ASSIGN_OR_RETURN(made->weights_, UploadLlamaWeights(file, config, options.math,
                                                            *made->device_, made->stream_));
  CAIRN_RETURN_IF_ERROR(made->MakeRopeTable());
  made->block_sums_ = std::make_unique<BlockSums>(*made->device_, layout.block_bytes());
  CAIRN_ASSIGN_OR_RETURN(made->copier_, KvCopier::Create(*made->device_, layout, options.copies));
  return made;
}

absl::Status CudaDevice::MakeRopeTable() {
  const std::vector<float>& divisors = weights_.frequency_divisors;
  const host::RopeTable::Options options{
      .rotary_dim = config_.rotary_dim,
      .max_positions = config_.positions_max,
      .theta = config_.rope_theta,
      .layout = host::RotaryLayout::kAdjacent,
      .linear_scale = config_.rope_linear_scale,
      .frequency_divisors = divisors.empty() ? nullptr : divisors.data()};
  if (!host::RopeTable::Valid(options)) {
    return absl::InvalidArgumentError("rotation parameters out of range");
  }
  const host::RopeTable table(options);
  rope_hash_ = table.hash();
  rope_positions_ = std::max(config_.positions_max, kernels::kTileTokens);
  const std::uint32_t pairs = config_.rotary_dim / 2;
  std::vector<float> values(std::size_t{rope_positions_} * pairs * 2);
  for (std::uint32_t p = 0; p < config_.positions_max; ++p) {
    for (std::uint32_t j = 0; j < pairs; ++j) {
      const float* cos = host::RopeCos(table.view(), j, p);
      float* to = values.data() + (std::size_t{p} * pairs + j) * 2;
      to[0] = cos[0];
      to[1] = cos[host::kRopeRunFloats];
    }
  }
  const std::size_t bytes = values.size() * sizeof(float);
  CAIRN_ASSIGN_OR_RETURN(rope_table_,
                         Allocate(*device_, CudaMemory::kDevice, "rotation table", bytes));
  return CopyIn(*device_, stream_, {reinterpret_cast<const std::byte*>(values.data()), bytes},
                rope_table_.bytes());
}

std::string CudaDevice::numerics() const {
  return absl::StrCat("cuda:", absl::StrReplaceAll(device_->name(), {{" ", "_"}, {",", "_"}}), ",",
                      NumericsOf(options_.math, attention_),
                      ",kv=bf16,rope=", absl::Hex(rope_hash_, absl::kZeroPad16));
}

absl::Status CudaDevice::QueueKernels(const StepShape& shape) {
  const LlamaStep step{.config = config_,
                       .layout = layout_,
                       .weights = weights_,
                       .rope_table = rope_table_.as<float>(),
                       .rope_positions = rope_positions_,
                       .memory = memory_,
                       .shape = shape,
                       .attention = attention_,
                       .multiprocessors = device_->multiprocessors()};
  // Steps that prefill are long beside their launches, and of many shapes.
  const bool is_one = options_.uses_graphs && shape.rows <= kGraphRowsMax && shape.query_tiles == 0;
  if (!is_one) return QueueLlamaStep(step, stream_);
  if (graphs_generation_ != memory_.generation) graphs_.clear();
  graphs_generation_ = memory_.generation;
  const StepShape key = shape.Grids();
  auto it = graphs_.find(key);
  if (it == graphs_.end()) {
    if (graphs_.size() >= kGraphsMax) graphs_.clear();
    CAIRN_RETURN_IF_ERROR(ToStatus(stream_.BeginCapture()));
    const absl::Status queued = QueueLlamaStep(step, stream_);
    rt::Result<rt::Graph> graph = stream_.EndCapture();
    CAIRN_RETURN_IF_ERROR(queued);
    if (!graph.ok() && graph.status().is_out_of_memory()) {
      graphs_.clear();
      return QueueLlamaStep(step, stream_);
    }
    if (!graph.ok()) return ToStatus(graph.status());
    it = graphs_.emplace(key, std::move(*graph)).first;
    ++graphs_captured_;
  }
  return ToStatus(stream_.Launch(it->second));
}

void CudaDevice::UsePool(absl::Span<const std::byte> memory,
                         absl::Span<const std::uint64_t> takes) {
  blocks_.UsePool(memory, takes);
  const absl::Status status = copier_->UsePool(memory, stream_);
  if (!status.ok()) {  // then the copy engine it is; a device that has failed says so again
    LogEvent(LogLevel::kWarning, "kv_copies_not_measured").With("reason", status.ToString());
  }
}

void CudaDevice::UseArena(std::shared_ptr<const SharedArena> arena) {
  blocks_.UseArena(arena == nullptr ? std::vector<absl::Span<const std::byte>>() : arena->pieces());
  copier_->UseArena(std::move(arena));
}

absl::Status CudaDevice::Reserve(const StepRoom& room) {
  blocks_.Clear();  // their memory may go
  const std::uint64_t tokens = std::uint64_t{room.blocks} * options_.block_tokens;
  const auto up_to_power = [](std::uint64_t count) {
    return count == 0 ? 0 : static_cast<std::uint32_t>(std::bit_ceil(count));
  };
  // Keys of all blocks in the scratch at a time; of what else depends on lists, little is needed.
  StepShape shape{.rows = up_to_power(room.rows),
                  .decode_rows = up_to_power(std::min(room.rows, room.requests)),
                  .logit_rows = up_to_power(std::min(room.rows, room.requests)),
                  .has_tokens = true};
  if (room.rows > 0) {
    shape.rotated_tiles = shape.tiles =
        static_cast<std::uint32_t>(tokens / kernels::kTileTokens + 1);
    shape.decode_items = shape.tiles / kernels::kSplitTiles + shape.decode_rows;
  }
  CAIRN_RETURN_IF_ERROR(
      memory_.Reserve(*device_, config_, layout_, shape, attention_, room.blocks));
  memory_.KeepPool();
  blocks_.Reserve(room.blocks);
  return absl::OkStatus();
}

absl::Status CudaDevice::Run(absl::Span<const StepChunk> chunks, StepOutput output) {
  const StepLimits limits{.block_tokens = options_.block_tokens,
                          .vocabulary = config_.vocabulary,
                          .positions_max = config_.positions_max};
  CAIRN_RETURN_IF_ERROR(CheckOutput(chunks, limits, output));
  CAIRN_ASSIGN_OR_RETURN(const StepPlan plan,
                         PlanStep(chunks, limits, {attention_, config_.head_dim}, &blocks_));
  if (plan.rows.empty()) return absl::OkStatus();
  const absl::Status status = RunPlan(plan, output);
  if (!status.ok()) {
    (void)stream_.Synchronize();  // what was queued; if it fails, too, the next step says so
    blocks_.Clear();
  }
  return status;
}

absl::Status CudaDevice::RunPlan(const StepPlan& plan, const StepOutput& output) {
  StepShape shape = StepShape::Of(plan);
  shape.takes_rows = !copier_->AreWritable(plan.blocks);
  CAIRN_RETURN_IF_ERROR(
      memory_.Reserve(*device_, config_, layout_, shape, attention_, blocks_.capacity()));
  CAIRN_RETURN_IF_ERROR(Grow(*device_, CudaMemory::kPinned, "logits",
                             output.logits.size() * sizeof(float), &memory_.host_logits));

  const std::size_t plan_bytes = PlanBuffer(memory_.room).Write(plan, memory_.host_plan.bytes());
  CAIRN_RETURN_IF_ERROR(
      ToStatus(stream_.CopyAsync(memory_.plan.bytes(), memory_.host_plan.bytes(), plan_bytes)));
  CAIRN_RETURN_IF_ERROR(copier_->Load(plan.loads, memory_.pool.bytes(), stream_));
  CAIRN_RETURN_IF_ERROR(QueueKernels(shape));
  CAIRN_RETURN_IF_ERROR(TakeResults(plan, output));

  for (std::size_t row = 0; row < plan.rows.size() && shape.takes_rows; ++row) {
    copier_->Store(memory_.fresh.bytes() + row * layout_.token_bytes(), plan.places[row].token,
                   plan.blocks[row]);
  }
  blocks_loaded_ += plan.loads.size();
  return absl::OkStatus();
}

// The step's one wait of the CPU is in here.
absl::Status CudaDevice::TakeResults(const StepPlan& plan, const StepOutput& output) {
  const std::size_t logit_bytes = output.logits.size() * sizeof(float);
  const std::size_t summary_bytes =
      plan.token_rows == 0 ? 0 : plan.logit_rows.size() * sizeof(kernels::LogitSummary);
  CAIRN_RETURN_IF_ERROR(ToStatus(
      stream_.CopyAsync(memory_.host_logits.bytes(), memory_.logits.bytes(), logit_bytes)));
  CAIRN_RETURN_IF_ERROR(ToStatus(
      stream_.CopyAsync(memory_.host_summaries.bytes(), memory_.summaries.bytes(), summary_bytes)));
  CAIRN_RETURN_IF_ERROR(ToStatus(stream_.Synchronize()));
  if (logit_bytes > 0) {
    std::memcpy(output.logits.data(), memory_.host_logits.bytes(), logit_bytes);
  }
  const auto* summaries = memory_.host_summaries.as<kernels::LogitSummary>();
  const std::size_t first = plan.logit_rows.size() - plan.token_rows;
  for (std::size_t i = 0; i < plan.token_rows; ++i) output.tokens[i] = summaries[first + i].token;
  return absl::OkStatus();
}

// Of whole blocks that are here. Behind a block's tokens, and where a layout fills blocks up to
// whole pages, there is anything here, and zeros on the host.
void CudaDevice::Sum(absl::Span<const StoredBlock> blocks, absl::Span<Checksum> sums) {
  std::vector<std::uint32_t> slots;
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const bool is_whole = blocks[i].tokens == options_.block_tokens &&
                          layout_.token_bytes() * options_.block_tokens == layout_.block_bytes();
    const auto slot = is_whole ? blocks_.Find(blocks[i].bytes.data()) : std::nullopt;
    if (slot.has_value()) {
      slots.push_back(*slot);
      indices.push_back(i);
    } else {
      sums[i] = ChecksumOf(blocks[i].bytes);
    }
  }
  std::vector<Checksum> found(slots.size());
  const absl::Status status = block_sums_->Sum(memory_.pool, slots, stream_, absl::MakeSpan(found));
  for (std::size_t i = 0; i < indices.size(); ++i) {  // a device that failed: the next step says so
    sums[indices[i]] = status.ok() ? found[i] : ChecksumOf(blocks[indices[i]].bytes);
  }
}

}  // namespace cairn
