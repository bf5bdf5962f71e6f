#include "libs/device_host/llama_config.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "libs/base/limits.h"
#include "libs/base/status_macros.h"

namespace cairn {
namespace {

absl::StatusOr<std::uint32_t> Dimension(const GgufMetadata& metadata, absl::string_view key,
                                        std::uint64_t max) {
  CAIRN_ASSIGN_OR_RETURN(const std::uint64_t value, metadata.GetUint(key));
  if (value == 0 || value > max) {
    return absl::InvalidArgumentError(absl::StrCat(key, " is ", value, ", not within 1 to ", max));
  }
  return static_cast<std::uint32_t>(value);
}

absl::Status ReadRope(const GgufMetadata& metadata, LlamaConfig* config) {
  CAIRN_ASSIGN_OR_RETURN(const std::uint64_t rotary,
                         metadata.GetUintOr("llama.rope.dimension_count", config->head_dim));
  if (rotary == 0 || rotary % 2 != 0 || rotary > config->head_dim) {
    return absl::InvalidArgumentError(absl::StrCat("llama.rope.dimension_count is ", rotary,
                                                   " with heads of ", config->head_dim));
  }
  config->rotary_dim = static_cast<std::uint32_t>(rotary);
  CAIRN_ASSIGN_OR_RETURN(config->rope_theta, metadata.GetFloatOr("llama.rope.freq_base", 10000.0));
  if (!(config->rope_theta >= 1 && config->rope_theta <= 1e12)) {
    return absl::InvalidArgumentError(absl::StrCat("llama.rope.freq_base is ", config->rope_theta));
  }
  CAIRN_ASSIGN_OR_RETURN(const absl::string_view scaling,
                         metadata.GetStringOr("llama.rope.scaling.type", "none"));
  if (scaling == "linear") {
    CAIRN_ASSIGN_OR_RETURN(config->rope_linear_scale,
                           metadata.GetFloat("llama.rope.scaling.factor"));
    if (!(config->rope_linear_scale >= 1 && config->rope_linear_scale <= 1e6)) {
      return absl::InvalidArgumentError(
          absl::StrCat("llama.rope.scaling.factor is ", config->rope_linear_scale));
    }
  } else if (scaling != "none") {
    return absl::UnimplementedError(
        absl::StrCat("llama.rope.scaling.type ", QuotedName(scaling), " is not supported"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<LlamaConfig> ReadLlamaConfig(const GgufFile& file) {
  const GgufMetadata& metadata = file.metadata();
  CAIRN_ASSIGN_OR_RETURN(const absl::string_view architecture,
                         metadata.GetString("general.architecture"));
  if (architecture != "llama") {
    return absl::UnimplementedError(absl::StrCat("general.architecture ", QuotedName(architecture),
                                                 " is not supported; only llama is"));
  }
  LlamaConfig config;
  CAIRN_ASSIGN_OR_RETURN(config.layers,
                         Dimension(metadata, "llama.block_count", limits::kModelLayersMax));
  CAIRN_ASSIGN_OR_RETURN(config.hidden,
                         Dimension(metadata, "llama.embedding_length", limits::kModelWidthMax));
  CAIRN_ASSIGN_OR_RETURN(config.ffn,
                         Dimension(metadata, "llama.feed_forward_length", limits::kModelWidthMax));
  CAIRN_ASSIGN_OR_RETURN(config.q_heads,
                         Dimension(metadata, "llama.attention.head_count", limits::kModelHeadsMax));
  CAIRN_ASSIGN_OR_RETURN(const std::uint64_t kv_heads,
                         metadata.GetUintOr("llama.attention.head_count_kv", config.q_heads));
  if (kv_heads == 0 || kv_heads > config.q_heads || config.q_heads % kv_heads != 0) {
    return absl::InvalidArgumentError(absl::StrCat("llama.attention.head_count_kv is ", kv_heads,
                                                   " with ", config.q_heads, " query heads"));
  }
  config.kv_heads = static_cast<std::uint32_t>(kv_heads);
  CAIRN_ASSIGN_OR_RETURN(
      const std::uint64_t head_dim,
      metadata.GetUintOr("llama.attention.key_length", config.hidden / config.q_heads));
  if (head_dim == 0 || head_dim * config.q_heads > limits::kModelWidthMax) {
    return absl::InvalidArgumentError(absl::StrCat("heads of ", head_dim, " numbers"));
  }
  config.head_dim = static_cast<std::uint32_t>(head_dim);
  CAIRN_ASSIGN_OR_RETURN(config.positions_max,
                         Dimension(metadata, "llama.context_length", limits::kModelPositionsMax));
  CAIRN_ASSIGN_OR_RETURN(const double epsilon,
                         metadata.GetFloat("llama.attention.layer_norm_rms_epsilon"));
  if (!(epsilon > 0 && epsilon < 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("llama.attention.layer_norm_rms_epsilon is ", epsilon));
  }
  config.norm_epsilon = static_cast<float>(epsilon);
  CAIRN_RETURN_IF_ERROR(ReadRope(metadata, &config));
  const GgufTensor* embedding = file.Find("token_embd.weight");
  if (embedding == nullptr || embedding->dims.size() != 2) {
    return absl::InvalidArgumentError("token_embd.weight is missing or no matrix");
  }
  if (embedding->rows() == 0 || embedding->rows() > limits::kModelWidthMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("token_embd.weight has ", embedding->rows(), " rows"));
  }
  config.vocabulary = static_cast<std::uint32_t>(embedding->rows());
  CAIRN_ASSIGN_OR_RETURN(const absl::string_view name,
                         metadata.GetStringOr("general.name", "llama"));
  config.name = std::string(name);
  return config;
}

std::string RopeIdentityText(const LlamaConfig& config, bool has_frequency_divisors) {
  // %.17g: every bit of a double.
  return absl::StrFormat("adjacent,dim=%d,theta=%.17g,linear=%.17g,divisors=%s", config.rotary_dim,
                         config.rope_theta, config.rope_linear_scale,
                         has_frequency_divisors ? "rope_freqs" : "none");
}

}  // namespace cairn
