#include "libs/gguf/gguf_file.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "libs/base/bytes.h"
#include "libs/base/limits.h"
#include "libs/base/status_macros.h"
#include "libs/base/units.h"

namespace cairn {
namespace {

constexpr absl::string_view kMagic = "GGUF";
constexpr std::uint64_t kAlignmentDefault = 32;
// The least that one entry takes, so that a count can be held against what is left of the file.
constexpr std::uint64_t kMetadataBytesMin = 8 + 1 + 4 + 1;
constexpr std::uint64_t kTensorBytesMin = 8 + 1 + 4 + 8 + 4 + 8;
constexpr std::uint64_t kStringBytesMin = 8;
constexpr std::uint64_t kArrayBytesMin = 4 + 8;

std::string ShapeText(absl::Span<const std::uint64_t> dims) {
  return absl::StrCat("[", absl::StrJoin(dims, ", "), "]");
}

}  // namespace

// Reads one file, front to back. `subject_` names what is being read, for the messages.
class GgufFile::Parser {
 public:
  explicit Parser(absl::Span<const std::byte> bytes) : bytes_(bytes) {}

  absl::StatusOr<GgufFile> Run() {
    CAIRN_RETURN_IF_ERROR(ReadStart());
    for (std::uint64_t i = 0; i < metadata_count_; ++i) CAIRN_RETURN_IF_ERROR(ReadEntry(i));
    CAIRN_RETURN_IF_ERROR(ReadAlignment());
    file_.tensors_.reserve(tensor_count_);
    for (std::uint64_t i = 0; i < tensor_count_; ++i) CAIRN_RETURN_IF_ERROR(ReadTensor(i));
    CAIRN_RETURN_IF_ERROR(PlaceTensors());
    CAIRN_RETURN_IF_ERROR(CheckOverlaps());
    return std::move(file_);
  }

 private:
  absl::Status Error(absl::string_view what, std::size_t offset) const {
    return absl::InvalidArgumentError(
        absl::StrCat("GGUF: ", subject_, ": ", what, " (byte ", offset, ")"));
  }

  std::size_t left() const { return bytes_.size() - offset_; }

  template <class T>
  absl::StatusOr<T> Take() {
    if (left() < sizeof(T))
      return Error(absl::StrCat("the file ends after ", left(), " bytes"), offset_);
    T value;
    std::memcpy(&value, bytes_.data() + offset_, sizeof value);
    offset_ += sizeof value;
    return value;
  }

  // A count of items that take at least `item_bytes` each of what is left of the file.
  absl::StatusOr<std::uint64_t> TakeCount(absl::string_view items, std::uint64_t count_max,
                                          std::uint64_t item_bytes) {
    const std::size_t at = offset_;
    CAIRN_ASSIGN_OR_RETURN(const std::uint64_t count, Take<std::uint64_t>());
    if (count > count_max) {
      return Error(absl::StrCat(count, " ", items, ", at most ", count_max), at);
    }
    if (count > left() / item_bytes) {
      return Error(absl::StrCat(count, " ", items, " in ", left(), " bytes"), at);
    }
    return count;
  }

  absl::StatusOr<absl::Span<const std::byte>> TakeBytes(std::uint64_t count) {
    if (left() < count) return Error(absl::StrCat(count, " bytes in ", left()), offset_);
    const auto out = bytes_.subspan(offset_, count);
    offset_ += count;
    return out;
  }

  absl::StatusOr<absl::string_view> TakeString(std::uint64_t bytes_max) {
    CAIRN_ASSIGN_OR_RETURN(const std::uint64_t size, TakeCount("bytes of text", bytes_max, 1));
    CAIRN_ASSIGN_OR_RETURN(const absl::Span<const std::byte> raw, TakeBytes(size));
    return AsStringView(raw);
  }

  absl::StatusOr<absl::string_view> TakeName(std::uint64_t bytes_max) {
    const std::size_t at = offset_;
    CAIRN_ASSIGN_OR_RETURN(const absl::string_view name, TakeString(bytes_max));
    if (name.empty()) return Error("empty name", at);
    return name;
  }

  absl::StatusOr<GgufValueType> TakeType() {
    const std::size_t at = offset_;
    CAIRN_ASSIGN_OR_RETURN(const std::uint32_t number, Take<std::uint32_t>());
    if (number > static_cast<std::uint32_t>(GgufValueType::kFloat64)) {
      return Error(absl::StrCat("unknown value type ", number), at);
    }
    return static_cast<GgufValueType>(number);
  }

  absl::Status ReadStart() {
    subject_ = "header";
    CAIRN_ASSIGN_OR_RETURN(const absl::Span<const std::byte> magic, TakeBytes(kMagic.size()));
    if (AsStringView(magic) != kMagic) return Error("not a GGUF file: no 'GGUF' at its start", 0);
    CAIRN_ASSIGN_OR_RETURN(file_.version_, Take<std::uint32_t>());
    if (file_.version_ != 2 && file_.version_ != 3) {
      const bool is_swapped = (file_.version_ & 0xffffu) == 0;
      return absl::UnimplementedError(
          is_swapped ? std::string("GGUF: a big-endian file; little-endian is supported")
                     : absl::StrCat("GGUF: version ", file_.version_, "; supported: 2, 3"));
    }
    CAIRN_ASSIGN_OR_RETURN(tensor_count_,
                           TakeCount("tensors", limits::kGgufTensorsMax, kTensorBytesMin));
    CAIRN_ASSIGN_OR_RETURN(metadata_count_,
                           TakeCount("metadata keys", limits::kGgufMetadataMax, kMetadataBytesMin));
    return absl::OkStatus();
  }

  absl::Status ReadEntry(std::uint64_t index) {
    subject_ = absl::StrCat("metadata entry ", index);
    GgufEntry entry;
    entry.offset = offset_;
    CAIRN_ASSIGN_OR_RETURN(entry.key, TakeName(limits::kGgufKeyBytesMax));
    subject_ = absl::StrCat("metadata key ", QuotedName(entry.key));
    CAIRN_ASSIGN_OR_RETURN(entry.value.type, TakeType());
    CAIRN_RETURN_IF_ERROR(ReadValue(entry.value));
    return file_.metadata_.Add(std::move(entry));
  }

  absl::Status ReadValue(GgufValue& value) {
    switch (value.type) {
      case GgufValueType::kUint8:
        return ReadAs<std::uint8_t, std::uint64_t>(value);
      case GgufValueType::kUint16:
        return ReadAs<std::uint16_t, std::uint64_t>(value);
      case GgufValueType::kUint32:
        return ReadAs<std::uint32_t, std::uint64_t>(value);
      case GgufValueType::kUint64:
        return ReadAs<std::uint64_t, std::uint64_t>(value);
      case GgufValueType::kInt8:
        return ReadAs<std::int8_t, std::int64_t>(value);
      case GgufValueType::kInt16:
        return ReadAs<std::int16_t, std::int64_t>(value);
      case GgufValueType::kInt32:
        return ReadAs<std::int32_t, std::int64_t>(value);
      case GgufValueType::kInt64:
        return ReadAs<std::int64_t, std::int64_t>(value);
      case GgufValueType::kFloat32:
        return ReadAs<float, double>(value);
      case GgufValueType::kFloat64:
        return ReadAs<double, double>(value);
      case GgufValueType::kBool: {
        const std::size_t at = offset_;
        CAIRN_ASSIGN_OR_RETURN(const std::uint8_t raw, Take<std::uint8_t>());
        if (raw > 1) return Error(absl::StrCat("bool of value ", static_cast<int>(raw)), at);
        value.value = raw == 1;
        return absl::OkStatus();
      }
      case GgufValueType::kString: {
        CAIRN_ASSIGN_OR_RETURN(value.value, TakeString(limits::kGgufStringBytesMax));
        return absl::OkStatus();
      }
      case GgufValueType::kArray:
        value.value = GgufArray();
        return ReadArray(std::get<GgufArray>(value.value), 1);
    }
    return absl::OkStatus();
  }

  template <class Stored, class Held>
  absl::Status ReadAs(GgufValue& value) {
    CAIRN_ASSIGN_OR_RETURN(const Stored raw, Take<Stored>());
    value.value = static_cast<Held>(raw);
    return absl::OkStatus();
  }

  absl::Status ReadArray(GgufArray& array, int depth) {
    if (depth > limits::kGgufArrayDepthMax) {
      return Error(absl::StrCat("arrays nested deeper than ", limits::kGgufArrayDepthMax), offset_);
    }
    CAIRN_ASSIGN_OR_RETURN(array.element, TakeType());
    const std::size_t fixed_bytes = FixedBytesOf(array.element);
    const std::uint64_t item_bytes = fixed_bytes != 0                          ? fixed_bytes
                                     : array.element == GgufValueType::kString ? kStringBytesMin
                                                                               : kArrayBytesMin;
    CAIRN_ASSIGN_OR_RETURN(array.count,
                           TakeCount("array elements", limits::kGgufArrayElementsMax, item_bytes));
    if (fixed_bytes != 0) {
      CAIRN_ASSIGN_OR_RETURN(array.packed, TakeBytes(array.count * fixed_bytes));
      return absl::OkStatus();
    }
    if (array.element == GgufValueType::kString) return ReadStrings(array);
    return ReadArrays(array, depth);
  }

  absl::Status ReadStrings(GgufArray& array) {
    array.strings.reserve(array.count);
    for (std::size_t i = 0; i < array.count; ++i) {
      CAIRN_ASSIGN_OR_RETURN(const absl::string_view text, TakeString(limits::kGgufStringBytesMax));
      array.strings.push_back(text);
    }
    return absl::OkStatus();
  }

  absl::Status ReadArrays(GgufArray& array, int depth) {
    // A nested array takes far more memory than its 12 bytes in the file.
    nested_count_ += array.count;
    if (nested_count_ > limits::kGgufNestedArraysMax) {
      return Error(absl::StrCat("more than ", limits::kGgufNestedArraysMax, " nested arrays"),
                   offset_);
    }
    array.arrays.resize(array.count);
    for (GgufValue& inner : array.arrays) {
      inner.type = GgufValueType::kArray;
      inner.value = GgufArray();
      CAIRN_RETURN_IF_ERROR(ReadArray(std::get<GgufArray>(inner.value), depth + 1));
    }
    return absl::OkStatus();
  }

  absl::Status ReadAlignment() {
    CAIRN_ASSIGN_OR_RETURN(alignment_,
                           file_.metadata_.GetUintOr("general.alignment", kAlignmentDefault));
    const bool is_power = alignment_ != 0 && (alignment_ & (alignment_ - 1)) == 0;
    if (is_power && alignment_ >= 8 && alignment_ <= limits::kGgufAlignmentMax)
      return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("GGUF: metadata key 'general.alignment': expected a power of two from 8 to ",
                     limits::kGgufAlignmentMax, ", found ", alignment_));
  }

  absl::Status ReadTensor(std::uint64_t index) {
    subject_ = absl::StrCat("tensor ", index);
    const std::size_t at = offset_;
    GgufTensor tensor;
    CAIRN_ASSIGN_OR_RETURN(tensor.name, TakeName(limits::kGgufTensorNameBytesMax));
    subject_ = absl::StrCat("tensor ", QuotedName(tensor.name));
    if (!file_.index_of_.try_emplace(tensor.name, file_.tensors_.size()).second) {
      return Error("a tensor of this name is there already", at);
    }
    CAIRN_RETURN_IF_ERROR(ReadDims(tensor));
    const std::size_t type_at = offset_;
    CAIRN_ASSIGN_OR_RETURN(const std::uint32_t number, Take<std::uint32_t>());
    absl::StatusOr<TensorType> type = TensorTypeFromNumber(number);
    if (!type.ok()) {
      return absl::Status(
          type.status().code(),
          absl::StrCat("GGUF: ", subject_, ": ", type.status().message(), " (byte ", type_at, ")"));
    }
    tensor.type = *type;
    CAIRN_ASSIGN_OR_RETURN(const std::uint64_t size, BytesOf(tensor, at));
    // Relative to the data section, whose start is known after the last tensor's entry.
    CAIRN_ASSIGN_OR_RETURN(tensor.offset, Take<std::uint64_t>());
    if (tensor.offset % alignment_ != 0) {
      return Error(
          absl::StrCat("data offset ", tensor.offset, " is not a multiple of ", alignment_),
          offset_ - sizeof(std::uint64_t));
    }
    stored_bytes_.push_back(size);
    file_.tensors_.push_back(std::move(tensor));
    return absl::OkStatus();
  }

  absl::Status ReadDims(GgufTensor& tensor) {
    const std::size_t at = offset_;
    CAIRN_ASSIGN_OR_RETURN(const std::uint32_t count, Take<std::uint32_t>());
    if (count == 0 || count > limits::kGgufDimsMax) {
      return Error(absl::StrCat(count, " dimensions; expected 1 to ", limits::kGgufDimsMax), at);
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::size_t dim_at = offset_;
      CAIRN_ASSIGN_OR_RETURN(const std::uint64_t dim, Take<std::uint64_t>());
      if (dim == 0) return Error(absl::StrCat("dimension ", i, " is 0"), dim_at);
      tensor.dims.push_back(dim);
    }
    return absl::OkStatus();
  }

  // What the tensor whose entry is at byte `at` must take in the data section.
  absl::StatusOr<std::uint64_t> BytesOf(const GgufTensor& tensor, std::size_t at) const {
    const TensorGroup group = GroupOf(tensor.type);
    if (tensor.dims[0] % group.values != 0) {
      return Error(absl::StrCat("rows of ", tensor.dims[0], " values; ", NameOf(tensor.type),
                                " needs a multiple of ", group.values),
                   at);
    }
    std::uint64_t bytes = group.bytes;
    bool overflows = __builtin_mul_overflow(bytes, tensor.dims[0] / group.values, &bytes);
    for (std::size_t i = 1; i < tensor.dims.size(); ++i) {
      overflows |= __builtin_mul_overflow(bytes, tensor.dims[i], &bytes);
    }
    if (overflows || bytes > limits::kGgufTensorBytesMax) {
      return Error(absl::StrCat("shape ", ShapeText(tensor.dims), " takes more than ",
                                limits::kGgufTensorBytesMax, " bytes"),
                   at);
    }
    return bytes;
  }

  absl::Status PlaceTensors() {
    const std::uint64_t start = RoundUp(offset_, alignment_);
    const std::uint64_t data_bytes = start < bytes_.size() ? bytes_.size() - start : 0;
    for (std::size_t i = 0; i < file_.tensors_.size(); ++i) {
      GgufTensor& tensor = file_.tensors_[i];
      subject_ = absl::StrCat("tensor ", QuotedName(tensor.name));
      const std::uint64_t relative = tensor.offset;
      const std::uint64_t size = stored_bytes_[i];
      if (relative > data_bytes || size > data_bytes - relative) {
        return Error(absl::StrCat(size, " bytes from ", relative, " of a data section of ",
                                  data_bytes, ": the file ends too early"),
                     bytes_.size());
      }
      tensor.offset = start + relative;
      tensor.bytes = bytes_.subspan(tensor.offset, size);
    }
    return absl::OkStatus();
  }

  absl::Status CheckOverlaps() {
    std::vector<const GgufTensor*> by_offset;
    by_offset.reserve(file_.tensors_.size());
    for (const GgufTensor& tensor : file_.tensors_) by_offset.push_back(&tensor);
    std::sort(by_offset.begin(), by_offset.end(),
              [](const GgufTensor* a, const GgufTensor* b) { return a->offset < b->offset; });
    for (std::size_t i = 1; i < by_offset.size(); ++i) {
      const GgufTensor& before = *by_offset[i - 1];
      const GgufTensor& tensor = *by_offset[i];
      if (before.offset + before.bytes.size() <= tensor.offset) continue;
      subject_ = absl::StrCat("tensor ", QuotedName(tensor.name));
      return Error(absl::StrCat("overlaps tensor ", QuotedName(before.name)), tensor.offset);
    }
    return absl::OkStatus();
  }

  const absl::Span<const std::byte> bytes_;
  std::size_t offset_ = 0;
  std::string subject_;
  std::uint64_t tensor_count_ = 0;
  std::uint64_t metadata_count_ = 0;
  std::uint64_t nested_count_ = 0;
  std::uint64_t alignment_ = kAlignmentDefault;
  std::vector<std::uint64_t> stored_bytes_;  // of each tensor so far
  GgufFile file_;
};

absl::StatusOr<GgufFile> GgufFile::Parse(absl::Span<const std::byte> bytes) {
  return Parser(bytes).Run();
}

const GgufTensor* GgufFile::Find(absl::string_view name) const {
  const auto at = index_of_.find(name);
  return at == index_of_.end() ? nullptr : &tensors_[at->second];
}

absl::StatusOr<const GgufTensor*> GgufFile::Get(absl::string_view name,
                                                absl::Span<const std::uint64_t> dims) const {
  const GgufTensor* tensor = Find(name);
  if (tensor == nullptr) {
    return absl::NotFoundError(absl::StrCat("tensor ", QuotedName(name), " is missing"));
  }
  if (absl::MakeConstSpan(tensor->dims) != dims) {
    return absl::InvalidArgumentError(absl::StrCat("tensor ", QuotedName(name), ": expected shape ",
                                                   ShapeText(dims), ", found ",
                                                   ShapeText(tensor->dims)));
  }
  return tensor;
}

}  // namespace cairn
