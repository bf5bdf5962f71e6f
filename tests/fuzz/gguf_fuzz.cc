// Parses arbitrary bytes as a GGUF file. What parses is used as the worker would: every getter on
// every key, every tensor unpacked, a tokenizer made of the metadata and run on parts of the input.
#include <cstdint>
#include <memory>
#include <vector>

#include "libs/base/bytes.h"
#include "libs/base/check.h"
#include "libs/gguf/gguf_file.h"
#include "libs/tokenizer/tokenizer.h"

namespace cairn {
namespace {

void TryGetters(const GgufMetadata& metadata) {
  for (const GgufEntry& entry : metadata.entries()) {
    CAIRN_CHECK(metadata.Find(entry.key) == &entry.value);
    int fitting = 0;
    fitting += metadata.GetUint(entry.key).ok() || metadata.GetInt(entry.key).ok();
    fitting += metadata.GetFloat(entry.key).ok();
    fitting += metadata.GetBool(entry.key).ok();
    fitting += metadata.GetString(entry.key).ok();
    fitting += metadata.GetStrings(entry.key).ok();
    fitting += metadata.GetInts(entry.key).ok();
    fitting += metadata.GetFloats(entry.key).ok();
    CAIRN_CHECK(fitting <= 1) << fitting;
  }
}

void TryTensors(const GgufFile& file, absl::Span<const std::byte> bytes) {
  std::size_t unpacked_bytes = 0;
  for (const GgufTensor& tensor : file.tensors()) {
    CAIRN_CHECK(file.Find(tensor.name) == &tensor);
    CAIRN_CHECK(tensor.bytes.data() + tensor.bytes.size() <= bytes.data() + bytes.size());
    const std::vector<float> values = tensor.DequantiseAll();
    CAIRN_CHECK(values.size() == tensor.rows() * tensor.row_values());
    unpacked_bytes += tensor.bytes.size();
  }
  CAIRN_CHECK(unpacked_bytes <= bytes.size());
}

void TryText(const Tokenizer& tokenizer, absl::string_view text) {
  const auto ids = tokenizer.Encode(text);
  CAIRN_CHECK(ids.ok()) << ids.status();
  bool has_every_byte = true;
  for (char c : text) has_every_byte &= tokenizer.HasByte(static_cast<std::uint8_t>(c));
  for (std::uint32_t id : *ids) {
    CAIRN_CHECK(id < tokenizer.size());
    CAIRN_CHECK(!tokenizer.IsControl(id));
  }
  const std::string back = tokenizer.Decode(*ids);
  CAIRN_CHECK(!has_every_byte || back == text);
}

}  // namespace
}  // namespace cairn

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const absl::string_view input(reinterpret_cast<const char*>(bytes), size);
  const auto file = cairn::GgufFile::Parse(cairn::AsBytes(input));
  if (!file.ok()) return 0;
  cairn::TryGetters(file->metadata());
  cairn::TryTensors(*file, cairn::AsBytes(input));
  const auto tokenizer = cairn::Tokenizer::Create(file->metadata());
  if (!tokenizer.ok()) return 0;
  cairn::TryText(**tokenizer, input.substr(0, 4096));
  cairn::TryText(**tokenizer, "the  quick\n\n 12 \xF0\x9F\x98\x80 caf\xC3\xA9 <|im_start|>");
  return 0;
}
