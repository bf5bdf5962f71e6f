#ifndef CAIRN_LIBS_GGUF_METADATA_H_
#define CAIRN_LIBS_GGUF_METADATA_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"

namespace cairn {

// The type of a metadata value. The numbers are the file format's.
enum class GgufValueType : std::uint32_t {
  kUint8 = 0,
  kInt8 = 1,
  kUint16 = 2,
  kInt16 = 3,
  kUint32 = 4,
  kInt32 = 5,
  kFloat32 = 6,
  kBool = 7,
  kString = 8,
  kArray = 9,
  kUint64 = 10,
  kInt64 = 11,
  kFloat64 = 12,
};

// "u32", "string", "array".
const char* NameOf(GgufValueType type);
// Bytes of one value of a fixed size; 0 for kString and kArray.
std::size_t FixedBytesOf(GgufValueType type);

struct GgufValue;

// The elements of an array are all of one type. Fixed-size ones stay in the file, packed and
// little-endian (`packed`, unaligned); strings and nested arrays are listed.
struct GgufArray {
  GgufValueType element = GgufValueType::kUint8;
  std::size_t count = 0;
  absl::Span<const std::byte> packed;
  std::vector<absl::string_view> strings;
  std::vector<GgufValue> arrays;
};

// One value. Views point into the file's bytes.
struct GgufValue {
  GgufValueType type = GgufValueType::kUint8;
  // By type: u8..u64, i8..i64, f32 and f64, bool, string, array.
  std::variant<std::uint64_t, std::int64_t, double, bool, absl::string_view, GgufArray> value;
};

struct GgufEntry {
  absl::string_view key;
  GgufValue value;
  std::size_t offset = 0;  // of the key, in the file
};

// GgufMetadata is the key-value part of a GGUF file, in file order.
//
// Getters: NOT_FOUND when the key is absent, INVALID_ARGUMENT when its type or range does not fit;
// the message names the key, the type expected and the type found. Integers of any width and
// signedness are taken when the value fits. The `Or` forms give `otherwise` for an absent key only.
// Ownership: views into the bytes that the file was parsed from, which must outlive it.
// Threads:   const after parsing; any number of readers.
class GgufMetadata {
 public:
  GgufMetadata() = default;
  // INVALID_ARGUMENT for a key that is there already.
  absl::Status Add(GgufEntry entry);

  absl::Span<const GgufEntry> entries() const { return entries_; }
  // Null when absent.
  const GgufValue* Find(absl::string_view key) const;
  bool Has(absl::string_view key) const { return Find(key) != nullptr; }

  absl::StatusOr<std::uint64_t> GetUint(absl::string_view key) const;
  absl::StatusOr<std::int64_t> GetInt(absl::string_view key) const;
  absl::StatusOr<double> GetFloat(absl::string_view key) const;  // f32 or f64
  absl::StatusOr<bool> GetBool(absl::string_view key) const;
  absl::StatusOr<absl::string_view> GetString(absl::string_view key) const;
  // The view is into this object.
  absl::StatusOr<absl::Span<const absl::string_view>> GetStrings(absl::string_view key) const;
  absl::StatusOr<std::vector<std::int64_t>> GetInts(absl::string_view key) const;
  absl::StatusOr<std::vector<float>> GetFloats(absl::string_view key) const;  // array of f32 only

  absl::StatusOr<std::uint64_t> GetUintOr(absl::string_view key, std::uint64_t otherwise) const;
  absl::StatusOr<double> GetFloatOr(absl::string_view key, double otherwise) const;
  absl::StatusOr<bool> GetBoolOr(absl::string_view key, bool otherwise) const;
  absl::StatusOr<absl::string_view> GetStringOr(absl::string_view key,
                                                absl::string_view otherwise) const;

 private:
  std::vector<GgufEntry> entries_;
  absl::flat_hash_map<absl::string_view, std::size_t> index_of_;
};

// A name out of a file, fit for a log line: escaped, quoted and cut at 80 characters.
std::string QuotedName(absl::string_view name);

}  // namespace cairn
#endif  // CAIRN_LIBS_GGUF_METADATA_H_
