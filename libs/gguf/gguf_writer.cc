#include "libs/gguf/gguf_writer.h"

#include <bit>
#include <utility>

#include "libs/base/bytes.h"
#include "libs/base/check.h"
#include "libs/base/units.h"
#include "libs/gguf/quantise.h"

namespace cairn {
namespace {

void PutString(ByteWriter& out, absl::string_view text) {
  out.Put(static_cast<std::uint64_t>(text.size()));
  out.PutBytes(text);
}

template <class T>
std::string Packed(T value) {
  ByteWriter out;
  out.Put(value);
  return std::move(out).Take();
}

// The start of an array's bytes: the type and count of its elements.
ByteWriter ArrayStart(GgufValueType element, std::size_t count) {
  ByteWriter out;
  out.Put(element);
  out.Put(static_cast<std::uint64_t>(count));
  return out;
}

std::string Padding(std::size_t size, std::size_t alignment) {
  return std::string(RoundUp(size, alignment) - size, '\0');
}

std::uint64_t ValuesOf(absl::Span<const std::uint64_t> dims) {
  std::uint64_t values = 1;
  for (std::uint64_t dim : dims) values *= dim;
  return values;
}

}  // namespace

GgufWriter::GgufWriter(const Options& options) : options_(options) {
  CAIRN_CHECK(std::has_single_bit(options_.alignment)) << options_.alignment;
  if (options_.alignment != 32) AddUint32("general.alignment", options_.alignment);
}

void GgufWriter::AddRaw(absl::string_view key, GgufValueType type, absl::string_view bytes) {
  ByteWriter out;
  PutString(out, key);
  out.Put(type);
  out.PutBytes(bytes);
  entries_ += std::move(out).Take();
  ++entry_count_;
}

void GgufWriter::AddUint32(absl::string_view key, std::uint32_t value) {
  AddRaw(key, GgufValueType::kUint32, Packed(value));
}

void GgufWriter::AddInt32(absl::string_view key, std::int32_t value) {
  AddRaw(key, GgufValueType::kInt32, Packed(value));
}

void GgufWriter::AddUint64(absl::string_view key, std::uint64_t value) {
  AddRaw(key, GgufValueType::kUint64, Packed(value));
}

void GgufWriter::AddFloat32(absl::string_view key, float value) {
  AddRaw(key, GgufValueType::kFloat32, Packed(std::bit_cast<std::uint32_t>(value)));
}

void GgufWriter::AddBool(absl::string_view key, bool value) {
  AddRaw(key, GgufValueType::kBool, Packed(static_cast<std::uint8_t>(value ? 1 : 0)));
}

void GgufWriter::AddString(absl::string_view key, absl::string_view value) {
  ByteWriter out;
  PutString(out, value);
  AddRaw(key, GgufValueType::kString, std::move(out).Take());
}

void GgufWriter::AddStrings(absl::string_view key, absl::Span<const std::string> values) {
  ByteWriter out = ArrayStart(GgufValueType::kString, values.size());
  for (const std::string& value : values) PutString(out, value);
  AddRaw(key, GgufValueType::kArray, std::move(out).Take());
}

void GgufWriter::AddInt32s(absl::string_view key, absl::Span<const std::int32_t> values) {
  ByteWriter out = ArrayStart(GgufValueType::kInt32, values.size());
  for (std::int32_t value : values) out.Put(value);
  AddRaw(key, GgufValueType::kArray, std::move(out).Take());
}

void GgufWriter::AddFloat32s(absl::string_view key, absl::Span<const float> values) {
  ByteWriter out = ArrayStart(GgufValueType::kFloat32, values.size());
  for (float value : values) out.Put(std::bit_cast<std::uint32_t>(value));
  AddRaw(key, GgufValueType::kArray, std::move(out).Take());
}

void GgufWriter::AddTensor(absl::string_view name, TensorType type,
                           absl::Span<const std::uint64_t> dims, absl::Span<const float> values) {
  CAIRN_CHECK(!dims.empty() && dims[0] % GroupOf(type).values == 0) << name;
  CAIRN_CHECK(values.size() == ValuesOf(dims)) << name << " " << values.size();
  AddTensorBytes(name, type, dims, Quantise(type, values));
}

void GgufWriter::AddTensorBytes(absl::string_view name, TensorType type,
                                absl::Span<const std::uint64_t> dims, std::string bytes) {
  const TensorGroup group = GroupOf(type);
  CAIRN_CHECK(bytes.size() == ValuesOf(dims) / group.values * group.bytes)
      << name << " " << bytes.size();
  tensors_.push_back({std::string(name), type, {dims.begin(), dims.end()}, std::move(bytes)});
}

std::string GgufWriter::Finish() && {
  ByteWriter out;
  out.PutBytes("GGUF");
  out.Put(options_.version);
  out.Put(static_cast<std::uint64_t>(tensors_.size()));
  out.Put(entry_count_);
  out.PutBytes(entries_);
  std::uint64_t offset = 0;
  for (const Tensor& tensor : tensors_) {
    PutString(out, tensor.name);
    out.Put(static_cast<std::uint32_t>(tensor.dims.size()));
    for (std::uint64_t dim : tensor.dims) out.Put(dim);
    out.Put(tensor.type);
    out.Put(offset);
    offset = RoundUp(offset + tensor.bytes.size(), options_.alignment);
  }
  std::string file = std::move(out).Take();
  file += Padding(file.size(), options_.alignment);
  for (const Tensor& tensor : tensors_) {
    file += tensor.bytes;
    file += Padding(file.size(), options_.alignment);
  }
  return file;
}

}  // namespace cairn
