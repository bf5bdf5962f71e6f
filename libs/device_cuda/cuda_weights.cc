#include "libs/device_cuda/cuda_weights.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/sk/number_soft.h"
#include "libs/base/status_macros.h"
#include "libs/base/units.h"
#include "libs/device_cuda/cuda_memory.h"

namespace cairn {
namespace {

constexpr std::size_t kAlignment = 256;        // of every tensor in device memory
constexpr std::size_t kStageBytes = 4 * kMiB;  // of pinned memory, at least a row

// Lays tensors out first, so that one allocation holds them all, and uploads them at the end.
class Uploader {
 public:
  explicit Uploader(const GgufFile& file) : file_(file) {}

  // Several tensors of `in` columns each, one after the other, become one matrix.
  struct Part {
    std::string name;
    std::uint32_t out;
  };
  absl::Status Matrix(const std::vector<Part>& parts, std::uint32_t in, CudaMatrix* target) {
    *target = {nullptr, 0, in};
    matrices_.push_back({target, bytes_});
    for (const Part& part : parts) {
      const std::uint64_t dims[] = {in, part.out};
      CAIRN_ASSIGN_OR_RETURN(const GgufTensor* tensor, file_.Get(part.name, dims));
      pieces_.push_back({tensor, bytes_, /*is_bf16=*/true});
      bytes_ += std::size_t{in} * part.out * 2;
      target->n += part.out;
    }
    bytes_ = RoundUp(bytes_, kAlignment);
    return absl::OkStatus();
  }
  absl::Status Vector(const std::string& name, std::uint32_t size, const float** target) {
    const std::uint64_t dims[] = {size};
    CAIRN_ASSIGN_OR_RETURN(const GgufTensor* tensor, file_.Get(name, dims));
    vectors_.push_back({target, bytes_});
    pieces_.push_back({tensor, bytes_, /*is_bf16=*/false});
    bytes_ = RoundUp(bytes_ + std::size_t{size} * 4, kAlignment);
    return absl::OkStatus();
  }

  absl::StatusOr<rt::Buffer> UploadAll(rt::Device& device, rt::Stream& stream) const {
    CAIRN_ASSIGN_OR_RETURN(rt::Buffer memory,
                           Allocate(device, CudaMemory::kDevice, "weights", bytes_));
    std::size_t stage_bytes = kStageBytes;
    for (const Piece& piece : pieces_) {
      stage_bytes = std::max<std::size_t>(stage_bytes, piece.tensor->row_values() * 4);
    }
    CAIRN_ASSIGN_OR_RETURN(
        rt::Buffer stage, Allocate(device, CudaMemory::kPinned, "weights in passing", stage_bytes));
    for (const Piece& piece : pieces_) {
      CAIRN_RETURN_IF_ERROR(Upload(piece, memory.bytes() + piece.offset, stage, stream));
    }
    for (const auto& [target, offset] : matrices_) {
      target->values = reinterpret_cast<const std::uint16_t*>(memory.bytes() + offset);
    }
    for (const auto& [target, offset] : vectors_) {
      *target = reinterpret_cast<const float*>(memory.bytes() + offset);
    }
    return memory;
  }

 private:
  struct Piece {
    const GgufTensor* tensor;
    std::size_t offset;
    bool is_bf16;
  };

  static absl::Status Upload(const Piece& piece, std::byte* to, const rt::Buffer& stage,
                             rt::Stream& stream) {
    const GgufTensor& tensor = *piece.tensor;
    const std::size_t width = tensor.row_values();
    const std::size_t row_bytes = width * (piece.is_bf16 ? 2 : 4);
    const std::size_t rows_at_once = stage.size() / row_bytes;
    std::vector<float> row(width);
    for (std::size_t first = 0; first < tensor.rows(); first += rows_at_once) {
      const std::size_t rows = std::min<std::size_t>(rows_at_once, tensor.rows() - first);
      for (std::size_t i = 0; i < rows; ++i) {
        std::byte* staged = stage.bytes() + i * row_bytes;
        tensor.DequantiseRow(first + i, absl::MakeSpan(row));
        if (piece.is_bf16) {
          std::transform(row.begin(), row.end(), reinterpret_cast<std::uint16_t*>(staged),
                         sk::soft::RoundBf16);
        } else {
          std::copy(row.begin(), row.end(), reinterpret_cast<float*>(staged));
        }
      }
      CAIRN_RETURN_IF_ERROR(
          ToStatus(stream.CopyAsync(to + first * row_bytes, stage.bytes(), rows * row_bytes)));
      CAIRN_RETURN_IF_ERROR(ToStatus(stream.Synchronize()));
    }
    return absl::OkStatus();
  }

  const GgufFile& file_;
  std::vector<Piece> pieces_;
  std::vector<std::pair<CudaMatrix*, std::size_t>> matrices_;
  std::vector<std::pair<const float**, std::size_t>> vectors_;
  std::size_t bytes_ = 0;
};

absl::Status AddLayer(Uploader& uploader, const LlamaConfig& c, std::uint32_t index,
                      CudaLlamaLayer* layer) {
  const auto name = [&](absl::string_view part) {
    return absl::StrCat("blk.", index, ".", part, ".weight");
  };
  const std::uint32_t q_width = c.q_heads * c.head_dim, kv_width = c.kv_heads * c.head_dim;
  CAIRN_RETURN_IF_ERROR(uploader.Vector(name("attn_norm"), c.hidden, &layer->attention_norm));
  CAIRN_RETURN_IF_ERROR(uploader.Matrix({{name("attn_q"), q_width}}, c.hidden, &layer->q));
  CAIRN_RETURN_IF_ERROR(uploader.Matrix({{name("attn_k"), kv_width}, {name("attn_v"), kv_width}},
                                        c.hidden, &layer->kv));
  CAIRN_RETURN_IF_ERROR(
      uploader.Matrix({{name("attn_output"), c.hidden}}, q_width, &layer->output));
  CAIRN_RETURN_IF_ERROR(uploader.Vector(name("ffn_norm"), c.hidden, &layer->ffn_norm));
  CAIRN_RETURN_IF_ERROR(uploader.Matrix({{name("ffn_gate"), c.ffn}, {name("ffn_up"), c.ffn}},
                                        c.hidden, &layer->gate_up));
  return uploader.Matrix({{name("ffn_down"), c.hidden}}, c.ffn, &layer->down);
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
                                                    rt::Device& device, rt::Stream& stream) {
  CudaLlamaWeights weights;
  Uploader uploader(file);
  CAIRN_RETURN_IF_ERROR(uploader.Matrix({{"token_embd.weight", config.vocabulary}}, config.hidden,
                                        &weights.embedding));
  const bool is_tied = file.Find("output.weight") == nullptr;
  if (!is_tied) {
    CAIRN_RETURN_IF_ERROR(
        uploader.Matrix({{"output.weight", config.vocabulary}}, config.hidden, &weights.head));
  }
  CAIRN_RETURN_IF_ERROR(uploader.Vector("output_norm.weight", config.hidden, &weights.final_norm));
  weights.layers.resize(config.layers);
  for (std::uint32_t i = 0; i < config.layers; ++i) {
    CAIRN_RETURN_IF_ERROR(AddLayer(uploader, config, i, &weights.layers[i]));
  }
  CAIRN_RETURN_IF_ERROR(ReadDivisors(file, config, &weights.frequency_divisors));
  CAIRN_ASSIGN_OR_RETURN(weights.memory, uploader.UploadAll(device, stream));
  if (is_tied) weights.head = weights.embedding;
  return weights;
}

}  // namespace cairn
