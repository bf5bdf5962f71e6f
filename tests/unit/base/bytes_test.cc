#include "libs/base/bytes.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

TEST(BytesTest, WhatWasPutComesBack) {
  ByteWriter writer;
  writer.Put<std::uint8_t>(7);
  writer.Put<std::uint32_t>(0x01020304);
  writer.PutLengthPrefixed("key");
  const std::string bytes = std::move(writer).Take();
  EXPECT_EQ(bytes.substr(1, 4), std::string("\x04\x03\x02\x01", 4));
  ByteReader reader(bytes);
  EXPECT_EQ(reader.Get<std::uint8_t>(), 7);
  EXPECT_EQ(reader.Get<std::uint32_t>(), 0x01020304u);
  EXPECT_EQ(reader.GetLengthPrefixed(3), "key");
  EXPECT_TRUE(reader.at_end());
}

TEST(BytesTest, ReadPastTheEndIsZeroAndStaysBad) {
  ByteReader reader("abc");
  EXPECT_EQ(reader.Get<std::uint32_t>(), 0u);
  EXPECT_FALSE(reader.ok());
  EXPECT_EQ(reader.Get<std::uint8_t>(), 0);
  EXPECT_FALSE(reader.at_end());
}

TEST(BytesTest, CountThatCannotFitIsRefused) {
  ByteWriter writer;
  writer.Put<std::uint32_t>(1000);
  writer.PutBytes("0123456789");
  const std::string bytes = std::move(writer).Take();
  ByteReader reader(bytes);
  EXPECT_EQ(reader.GetCount(1 << 20, 8), 0u);
  EXPECT_FALSE(reader.ok());
}

TEST(BytesTest, LengthOverTheLimitIsRefused) {
  ByteWriter writer;
  writer.PutLengthPrefixed("four");
  const std::string bytes = std::move(writer).Take();
  ByteReader reader(bytes);
  reader.GetLengthPrefixed(3);
  EXPECT_FALSE(reader.ok());
}

}  // namespace
}  // namespace cairn
