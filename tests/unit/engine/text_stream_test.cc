#include "libs/engine/text_stream.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

std::string PushAll(TextStream& stream, const std::vector<std::string>& pieces) {
  std::string out;
  for (const std::string& piece : pieces) out += stream.Push(piece);
  return out;
}

TEST(TextStreamTest, CharacterCutBetweenTokensIsShownWhole) {
  TextStream stream({});
  EXPECT_EQ(stream.Push("a\xe2\x82"), "a");
  EXPECT_EQ(stream.Push("\xac!"), "\xe2\x82\xac!");
}

TEST(TextStreamTest, StopStringAcrossTokensIsNeverShown) {
  TextStream stream({"END"});
  EXPECT_EQ(PushAll(stream, {"one E", "N", "D two"}), "one ");
  EXPECT_TRUE(stream.stopped());
  EXPECT_EQ(stream.Push("three"), "");
  EXPECT_EQ(stream.Finish(), "");
}

TEST(TextStreamTest, HeldBackTailIsShownWhenItTurnsOutOtherwise) {
  TextStream stream({"END"});
  EXPECT_EQ(stream.Push("EN"), "");
  EXPECT_EQ(stream.Push("x"), "ENx");
  EXPECT_EQ(stream.Push("E"), "");
  EXPECT_EQ(stream.Finish(), "E");
}

TEST(TextStreamTest, EarliestOfSeveralStopsWins) {
  TextStream stream({"bb", "a"});
  EXPECT_EQ(PushAll(stream, {"xx bb a"}), "xx ");
}

TEST(TextStreamTest, IllFormedBytesBecomeReplacementCharacters) {
  TextStream stream({});
  EXPECT_EQ(stream.Push("a\xff"), "a\xef\xbf\xbd");
  EXPECT_EQ(stream.Push("\xe2\x82"), "");
  EXPECT_EQ(stream.Push("b\xc3"),
            "\xef\xbf\xbd"
            "b");
  EXPECT_EQ(stream.Finish(), "\xef\xbf\xbd");
}

TEST(TextStreamTest, EveryCutOfATextGivesTheSameText) {
  const std::string text = "d\xc3\xa9j\xc3\xa0 \xf0\x9f\x98\x80 vu";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    TextStream stream({"zz"});
    std::string out = stream.Push(text.substr(0, cut));
    out += stream.Push(text.substr(cut));
    out += stream.Finish();
    EXPECT_EQ(out, text) << cut;
  }
}

}  // namespace
}  // namespace cairn
