#include "libs/gguf/metadata.h"

#include <cstring>
#include <type_traits>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "libs/base/check.h"
#include "libs/base/status_macros.h"

namespace cairn {
namespace {

bool IsSigned(GgufValueType type) {
  return type == GgufValueType::kInt8 || type == GgufValueType::kInt16 ||
         type == GgufValueType::kInt32 || type == GgufValueType::kInt64;
}
bool IsInteger(GgufValueType type) {
  return IsSigned(type) || type == GgufValueType::kUint8 || type == GgufValueType::kUint16 ||
         type == GgufValueType::kUint32 || type == GgufValueType::kUint64;
}

std::string Described(const GgufValue& value) {
  const auto* array = std::get_if<GgufArray>(&value.value);
  if (array == nullptr) return NameOf(value.type);
  return absl::StrCat("array of ", array->count, " ", NameOf(array->element));
}

absl::Status WrongType(absl::string_view key, absl::string_view expected, const GgufValue& found) {
  return absl::InvalidArgumentError(absl::StrCat("metadata key ", QuotedName(key), ": expected ",
                                                 expected, ", found ", Described(found)));
}

absl::Status OutOfRange(absl::string_view key, absl::string_view expected,
                        absl::string_view found) {
  return absl::InvalidArgumentError(
      absl::StrCat("metadata key ", QuotedName(key), ": expected ", expected, ", found ", found));
}

absl::StatusOr<const GgufValue*> Required(const GgufMetadata& metadata, absl::string_view key) {
  const GgufValue* value = metadata.Find(key);
  if (value != nullptr) return value;
  return absl::NotFoundError(absl::StrCat("metadata key ", QuotedName(key), " is missing"));
}

template <class T>
T LoadAt(absl::Span<const std::byte> packed, std::size_t index) {
  T value;
  CAIRN_CHECK((index + 1) * sizeof value <= packed.size());
  std::memcpy(&value, packed.data() + index * sizeof value, sizeof value);
  return value;
}

absl::StatusOr<std::int64_t> IntegerAt(absl::string_view key, const GgufArray& array,
                                       std::size_t i) {
  switch (array.element) {
    case GgufValueType::kUint8:
      return LoadAt<std::uint8_t>(array.packed, i);
    case GgufValueType::kInt8:
      return LoadAt<std::int8_t>(array.packed, i);
    case GgufValueType::kUint16:
      return LoadAt<std::uint16_t>(array.packed, i);
    case GgufValueType::kInt16:
      return LoadAt<std::int16_t>(array.packed, i);
    case GgufValueType::kUint32:
      return LoadAt<std::uint32_t>(array.packed, i);
    case GgufValueType::kInt32:
      return LoadAt<std::int32_t>(array.packed, i);
    case GgufValueType::kInt64:
      return LoadAt<std::int64_t>(array.packed, i);
    default: {
      CAIRN_CHECK(array.element == GgufValueType::kUint64);
      const std::uint64_t value = LoadAt<std::uint64_t>(array.packed, i);
      if (value <= INT64_MAX) return static_cast<std::int64_t>(value);
      return OutOfRange(key, "integers below 2^63", absl::StrCat(value, " at index ", i));
    }
  }
}

template <class T>
absl::StatusOr<T> Exactly(const GgufMetadata& metadata, absl::string_view key,
                          absl::string_view expected) {
  CAIRN_ASSIGN_OR_RETURN(const GgufValue* value, Required(metadata, key));
  if (const T* held = std::get_if<T>(&value->value)) return *held;
  return WrongType(key, expected, *value);
}

// The value of a getter, or `otherwise` when the key is absent.
template <class T>
absl::StatusOr<T> IfAbsent(absl::StatusOr<T> got, bool is_there, T otherwise) {
  return is_there ? std::move(got) : absl::StatusOr<T>(otherwise);
}

}  // namespace

const char* NameOf(GgufValueType type) {
  static constexpr const char* kNames[] = {"u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
                                           "bool", "string", "array", "u64", "i64", "f64"};
  const std::uint32_t number = static_cast<std::uint32_t>(type);
  return number < std::size(kNames) ? kNames[number] : "unknown";
}

std::size_t FixedBytesOf(GgufValueType type) {
  static constexpr std::size_t kBytes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  const std::uint32_t number = static_cast<std::uint32_t>(type);
  CAIRN_CHECK(number < std::size(kBytes)) << number;
  return kBytes[number];
}

std::string QuotedName(absl::string_view name) {
  constexpr std::size_t kShown = 80;
  return absl::StrCat("'", absl::CHexEscape(name.substr(0, kShown)),
                      name.size() > kShown ? "'..." : "'");
}

absl::Status GgufMetadata::Add(GgufEntry entry) {
  const auto [at, is_new] = index_of_.try_emplace(entry.key, entries_.size());
  if (!is_new) {
    return absl::InvalidArgumentError(
        absl::StrCat("metadata key ", QuotedName(entry.key), " at byte ", entry.offset,
                     " is there already at byte ", entries_[at->second].offset));
  }
  entries_.push_back(std::move(entry));
  return absl::OkStatus();
}

const GgufValue* GgufMetadata::Find(absl::string_view key) const {
  const auto at = index_of_.find(key);
  return at == index_of_.end() ? nullptr : &entries_[at->second].value;
}

absl::StatusOr<std::uint64_t> GgufMetadata::GetUint(absl::string_view key) const {
  CAIRN_ASSIGN_OR_RETURN(const GgufValue* value, Required(*this, key));
  if (const auto* held = std::get_if<std::uint64_t>(&value->value)) return *held;
  const auto* held = std::get_if<std::int64_t>(&value->value);
  if (held == nullptr) return WrongType(key, "an unsigned integer", *value);
  if (*held >= 0) return static_cast<std::uint64_t>(*held);
  return OutOfRange(key, "an unsigned integer", absl::StrCat(*held));
}

absl::StatusOr<std::int64_t> GgufMetadata::GetInt(absl::string_view key) const {
  CAIRN_ASSIGN_OR_RETURN(const GgufValue* value, Required(*this, key));
  if (const auto* held = std::get_if<std::int64_t>(&value->value)) return *held;
  const auto* held = std::get_if<std::uint64_t>(&value->value);
  if (held == nullptr) return WrongType(key, "an integer", *value);
  if (*held <= INT64_MAX) return static_cast<std::int64_t>(*held);
  return OutOfRange(key, "an integer below 2^63", absl::StrCat(*held));
}

absl::StatusOr<double> GgufMetadata::GetFloat(absl::string_view key) const {
  return Exactly<double>(*this, key, "f32 or f64");
}

absl::StatusOr<bool> GgufMetadata::GetBool(absl::string_view key) const {
  return Exactly<bool>(*this, key, "bool");
}

absl::StatusOr<absl::string_view> GgufMetadata::GetString(absl::string_view key) const {
  return Exactly<absl::string_view>(*this, key, "string");
}

absl::StatusOr<absl::Span<const absl::string_view>> GgufMetadata::GetStrings(
    absl::string_view key) const {
  CAIRN_ASSIGN_OR_RETURN(const GgufValue* value, Required(*this, key));
  const auto* array = std::get_if<GgufArray>(&value->value);
  if (array == nullptr || array->element != GgufValueType::kString) {
    return WrongType(key, "array of string", *value);
  }
  return absl::MakeConstSpan(array->strings);
}

absl::StatusOr<std::vector<std::int64_t>> GgufMetadata::GetInts(absl::string_view key) const {
  CAIRN_ASSIGN_OR_RETURN(const GgufValue* value, Required(*this, key));
  const auto* array = std::get_if<GgufArray>(&value->value);
  if (array == nullptr || !IsInteger(array->element)) {
    return WrongType(key, "array of integers", *value);
  }
  std::vector<std::int64_t> out(array->count);
  for (std::size_t i = 0; i < array->count; ++i) {
    CAIRN_ASSIGN_OR_RETURN(out[i], IntegerAt(key, *array, i));
  }
  return out;
}

absl::StatusOr<std::vector<float>> GgufMetadata::GetFloats(absl::string_view key) const {
  CAIRN_ASSIGN_OR_RETURN(const GgufValue* value, Required(*this, key));
  const auto* array = std::get_if<GgufArray>(&value->value);
  if (array == nullptr || array->element != GgufValueType::kFloat32) {
    return WrongType(key, "array of f32", *value);
  }
  std::vector<float> out(array->count);
  for (std::size_t i = 0; i < array->count; ++i) out[i] = LoadAt<float>(array->packed, i);
  return out;
}

absl::StatusOr<std::uint64_t> GgufMetadata::GetUintOr(absl::string_view key,
                                                      std::uint64_t otherwise) const {
  return IfAbsent(GetUint(key), Has(key), otherwise);
}

absl::StatusOr<double> GgufMetadata::GetFloatOr(absl::string_view key, double otherwise) const {
  return IfAbsent(GetFloat(key), Has(key), otherwise);
}

absl::StatusOr<bool> GgufMetadata::GetBoolOr(absl::string_view key, bool otherwise) const {
  return IfAbsent(GetBool(key), Has(key), otherwise);
}

absl::StatusOr<absl::string_view> GgufMetadata::GetStringOr(absl::string_view key,
                                                            absl::string_view otherwise) const {
  return IfAbsent(GetString(key), Has(key), otherwise);
}

}  // namespace cairn
