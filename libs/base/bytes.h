#ifndef CAIRN_LIBS_BASE_BYTES_H_
#define CAIRN_LIBS_BASE_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace cairn {

inline absl::string_view AsStringView(absl::Span<const std::byte> bytes) {
  return absl::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}
inline absl::Span<const std::byte> AsBytes(absl::string_view text) {
  return absl::Span<const std::byte>(reinterpret_cast<const std::byte*>(text.data()), text.size());
}

// ByteWriter appends little-endian values to a string it owns.
class ByteWriter {
 public:
  template <class T>
  void Put(T value) {
    static_assert(std::is_integral_v<T> || std::is_enum_v<T>);
    char raw[sizeof value];
    std::memcpy(raw, &value, sizeof value);  // x86-64 and AArch64 Linux are little-endian
    out_.append(raw, sizeof raw);
  }
  void PutBytes(absl::string_view bytes) { out_.append(bytes.data(), bytes.size()); }
  void PutLengthPrefixed(absl::string_view bytes) {
    Put(static_cast<std::uint32_t>(bytes.size()));
    PutBytes(bytes);
  }
  std::size_t size() const { return out_.size(); }
  std::string Take() && { return std::move(out_); }

 private:
  std::string out_;
};

// ByteReader takes little-endian values off a view it does not own. Hostile input is expected: a
// read past the end gives zero or empty and makes ok() false for good; nothing throws or allocates
// more than the view holds. Check ok() (and at_end()) once, after the last read.
class ByteReader {
 public:
  explicit ByteReader(absl::string_view bytes) : rest_(bytes) {}

  template <class T>
  T Get() {
    static_assert(std::is_integral_v<T>);
    T value{};
    if (rest_.size() < sizeof value) return Fail<T>();
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    return value;
  }
  absl::string_view GetBytes(std::size_t count) {
    if (rest_.size() < count) return Fail<absl::string_view>();
    const absl::string_view out = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return out;
  }
  // A u32 length of at most `bytes_max`, then that many bytes.
  absl::string_view GetLengthPrefixed(std::size_t bytes_max) {
    const std::uint32_t count = Get<std::uint32_t>();
    if (count > bytes_max) return Fail<absl::string_view>();
    return GetBytes(count);
  }
  // A u32 count of at most `count_max` items that take at least `item_bytes` each of what is left.
  std::uint32_t GetCount(std::size_t count_max, std::size_t item_bytes) {
    const std::uint32_t count = Get<std::uint32_t>();
    if (count > count_max || count > rest_.size() / item_bytes) return Fail<std::uint32_t>();
    return count;
  }
  void MarkBad() { ok_ = false; }
  bool ok() const { return ok_; }
  bool at_end() const { return ok_ && rest_.empty(); }
  std::size_t left() const { return rest_.size(); }

 private:
  template <class T>
  T Fail() {
    ok_ = false;
    rest_ = absl::string_view();
    return T{};
  }
  absl::string_view rest_;
  bool ok_ = true;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_BASE_BYTES_H_
