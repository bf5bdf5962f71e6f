#include "libs/base/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace cairn {
namespace {

using Kind = Utf8Step::Kind;

// Any code point as UTF-8 would write it, allowed or not.
std::string Written(std::uint32_t c) {
  std::string out;
  const auto put = [&](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | c >> 6), put(0x80 | (c & 63));
  } else if (c < 0x10000) {
    put(0xE0 | c >> 12), put(0x80 | (c >> 6 & 63)), put(0x80 | (c & 63));
  } else {
    put(0xF0 | c >> 18), put(0x80 | (c >> 12 & 63)), put(0x80 | (c >> 6 & 63)),
        put(0x80 | (c & 63));
  }
  return out;
}

TEST(Utf8Test, EveryCharacterIsOneStepAndNothingElseIs) {
  for (std::uint32_t c = 0; c < 0x120000; ++c) {
    const std::string text = Written(c);
    const Utf8Step step = NextUtf8(text);
    const bool is_character = c <= 0x10FFFF && !(c >= 0xD800 && c <= 0xDFFF);
    ASSERT_EQ(step.kind == Kind::kCharacter, is_character) << c;
    if (!is_character) continue;
    ASSERT_EQ(step.bytes, text.size()) << c;
    for (std::size_t cut = 1; cut < text.size(); ++cut) {
      const Utf8Step start = NextUtf8(text.substr(0, cut));
      ASSERT_TRUE(start.kind == Kind::kCut && start.bytes == cut) << c;
    }
  }
}

TEST(Utf8Test, OverlongFormsAreBroken) {
  for (const char* text :
       {"\xC0\xAF", "\xC1\xBF", "\xE0\x80\xAF", "\xE0\x9F\xBF", "\xF0\x80\x80\xAF",
        "\xF0\x8F\xBF\xBF", "\xF8\x88\x80\x80\x80", "\xFF", "\x80"}) {
    const Utf8Step step = NextUtf8(text);
    EXPECT_EQ(step.kind, Kind::kBroken) << text;
    EXPECT_EQ(step.bytes, 1u);
  }
}

TEST(Utf8Test, BrokenPartsBecomeOneReplacementEach) {
  // The examples of the Unicode standard, section 3.9, tables 3-8 to 3-11.
  const std::string r(kReplacementCharacter);
  EXPECT_EQ(ToUtf8("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41"), r + r + r + r + r + r + r + r + "A");
  EXPECT_EQ(ToUtf8("\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41"), r + r + r + r + r + r + r + r + "A");
  EXPECT_EQ(ToUtf8("\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42"), r + r + r + r + r + "A" + r + r + "B");
  EXPECT_EQ(ToUtf8("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41"), r + r + r + r + "A");
  EXPECT_EQ(ToUtf8("caf\xC3"), "caf" + r);
}

TEST(Utf8Test, OnlyACharacterCutAtTheEndIsNotWhole) {
  EXPECT_EQ(WholeUtf8Bytes(""), 0u);
  EXPECT_EQ(WholeUtf8Bytes("ab\xC3\xA9"), 4u);
  EXPECT_EQ(WholeUtf8Bytes("ab\xC3"), 2u);
  EXPECT_EQ(WholeUtf8Bytes("ab\xF0\x9F\x98"), 2u);
  EXPECT_EQ(WholeUtf8Bytes("\xC3("), 2u);     // broken, not cut
  EXPECT_EQ(WholeUtf8Bytes("\xE0\x80"), 2u);  // no character starts so
}

TEST(Utf8Test, PrefixEndsBeforeTheFirstBrokenByte) {
  EXPECT_EQ(Utf8PrefixBytes(""), 0u);
  EXPECT_EQ(Utf8PrefixBytes("ab\xC3\xA9"
                            "c"),
            5u);
  EXPECT_EQ(Utf8PrefixBytes("ab\xC3"), 2u);
  EXPECT_EQ(Utf8PrefixBytes("\xFF"
                            "ab"),
            0u);
}

}  // namespace
}  // namespace cairn
