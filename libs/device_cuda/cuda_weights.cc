#include "libs/device_cuda/cuda_weights.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/linear/packed.h"
#include "kernels/sk/number_soft.h"
#include "libs/base/status_macros.h"
#include "libs/base/units.h"
#include "libs/device_cuda/cuda_memory.h"

namespace cairn {
namespace {

constexpr std::size_t kAlignment = 256;        // of every tensor in device memory
constexpr std::size_t kStageBytes = 4 * kMiB;  // of pinned memory, at least a row

enum class MatrixForm { kPlain, kPacked };

// Lays tensors out first, so that one allocation holds them all, and uploads them at the end.
class Uploader {
 public:
  explicit Uploader(const GgufFile& file) : file_(file) {}

  // Several tensors of `in` columns each, one after the other, become one matrix.
  struct Part {
    std::string name;
    std::uint32_t out;
  };
  absl::Status Matrix(const std::vector<Part>& parts, std::uint32_t in, MatrixForm form,
                      CudaMatrix* target) {
    *target = {.n = 0, .k = in};
    Goal goal{.matrix = target, .form = form, .offset = bytes_};
    for (const Part& part : parts) {
      const std::uint64_t dims[] = {in, part.out};
      CAIRN_ASSIGN_OR_RETURN(const GgufTensor* tensor, file_.Get(part.name, dims));
      goal.tensors.push_back(tensor);
      target->n += part.out;
    }
    const std::size_t plain_bytes = std::size_t{target->n} * in * 2;
    if (form == MatrixForm::kPacked) unpacked_bytes_ = std::max(unpacked_bytes_, plain_bytes);
    goals_.push_back(std::move(goal));
    Take(form == MatrixForm::kPacked ? kernels::PackedWeightsBytes(target->n, in) : plain_bytes);
    return absl::OkStatus();
  }
  absl::Status Vector(const std::string& name, std::uint32_t size, const float** target) {
    const std::uint64_t dims[] = {size};
    CAIRN_ASSIGN_OR_RETURN(const GgufTensor* tensor, file_.Get(name, dims));
    goals_.push_back({.vector = target, .offset = bytes_, .tensors = {tensor}});
    Take(std::size_t{size} * 4);
    return absl::OkStatus();
  }

  absl::StatusOr<rt::Buffer> UploadAll(rt::Device& device, rt::Stream& stream) const {
    CAIRN_ASSIGN_OR_RETURN(rt::Buffer memory,
                           Allocate(device, CudaMemory::kDevice, "weights", bytes_));
    rt::Buffer unpacked;
    CAIRN_RETURN_IF_ERROR(
        Grow(device, CudaMemory::kDevice, "a matrix in passing", unpacked_bytes_, &unpacked));
    std::size_t stage_bytes = kStageBytes;
    for (const Goal& goal : goals_) {
      stage_bytes = std::max<std::size_t>(stage_bytes, goal.tensors[0]->row_values() * 4);
    }
    CAIRN_ASSIGN_OR_RETURN(
        rt::Buffer stage, Allocate(device, CudaMemory::kPinned, "weights in passing", stage_bytes));
    for (const Goal& goal : goals_) {
      std::byte* const to = memory.bytes() + goal.offset;
      const bool is_packed = goal.form == MatrixForm::kPacked;
      CAIRN_RETURN_IF_ERROR(Upload(goal, is_packed ? unpacked.bytes() : to, stage, stream));
      if (is_packed) {
        CAIRN_RETURN_IF_ERROR(
            ToStatus(kernels::PackWeights(stream, {.w = unpacked.as<std::uint16_t>(),
                                                   .packed = reinterpret_cast<std::uint16_t*>(to),
                                                   .n = goal.matrix->n,
                                                   .k = goal.matrix->k})));
      }
      if (goal.vector != nullptr) {
        *goal.vector = reinterpret_cast<const float*>(to);
      } else {
        (is_packed ? goal.matrix->packed : goal.matrix->values) =
            reinterpret_cast<const std::uint16_t*>(to);
      }
    }
    CAIRN_RETURN_IF_ERROR(ToStatus(stream.Synchronize()));
    return memory;
  }

 private:
  // A matrix in bf16, or a vector in f32.
  struct Goal {
    CudaMatrix* matrix = nullptr;
    const float** vector = nullptr;
    MatrixForm form = MatrixForm::kPlain;
    std::size_t offset = 0;
    std::vector<const GgufTensor*> tensors;  // one after the other
  };

  void Take(std::size_t bytes) { bytes_ = RoundUp(bytes_ + bytes, kAlignment); }

  static absl::Status Upload(const Goal& goal, std::byte* to, const rt::Buffer& stage,
                             rt::Stream& stream) {
    const bool is_bf16 = goal.matrix != nullptr;
    for (const GgufTensor* tensor : goal.tensors) {
      const std::size_t row_bytes = tensor->row_values() * (is_bf16 ? 2 : 4);
      const std::size_t rows_at_once = stage.size() / row_bytes;
      std::vector<float> row(tensor->row_values());
      for (std::size_t first = 0; first < tensor->rows(); first += rows_at_once) {
        const std::size_t rows = std::min<std::size_t>(rows_at_once, tensor->rows() - first);
        for (std::size_t i = 0; i < rows; ++i) {
          std::byte* staged = stage.bytes() + i * row_bytes;
          tensor->DequantiseRow(first + i, absl::MakeSpan(row));
          if (is_bf16) {
            std::transform(row.begin(), row.end(), reinterpret_cast<std::uint16_t*>(staged),
                           sk::soft::RoundBf16);
          } else {
            std::copy(row.begin(), row.end(), reinterpret_cast<float*>(staged));
          }
        }
        CAIRN_RETURN_IF_ERROR(ToStatus(stream.CopyAsync(to, stage.bytes(), rows * row_bytes)));
        CAIRN_RETURN_IF_ERROR(ToStatus(stream.Synchronize()));
        to += rows * row_bytes;
      }
    }
    return absl::OkStatus();
  }

  const GgufFile& file_;
  std::vector<Goal> goals_;
  std::size_t bytes_ = 0;
  std::size_t unpacked_bytes_ = 0;  // of the largest matrix that is packed
};

absl::Status AddLayer(Uploader& uploader, const LlamaConfig& c, MatrixForm form,
                      std::uint32_t index, CudaLlamaLayer* layer) {
  const auto name = [&](absl::string_view part) {
    return absl::StrCat("blk.", index, ".", part, ".weight");
  };
  const std::uint32_t q_width = c.q_heads * c.head_dim, kv_width = c.kv_heads * c.head_dim;
  CAIRN_RETURN_IF_ERROR(uploader.Vector(name("attn_norm"), c.hidden, &layer->attention_norm));
  CAIRN_RETURN_IF_ERROR(uploader.Matrix({{name("attn_q"), q_width}}, c.hidden, form, &layer->q));
  CAIRN_RETURN_IF_ERROR(uploader.Matrix({{name("attn_k"), kv_width}, {name("attn_v"), kv_width}},
                                        c.hidden, form, &layer->kv));
  CAIRN_RETURN_IF_ERROR(
      uploader.Matrix({{name("attn_output"), c.hidden}}, q_width, form, &layer->output));
  CAIRN_RETURN_IF_ERROR(uploader.Vector(name("ffn_norm"), c.hidden, &layer->ffn_norm));
  CAIRN_RETURN_IF_ERROR(uploader.Matrix({{name("ffn_gate"), c.ffn}, {name("ffn_up"), c.ffn}},
                                        c.hidden, form, &layer->gate_up));
  return uploader.Matrix({{name("ffn_down"), c.hidden}}, c.ffn, form, &layer->down);
}

absl::Status ReadDivisors(const GgufFile& file, const LlamaConfig& config,
                          std::vector<float>* divisors) {
  if (file.Find("rope_freqs.weight") == nullptr) return absl::OkStatus();
  const std::uint64_t dims[] = {config.rotary_dim / 2};
  CAIRN_ASSIGN_OR_RETURN(const GgufTensor* tensor, file.Get("rope_freqs.weight", dims));
  *divisors = tensor->DequantiseAll();
  for (const float divisor : *divisors) {
    if (!(divisor > 0 && std::isfinite(divisor))) {
      return absl::InvalidArgumentError(absl::StrCat("rope_freqs.weight holds ", divisor));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CudaLlamaWeights> UploadLlamaWeights(const GgufFile& file, const LlamaConfig& config,
                                                    CudaMath math, rt::Device& device,
                                                    rt::Stream& stream) {
  CudaLlamaWeights weights;
  Uploader uploader(file);
  const MatrixForm form = math == CudaMath::kMma ? MatrixForm::kPlain : MatrixForm::kPacked;
  constexpr char kEmbedding[] = "token_embd.weight", kOutput[] = "output.weight";
  CAIRN_RETURN_IF_ERROR(uploader.Matrix({{kEmbedding, config.vocabulary}}, config.hidden,
                                        MatrixForm::kPlain, &weights.embedding));
  const bool is_tied = file.Find(kOutput) == nullptr;
  const bool is_shared = is_tied && form == MatrixForm::kPlain;
  if (!is_shared) {
    CAIRN_RETURN_IF_ERROR(uploader.Matrix({{is_tied ? kEmbedding : kOutput, config.vocabulary}},
                                          config.hidden, form, &weights.head));
  }
  CAIRN_RETURN_IF_ERROR(uploader.Vector("output_norm.weight", config.hidden, &weights.final_norm));
  weights.layers.resize(config.layers);
  for (std::uint32_t i = 0; i < config.layers; ++i) {
    CAIRN_RETURN_IF_ERROR(AddLayer(uploader, config, form, i, &weights.layers[i]));
  }
  CAIRN_RETURN_IF_ERROR(ReadDivisors(file, config, &weights.frequency_divisors));
  CAIRN_ASSIGN_OR_RETURN(weights.memory, uploader.UploadAll(device, stream));
  if (is_shared) weights.head = weights.embedding;
  return weights;
}

}  // namespace cairn
