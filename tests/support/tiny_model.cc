#include "tests/support/tiny_model.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "libs/base/rng.h"
#include "libs/gguf/gguf_writer.h"

namespace cairn {
namespace {

constexpr std::uint64_t kHidden = 64;
constexpr std::uint64_t kFfn = 96;
constexpr std::uint64_t kKvWidth = 32;
constexpr std::uint64_t kVocabulary = 96;
constexpr std::uint32_t kLayers = 2;

std::vector<float> RandomValues(Rng& rng, std::size_t count, double middle, double spread) {
  std::vector<float> values(count);
  for (float& value : values) {
    value = static_cast<float>(middle + spread * (2 * rng.Unit() - 1));
  }
  return values;
}

void AddMatrix(GgufWriter& writer, Rng& rng, const std::string& name, TensorType type,
               std::uint64_t in, std::uint64_t out) {
  writer.AddTensor(name, type, {in, out}, RandomValues(rng, in * out, 0, 0.35));
}

}  // namespace

std::string TinyLlama(std::uint64_t seed) {
  Rng rng(seed);
  GgufWriter writer;
  writer.AddString("general.architecture", "llama");
  writer.AddString("general.name", "tiny");
  writer.AddUint32("llama.block_count", kLayers);
  writer.AddUint32("llama.embedding_length", kHidden);
  writer.AddUint32("llama.feed_forward_length", kFfn);
  writer.AddUint32("llama.attention.head_count", 4);
  writer.AddUint32("llama.attention.head_count_kv", 2);
  writer.AddUint32("llama.context_length", 512);
  writer.AddFloat32("llama.attention.layer_norm_rms_epsilon", 1e-5f);
  writer.AddFloat32("llama.rope.freq_base", 10000.0f);
  AddMatrix(writer, rng, "token_embd.weight", TensorType::kQ8_0, kHidden, kVocabulary);
  writer.AddTensor("output_norm.weight", TensorType::kF32, {kHidden},
                   RandomValues(rng, kHidden, 1, 0.2));
  for (std::uint32_t i = 0; i < kLayers; ++i) {
    const std::string layer = absl::StrCat("blk.", i, ".");
    for (const char* norm : {"attn_norm.weight", "ffn_norm.weight"}) {
      writer.AddTensor(layer + norm, TensorType::kF32, {kHidden},
                       RandomValues(rng, kHidden, 1, 0.2));
    }
    AddMatrix(writer, rng, layer + "attn_q.weight", TensorType::kQ4_1, kHidden, kHidden);
    AddMatrix(writer, rng, layer + "attn_k.weight", TensorType::kF16, kHidden, kKvWidth);
    AddMatrix(writer, rng, layer + "attn_v.weight", TensorType::kBf16, kHidden, kKvWidth);
    AddMatrix(writer, rng, layer + "attn_output.weight", TensorType::kQ4_0, kHidden, kHidden);
    AddMatrix(writer, rng, layer + "ffn_gate.weight", TensorType::kQ4_1, kHidden, kFfn);
    AddMatrix(writer, rng, layer + "ffn_up.weight", TensorType::kQ8_0, kHidden, kFfn);
    AddMatrix(writer, rng, layer + "ffn_down.weight", TensorType::kF32, kFfn, kHidden);
  }
  return std::move(writer).Finish();
}

}  // namespace cairn
