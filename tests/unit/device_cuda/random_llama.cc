#include "tests/unit/device_cuda/random_llama.h"

#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "libs/base/rng.h"
#include "libs/gguf/gguf_writer.h"

namespace cairn {
namespace {

std::vector<float> RandomValues(Rng& rng, std::size_t count, double middle, double spread) {
  std::vector<float> values(count);
  for (float& value : values) {
    value = static_cast<float>(middle + spread * (2 * rng.Unit() - 1));
  }
  return values;
}

class Writer {
 public:
  explicit Writer(std::uint64_t seed) : rng_(seed) {}

  // `gain`: the spread of y over that of x.
  void AddMatrix(const std::string& name, std::uint64_t in, std::uint64_t out, double gain) {
    const double spread = gain * std::sqrt(3.0 / static_cast<double>(in));
    gguf.AddTensor(name, TensorType::kBf16, {in, out}, RandomValues(rng_, in * out, 0, spread));
  }
  void AddNorm(const std::string& name, std::uint64_t width) {
    gguf.AddTensor(name, TensorType::kF32, {width}, RandomValues(rng_, width, 1, 0.2));
  }

  GgufWriter gguf;

 private:
  Rng rng_;
};

}  // namespace

std::string RandomLlama(const RandomLlamaShape& shape, std::uint64_t seed) {
  Writer writer(seed);
  writer.gguf.AddString("general.architecture", "llama");
  writer.gguf.AddString("general.name", "random");
  writer.gguf.AddUint32("llama.block_count", shape.layers);
  writer.gguf.AddUint32("llama.embedding_length", shape.hidden);
  writer.gguf.AddUint32("llama.feed_forward_length", shape.ffn);
  writer.gguf.AddUint32("llama.attention.head_count", shape.q_heads);
  writer.gguf.AddUint32("llama.attention.head_count_kv", shape.kv_heads);
  writer.gguf.AddUint32("llama.context_length", shape.positions);
  if (shape.rotary_dim != 0) {
    writer.gguf.AddUint32("llama.rope.dimension_count", shape.rotary_dim);
  }
  writer.gguf.AddFloat32("llama.attention.layer_norm_rms_epsilon", 1e-5f);
  writer.gguf.AddFloat32("llama.rope.freq_base", 10000.0f);
  const std::uint64_t hidden = shape.hidden;
  const std::uint64_t kv_width = hidden / shape.q_heads * shape.kv_heads;
  writer.AddMatrix("token_embd.weight", hidden, shape.vocabulary, std::sqrt(hidden));
  writer.AddMatrix("output.weight", hidden, shape.vocabulary, 1.0);
  writer.AddNorm("output_norm.weight", hidden);
  for (std::uint32_t i = 0; i < shape.layers; ++i) {
    const std::string layer = absl::StrCat("blk.", i, ".");
    writer.AddNorm(layer + "attn_norm.weight", hidden);
    writer.AddMatrix(layer + "attn_q.weight", hidden, hidden, 1.0);
    writer.AddMatrix(layer + "attn_k.weight", hidden, kv_width, 1.0);
    writer.AddMatrix(layer + "attn_v.weight", hidden, kv_width, 1.0);
    writer.AddMatrix(layer + "attn_output.weight", hidden, hidden, 0.3);
    writer.AddNorm(layer + "ffn_norm.weight", hidden);
    writer.AddMatrix(layer + "ffn_gate.weight", hidden, shape.ffn, 1.0);
    writer.AddMatrix(layer + "ffn_up.weight", hidden, shape.ffn, 1.0);
    writer.AddMatrix(layer + "ffn_down.weight", shape.ffn, hidden, 0.3);
  }
  return std::move(writer.gguf).Finish();
}

}  // namespace cairn
