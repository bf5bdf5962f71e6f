#ifndef CAIRN_TESTS_UNIT_WIRE_CODEC_CHECKS_H_
#define CAIRN_TESTS_UNIT_WIRE_CODEC_CHECKS_H_

#include <cstdint>
#include <cstring>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "libs/base/ids.h"

// What every message of libs/wire must pass.
namespace cairn::wire {

inline Digest256 DigestOf(std::uint8_t fill) {
  Digest256 digest;
  digest.bytes.fill(fill);
  digest.bytes[0] = static_cast<std::uint8_t>(fill + 1);
  return digest;
}

// All fields survive, and the bytes are the only ones for them.
template <class M>
void ExpectRoundTrip(const M& m, absl::StatusOr<M> (*decode)(absl::string_view)) {
  const std::string body = Encode(m);
  const absl::StatusOr<M> back = decode(body);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_TRUE(*back == m);
  EXPECT_EQ(Encode(*back), body);
}

// Every shorter body and every longer one is refused.
template <class M>
void ExpectWholeOnly(const M& m, absl::StatusOr<M> (*decode)(absl::string_view)) {
  const std::string body = Encode(m);
  for (std::size_t size = 0; size < body.size(); ++size) {
    // A copy of exactly that size, so that a sanitizer sees a read past its end.
    const std::string cut = body.substr(0, size);
    EXPECT_FALSE(decode(cut).ok()) << "cut to " << size << " of " << body.size();
  }
  EXPECT_EQ(decode(body + std::string(1, '\0')).status().code(),
            absl::StatusCode::kInvalidArgument);
}

template <class M>
void ExpectSound(const M& m, absl::StatusOr<M> (*decode)(absl::string_view)) {
  ExpectRoundTrip(m, decode);
  ExpectWholeOnly(m, decode);
}

// Refused, and the message names `field`.
template <class M>
void ExpectRefused(absl::string_view body, absl::StatusOr<M> (*decode)(absl::string_view),
                   absl::string_view field) {
  const absl::StatusOr<M> got = decode(body);
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(std::string(got.status().message()).find(std::string(field)), std::string::npos)
      << got.status();
}

// `body` with the bytes of `value` at `at`.
template <class T>
std::string With(std::string body, std::size_t at, T value) {
  std::memcpy(body.data() + at, &value, sizeof value);
  return body;
}

}  // namespace cairn::wire
#endif  // CAIRN_TESTS_UNIT_WIRE_CODEC_CHECKS_H_
