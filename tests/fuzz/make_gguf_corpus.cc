// make_gguf_corpus FOLDER: writes the small valid and broken files of corpus/gguf.
#include <fstream>
#include <string>
#include <vector>

#include "libs/gguf/gguf_writer.h"
#include "tests/support/small_vocabulary.h"

namespace cairn {
namespace {

void Write(const std::string& folder, const std::string& name, const std::string& file) {
  std::ofstream(folder + "/" + name, std::ios::binary) << file;
}

GgufWriter EveryKind() {
  GgufWriter w({.version = 3, .alignment = 64});
  w.AddString("general.architecture", "llama");
  w.AddUint32("u32", 7);
  w.AddInt32("i32", -7);
  w.AddUint64("u64", UINT64_MAX);
  w.AddFloat32("f32", 1e-5f);
  w.AddBool("bool", true);
  w.AddRaw("u8", GgufValueType::kUint8, "x");
  w.AddRaw("i16", GgufValueType::kInt16, "xy");
  w.AddRaw("f64", GgufValueType::kFloat64, "12345678");
  w.AddStrings("strings", {"a", "", "bc"});
  w.AddInt32s("ints", {1, -1});
  w.AddFloat32s("floats", {0.5f});
  // Two arrays in one: of u8 {1, 2} and of nothing.
  w.AddRaw("nested", GgufValueType::kArray,
           std::string("\x09\0\0\0\x02\0\0\0\0\0\0\0"
                       "\0\0\0\0\x02\0\0\0\0\0\0\0\x01\x02"
                       "\x08\0\0\0\0\0\0\0\0\0\0\0",
                       38));
  const std::vector<float> values(64, 0.25f);
  for (TensorType type : {TensorType::kF32, TensorType::kF16, TensorType::kBf16, TensorType::kQ8_0,
                          TensorType::kQ4_0, TensorType::kQ4_1}) {
    w.AddTensor(NameOf(type), type, {32, 2}, values);
  }
  return w;
}

std::string WithTokenizer(const std::string& pre) {
  SmallVocabulary v;
  v.pre = pre;
  v.AddMerge("t", "h");
  v.AddMerge("th", "e");
  v.AddMerge("\u0120", "the");
  v.AddMerge("\u0120", "\u0120");
  v.AddMerge("\u00C3", "\u00A9");
  GgufWriter w;
  v.WriteTo(w);
  return std::move(w).Finish();
}

// A vocabulary of five letters: small enough for the fuzzer to change all of it.
std::string WithTinyTokenizer() {
  GgufWriter w;
  w.AddString("tokenizer.ggml.model", "gpt2");
  w.AddString("tokenizer.ggml.pre", "gpt-2");
  w.AddStrings("tokenizer.ggml.tokens", {"<s>", "t", "h", "e", "th", "the"});
  w.AddInt32s("tokenizer.ggml.token_type", {3, 1, 1, 1, 1, 1});
  w.AddStrings("tokenizer.ggml.merges", {"t h", "th e"});
  return std::move(w).Finish();
}

void WriteAll(const std::string& folder) {
  const std::string every_kind = EveryKind().Finish();
  Write(folder, "every_kind", every_kind);
  Write(folder, "empty", GgufWriter().Finish());
  Write(folder, "version_2", GgufWriter({.version = 2}).Finish());
  Write(folder, "version_1", GgufWriter({.version = 1}).Finish());
  Write(folder, "tokenizer_smollm", WithTokenizer("smollm"));
  Write(folder, "tokenizer_gpt2", WithTokenizer("gpt-2"));
  Write(folder, "tokenizer_unknown_rules", WithTokenizer("other"));
  Write(folder, "tokenizer_tiny", WithTinyTokenizer());
  Write(folder, "cut_in_header", every_kind.substr(0, 20));
  Write(folder, "cut_in_metadata", every_kind.substr(0, 200));
  Write(folder, "cut_in_tensors", every_kind.substr(0, every_kind.size() - 600));
  std::string many = every_kind;
  many.replace(8, 8, std::string(8, '\xFF'));
  Write(folder, "too_many_tensors", many);
  GgufWriter twice;
  twice.AddTensor("t", TensorType::kF32, {1}, {1.0f});
  twice.AddTensor("t", TensorType::kF32, {1}, {2.0f});
  Write(folder, "tensor_twice", std::move(twice).Finish());
  GgufWriter aligned;
  aligned.AddUint32("general.alignment", 24);
  Write(folder, "bad_alignment", std::move(aligned).Finish());
}

}  // namespace
}  // namespace cairn

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  cairn::WriteAll(argv[1]);
  return 0;
}
