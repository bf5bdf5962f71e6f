#include "libs/span/block_hash.h"

#include <gtest/gtest.h>

#include "tests/unit/span/prompts.h"

namespace cairn {
namespace {

using std::string_literals::operator""s;

TEST(BlockHashTest, BodyHoldsTokensAndOverlappingExtrasRelativeToTheBlock) {
  const PromptHasher prompt =
      Hashed({Prefix({9}), Span({1, 2, 3, 4, 5, 6}, {}, {{3, 2, "xy"}, {0, 1, "z"}})});
  BlockBodies bodies;
  EXPECT_EQ(bodies.Body(prompt.layout(), 1), "\4\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0\4\0\0\0"s +
                                                 "\2\0\0\0"s + "\0\0\0\0\1\0\0\0\1\0\0\0z"s +
                                                 "\3\0\0\0\2\0\0\0\2\0\0\0xy"s);
  EXPECT_EQ(bodies.Body(prompt.layout(), 2),
            "\2\0\0\0\5\0\0\0\6\0\0\0"s + "\1\0\0\0"s + "\xff\xff\xff\xff\2\0\0\0\2\0\0\0xy"s);
}

TEST(BlockHashTest, TheSameBodyCanBeAskedForAsItsBlockGrows) {
  PromptLayout layout({.block_tokens = 4});
  ASSERT_TRUE(layout.BeginSegment({.extras = {{0, 1, "a"}, {1, 1, "b"}}}).ok());
  ASSERT_TRUE(layout.Append({7}).ok());
  BlockBodies bodies;
  EXPECT_EQ(bodies.Body(layout, 0), "\1\0\0\0\7\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0\1\0\0\0a"s);
  ASSERT_TRUE(layout.Append({8}).ok());
  EXPECT_EQ(bodies.Body(layout, 0), "\2\0\0\0\7\0\0\0\x8\0\0\0\2\0\0\0"s +
                                        "\0\0\0\0\1\0\0\0\1\0\0\0a"s +
                                        "\1\0\0\0\1\0\0\0\1\0\0\0b"s);
}

TEST(BlockHashTest, ValuesAreTheHashesOfTheirTaggedBytes) {
  const Digest256 d = Sha256Of("d");
  const std::string raw(d.view());
  const std::string position = "\1\2\0\0\0\0\0\0"s;
  BlockHash hash;
  EXPECT_EQ(hash.ChainedKey(d, "body"), Sha256Of("cairn.block.v1\0\0"s + raw + "body"));
  EXPECT_EQ(hash.DependentKey(d, 0x201, "body"),
            Sha256Of("cairn.block.v1\0\2"s + raw + position + "body"));
  EXPECT_EQ(hash.PromptDigest(d, BlockStart::kSpan, 0x201, "body"),
            Sha256Of("cairn.prompt.v1\0"s + raw + "\1"s + position + "body"));
  EXPECT_EQ(StateKeyOf(d), Sha256Of("cairn.state.v1\0"s + raw));
}

}  // namespace
}  // namespace cairn
