#ifndef CAIRN_LIBS_WIRE_FIELD_READER_H_
#define CAIRN_LIBS_WIRE_FIELD_READER_H_

#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "libs/base/bytes.h"
#include "libs/base/ids.h"
#include "libs/base/limits.h"

namespace cairn::wire {

// FieldReader takes a message's fields off hostile bytes and remembers the first that is wrong, so
// that a decoder is a plain list of fields with one check at its end. After the first wrong field
// every read gives zero or empty, and counts are 0: loops over them end at once.
// For the decoders of libs/wire only. `body` must outlive it.
class FieldReader {
 public:
  FieldReader(const char* message, absl::string_view body, std::size_t bytes_max)
      : message_(message), in_(body) {
    if (body.size() > bytes_max) Refuse("size");
  }

  // An integer of at most `max`.
  template <class T>
  T Int(const char* field, T max = std::numeric_limits<T>::max()) {
    const T value = in_.Get<T>();
    if (!in_.ok() || value > max) return Refuse(field), T{};
    return value;
  }
  // A StrongId.
  template <class Id>
  Id IdOf(const char* field) {
    return Id(Int<typename Id::rep>(field));
  }
  // An enum whose values are 0 to `last`.
  template <class E>
  E Enum(const char* field, E last) {
    using Rep = std::underlying_type_t<E>;
    return static_cast<E>(Int<Rep>(field, static_cast<Rep>(last)));
  }
  bool Flag(const char* field) { return Int<std::uint8_t>(field, 1) == 1; }
  Digest256 Digest(const char* field) {
    Digest256 digest;
    const absl::string_view raw = in_.GetBytes(digest.bytes.size());
    if (!in_.ok()) return Refuse(field), digest;
    std::memcpy(digest.bytes.data(), raw.data(), digest.bytes.size());
    return digest;
  }
  BootId Boot(const char* field) {
    BootId boot;
    boot.high = Int<std::uint64_t>(field);
    boot.low = Int<std::uint64_t>(field);
    return boot;
  }
  // A length-prefixed string of at most `bytes_max`.
  std::string Text(const char* field, std::size_t bytes_max) {
    const absl::string_view text = in_.GetLengthPrefixed(bytes_max);
    if (!in_.ok()) return Refuse(field), std::string();
    return std::string(text);
  }
  // A length-prefixed string of exactly `bytes`.
  std::string Nonce(const char* field, std::size_t bytes) {
    std::string text = Text(field, bytes);
    if (text.size() != bytes) Refuse(field);
    return text;
  }
  // How many items of at least `item_bytes` follow.
  std::uint32_t Count(const char* field, std::size_t count_max, std::size_t item_bytes) {
    const std::uint32_t count = in_.GetCount(count_max, item_bytes);
    if (!in_.ok()) Refuse(field);
    return count;
  }
  // Says that `field`, though read, cannot be.
  void Refuse(const char* field) {
    if (wrong_ == nullptr) wrong_ = field;
    in_ = ByteReader(absl::string_view());
    in_.MarkBad();
  }
  bool ok() const { return wrong_ == nullptr; }
  // The verdict, after the last field.
  absl::Status Finish() {
    if (wrong_ == nullptr && in_.left() > 0) wrong_ = "end (bytes follow it)";
    if (wrong_ == nullptr) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat("malformed ", message_, ": field ", wrong_));
  }

 private:
  const char* const message_;
  ByteReader in_;
  const char* wrong_ = nullptr;
};

inline void PutDigest(ByteWriter& out, const Digest256& digest) { out.PutBytes(digest.view()); }
inline void PutBoot(ByteWriter& out, const BootId& boot) {
  out.Put(boot.high);
  out.Put(boot.low);
}
inline void PutFlag(ByteWriter& out, bool flag) {
  out.Put(static_cast<std::uint8_t>(flag ? 1 : 0));
}
template <class List>
void PutCount(ByteWriter& out, const List& list) {
  out.Put(static_cast<std::uint32_t>(list.size()));
}

}  // namespace cairn::wire
#endif  // CAIRN_LIBS_WIRE_FIELD_READER_H_
