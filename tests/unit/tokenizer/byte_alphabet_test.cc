#include "libs/tokenizer/byte_alphabet.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

TEST(ByteAlphabetTest, KnownCharactersStandForTheirBytes) {
  const ByteAlphabet alphabet;
  EXPECT_EQ(alphabet.CharacterOf('A'), "A");
  EXPECT_EQ(alphabet.CharacterOf(' '), "\u0120");
  EXPECT_EQ(alphabet.CharacterOf('\n'), "\u010A");
  EXPECT_EQ(alphabet.CharacterOf(0x00), "\u0100");
  EXPECT_EQ(alphabet.CharacterOf(0x7F), "\u0121");
  EXPECT_EQ(alphabet.CharacterOf(0xAD), "\u0143");
  EXPECT_EQ(alphabet.CharacterOf(0xE9), "\u00E9");
}

TEST(ByteAlphabetTest, EveryByteComesBack) {
  const ByteAlphabet alphabet;
  for (int byte = 0; byte < 256; ++byte) {
    const auto back = alphabet.BytesOf(alphabet.CharacterOf(static_cast<std::uint8_t>(byte)));
    ASSERT_TRUE(back.has_value());
    EXPECT_EQ(*back, std::string(1, static_cast<char>(byte)));
  }
  EXPECT_EQ(*alphabet.BytesOf("\u0120the"), " the");
}

TEST(ByteAlphabetTest, OtherCharactersStandForNothing) {
  const ByteAlphabet alphabet;
  EXPECT_FALSE(alphabet.BytesOf(" ").has_value());
  EXPECT_FALSE(alphabet.BytesOf("a\u0144").has_value());
  EXPECT_FALSE(alphabet.BytesOf("\xFF").has_value());
}

}  // namespace
}  // namespace cairn
