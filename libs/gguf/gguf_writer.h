#ifndef CAIRN_LIBS_GGUF_GGUF_WRITER_H_
#define CAIRN_LIBS_GGUF_GGUF_WRITER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "libs/gguf/metadata.h"
#include "libs/gguf/tensor_type.h"

namespace cairn {

// GgufWriter builds a GGUF file in memory, for tests and tools:
//   GgufWriter w;
//   w.AddString("general.architecture", "llama");
//   w.AddUint32("llama.block_count", 2);
//   w.AddTensor("token_embd.weight", TensorType::kQ8_0, {64, 256}, values);
//   std::string file = std::move(w).Finish();
// Entries keep the order of the calls. A wrong call (a tensor whose values do not fit its dims) is
// a bug of the caller and checked; unique names are not checked, so that tests can write bad files.
class GgufWriter {
 public:
  struct Options {
    std::uint32_t version = 3;
    // A power of two; other than 32 it is also written as general.alignment.
    std::uint32_t alignment = 32;
  };
  GgufWriter() : GgufWriter(Options{}) {}
  explicit GgufWriter(const Options& options);

  void AddUint32(absl::string_view key, std::uint32_t value);
  void AddInt32(absl::string_view key, std::int32_t value);
  void AddUint64(absl::string_view key, std::uint64_t value);
  void AddFloat32(absl::string_view key, float value);
  void AddBool(absl::string_view key, bool value);
  void AddString(absl::string_view key, absl::string_view value);
  void AddStrings(absl::string_view key, absl::Span<const std::string> values);
  void AddInt32s(absl::string_view key, absl::Span<const std::int32_t> values);
  void AddFloat32s(absl::string_view key, absl::Span<const float> values);
  // An entry whose bytes after the type are given: all other types, nested arrays, bad files.
  void AddRaw(absl::string_view key, GgufValueType type, absl::string_view bytes);

  // Stores `values` (dims in the file's order: dims[0] is the row) rounded to `type`.
  void AddTensor(absl::string_view name, TensorType type, absl::Span<const std::uint64_t> dims,
                 absl::Span<const float> values);
  // Stores bytes that are already of `type`.
  void AddTensorBytes(absl::string_view name, TensorType type, absl::Span<const std::uint64_t> dims,
                      std::string bytes);

  // The whole file.
  std::string Finish() &&;

 private:
  struct Tensor {
    std::string name;
    TensorType type;
    std::vector<std::uint64_t> dims;
    std::string bytes;
  };
  Options options_;
  std::string entries_;
  std::uint64_t entry_count_ = 0;
  std::vector<Tensor> tensors_;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_GGUF_GGUF_WRITER_H_
