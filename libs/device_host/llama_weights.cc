#include "libs/device_host/llama_weights.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/host/host_ops.h"
#include "libs/base/status_macros.h"
#include "libs/base/units.h"

namespace cairn {
namespace {

constexpr std::size_t kPanelAlignment = 64;

host::WeightType ToHost(TensorType type) {
  switch (type) {
    case TensorType::kF32:
      return host::WeightType::kF32;
    case TensorType::kF16:
      return host::WeightType::kF16;
    case TensorType::kBf16:
      return host::WeightType::kBf16;
    case TensorType::kQ8_0:
      return host::WeightType::kQ8_0;
    case TensorType::kQ4_0:
      return host::WeightType::kQ4_0;
    case TensorType::kQ4_1:
      return host::WeightType::kQ4_1;
  }
  return host::WeightType::kF32;
}

// Collects the matrices first, so that one buffer can hold them all, and packs them at the end.
class Loader {
 public:
  explicit Loader(const GgufFile& file) : file_(file) {}

  absl::StatusOr<host::MatrixSource> Source(absl::string_view name, std::uint32_t in,
                                            std::uint32_t out) const {
    const std::uint64_t dims[] = {in, out};
    CAIRN_ASSIGN_OR_RETURN(const GgufTensor* tensor, file_.Get(name, dims));
    return host::MatrixSource{
        .type = ToHost(tensor->type), .n = out, .k = in, .rows = tensor->bytes.data()};
  }

  absl::Status Matrix(absl::string_view name, std::uint32_t in, std::uint32_t out,
                      host::PackedMatrix* target) {
    CAIRN_ASSIGN_OR_RETURN(const host::MatrixSource source, Source(name, in, out));
    jobs_.push_back({source, target, bytes_});
    bytes_ = RoundUp(bytes_ + host::PackedBytes(source), kPanelAlignment);
    return absl::OkStatus();
  }

  absl::Status Vector(absl::string_view name, std::uint32_t size,
                      std::vector<float>* target) const {
    const std::uint64_t dims[] = {size};
    CAIRN_ASSIGN_OR_RETURN(const GgufTensor* tensor, file_.Get(name, dims));
    *target = tensor->DequantiseAll();
    return absl::OkStatus();
  }

  absl::StatusOr<HostBuffer> PackAll(HostThreads& threads) const {
    CAIRN_ASSIGN_OR_RETURN(HostBuffer buffer, HostBuffer::Allocate(bytes_));
    threads.Run([&](std::uint32_t part) {
      for (const Job& job : jobs_) {
        const host::Range range =
            host::PartOf(host::PanelCount(job.source.n), part, threads.threads());
        host::PackPanels(job.source, range.begin, range.end, buffer.data() + job.offset);
      }
    });
    for (const Job& job : jobs_) {
      *job.target = {job.source.type, job.source.n, job.source.k, buffer.data() + job.offset};
    }
    return buffer;
  }

 private:
  struct Job {
    host::MatrixSource source;
    host::PackedMatrix* target;
    std::size_t offset;
  };
  const GgufFile& file_;
  std::vector<Job> jobs_;
  std::size_t bytes_ = 0;
};

absl::Status LoadLayer(Loader& loader, const LlamaConfig& c, std::uint32_t index,
                       LlamaLayer* layer) {
  const auto name = [&](absl::string_view part) {
    return absl::StrCat("blk.", index, ".", part, ".weight");
  };
  const std::uint32_t q_width = c.q_heads * c.head_dim;
  const std::uint32_t kv_width = c.kv_heads * c.head_dim;
  CAIRN_RETURN_IF_ERROR(loader.Vector(name("attn_norm"), c.hidden, &layer->attention_norm));
  CAIRN_RETURN_IF_ERROR(loader.Matrix(name("attn_q"), c.hidden, q_width, &layer->q));
  CAIRN_RETURN_IF_ERROR(loader.Matrix(name("attn_k"), c.hidden, kv_width, &layer->k));
  CAIRN_RETURN_IF_ERROR(loader.Matrix(name("attn_v"), c.hidden, kv_width, &layer->v));
  CAIRN_RETURN_IF_ERROR(loader.Matrix(name("attn_output"), q_width, c.hidden, &layer->output));
  CAIRN_RETURN_IF_ERROR(loader.Vector(name("ffn_norm"), c.hidden, &layer->ffn_norm));
  CAIRN_RETURN_IF_ERROR(loader.Matrix(name("ffn_gate"), c.hidden, c.ffn, &layer->gate));
  CAIRN_RETURN_IF_ERROR(loader.Matrix(name("ffn_up"), c.hidden, c.ffn, &layer->up));
  return loader.Matrix(name("ffn_down"), c.ffn, c.hidden, &layer->down);
}

}  // namespace

absl::StatusOr<LlamaWeights> LoadLlamaWeights(const GgufFile& file, const LlamaConfig& config,
                                              HostThreads& threads) {
  LlamaWeights weights;
  Loader loader(file);
  CAIRN_ASSIGN_OR_RETURN(weights.embedding,
                         loader.Source("token_embd.weight", config.hidden, config.vocabulary));
  const bool is_tied = file.Find("output.weight") == nullptr;
  CAIRN_RETURN_IF_ERROR(loader.Matrix(is_tied ? "token_embd.weight" : "output.weight",
                                      config.hidden, config.vocabulary, &weights.head));
  CAIRN_RETURN_IF_ERROR(loader.Vector("output_norm.weight", config.hidden, &weights.final_norm));
  weights.layers.resize(config.layers);
  for (std::uint32_t i = 0; i < config.layers; ++i) {
    CAIRN_RETURN_IF_ERROR(LoadLayer(loader, config, i, &weights.layers[i]));
  }
  if (file.Find("rope_freqs.weight") != nullptr) {
    CAIRN_RETURN_IF_ERROR(
        loader.Vector("rope_freqs.weight", config.rotary_dim / 2, &weights.frequency_divisors));
    for (const float divisor : weights.frequency_divisors) {
      if (!(divisor > 0 && std::isfinite(divisor))) {
        return absl::InvalidArgumentError(absl::StrCat("rope_freqs.weight holds ", divisor));
      }
    }
  }
  CAIRN_ASSIGN_OR_RETURN(weights.panels, loader.PackAll(threads));
  return weights;
}

}  // namespace cairn
