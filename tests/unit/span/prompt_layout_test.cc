#include "libs/span/prompt_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "libs/base/limits.h"
#include "tests/unit/span/prompts.h"

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr SegmentKind kPrefix = SegmentKind::kPrefix;
constexpr SegmentKind kSpan = SegmentKind::kSpan;
constexpr SegmentKind kDependent = SegmentKind::kDependent;

constexpr PromptOptions kBlocksOf4 = {.block_tokens = 4};
constexpr PromptOptions kPrefillOnly = {.block_tokens = 4, .prefill_only = true};
constexpr PromptOptions kNoSpans = {.block_tokens = 4, .spans = false};

absl::Status Fill(PromptLayout& layout, const std::vector<PromptSegment>& segments) {
  for (const PromptSegment& segment : segments) {
    if (absl::Status s = layout.BeginSegment(segment.head); !s.ok()) return s;
    if (absl::Status s = layout.Append(segment.tokens); !s.ok()) return s;
  }
  return layout.EndPrompt();
}

PromptLayout Lay(const std::vector<PromptSegment>& segments, PromptOptions options = kBlocksOf4) {
  PromptLayout layout(options);
  const absl::Status status = Fill(layout, segments);
  CAIRN_CHECK(status.ok()) << status;
  return layout;
}

// The message of the refusal, or "" if the prompt is accepted.
std::string Refusal(const std::vector<PromptSegment>& segments,
                    PromptOptions options = kBlocksOf4) {
  PromptLayout layout(options);
  const absl::Status status = Fill(layout, segments);
  EXPECT_TRUE(status.ok() || status.code() == absl::StatusCode::kInvalidArgument) << status;
  return std::string(status.message());
}

std::vector<SegmentKind> KindsOf(const PromptLayout& layout) {
  std::vector<SegmentKind> kinds;
  for (const NormalSegment& segment : layout.segments()) kinds.push_back(segment.kind);
  return kinds;
}

std::vector<std::uint32_t> BlockSizes(const PromptLayout& layout) {
  std::vector<std::uint32_t> sizes;
  for (const PromptBlock& block : layout.blocks()) sizes.push_back(block.token_count);
  return sizes;
}

TEST(PromptLayoutTest, BlocksSayWhereTheyAre) {
  const PromptLayout layout = Lay({Prefix({1, 2, 3}), Span({4, 5, 6, 7, 8, 9}), Dependent({10})});
  ASSERT_EQ(BlockSizes(layout), (std::vector<std::uint32_t>{3, 4, 2, 1}));
  const PromptBlock& second = layout.blocks()[2];
  EXPECT_EQ(second.segment, 1u);
  EXPECT_EQ(second.start, BlockStart::kGoesOn);
  EXPECT_EQ(second.first_token, 7u);
  EXPECT_EQ(second.position, 7u);
  EXPECT_EQ(second.parent, 1u);
  EXPECT_EQ(second.chain_depth, 6u);
  EXPECT_EQ(second.depth(), 9u);
  EXPECT_THAT(layout.TokensOf(second), ElementsAre(8, 9));
  const NormalSegment& span = layout.segments()[1];
  EXPECT_EQ(span.first_token, 3u);
  EXPECT_EQ(span.token_count, 6u);
  EXPECT_EQ(span.first_block, 1u);
  EXPECT_EQ(span.block_count, 2u);
}

TEST(PromptLayoutTest, AChainIsASegmentAndItsFirstBlockHasNoParent) {
  const PromptLayout layout = Lay({Prefix({1, 2, 3, 4, 5}), Span({6}), Dependent({7})});
  EXPECT_EQ(layout.blocks()[0].parent, std::nullopt);
  EXPECT_EQ(layout.blocks()[0].start, BlockStart::kGoesOn);
  EXPECT_EQ(layout.blocks()[1].parent, 0u);
  EXPECT_EQ(layout.blocks()[1].chain_depth, 5u);
  EXPECT_EQ(layout.blocks()[2].parent, std::nullopt);
  EXPECT_EQ(layout.blocks()[2].start, BlockStart::kSpan);
  EXPECT_EQ(layout.blocks()[2].chain_depth, 1u);
  EXPECT_EQ(layout.blocks()[3].parent, std::nullopt);
  EXPECT_EQ(layout.blocks()[3].start, BlockStart::kDependent);
  EXPECT_EQ(layout.blocks()[3].depth(), 7u);
}

// ---- rule 1 ----

TEST(PromptLayoutTest, OnlySpansSeeOnlyThemselvesAndOnlyDependentKeysHaveContext) {
  const PromptLayout layout = Lay({Prefix({1}), Span({2}), Dependent({3})});
  EXPECT_FALSE(layout.segments()[0].sees_only_itself());
  EXPECT_TRUE(layout.segments()[1].sees_only_itself());
  EXPECT_FALSE(layout.segments()[2].sees_only_itself());
  EXPECT_TRUE(layout.blocks()[0].is_context_free);
  EXPECT_TRUE(layout.blocks()[1].is_context_free);
  EXPECT_FALSE(layout.blocks()[2].is_context_free);
}

// ---- rule 2 ----

TEST(PromptLayoutTest, TextAfterASpanIsDependent) {
  EXPECT_THAT(KindsOf(Lay({Span({1}), Prefix({2})})), ElementsAre(kSpan, kDependent));
}

TEST(PromptLayoutTest, TextAtABaseIsDependentAndSoIsWhatFollows) {
  EXPECT_THAT(KindsOf(Lay({Prefix({1}), Prefix({2}, 9), Prefix({3})})),
              ElementsAre(kPrefix, kDependent));
  EXPECT_THAT(KindsOf(Lay({Prefix({1}, 9), Prefix({2})})), ElementsAre(kDependent));
}

TEST(PromptLayoutTest, DependentBeforeAnySpanOrBaseIsPrefix) {
  EXPECT_THAT(KindsOf(Lay({Dependent({1}), Prefix({2}), Span({3}), Dependent({4})})),
              ElementsAre(kPrefix, kSpan, kDependent));
}

TEST(PromptLayoutTest, AnIdleBaseIsDropped) {
  const PromptLayout layout =
      Lay({Prefix({1}, 0), Prefix({2}, 1), Span({3}, 2), Dependent({4}, 3), Dependent({5}, 4)});
  EXPECT_THAT(KindsOf(layout), ElementsAre(kPrefix, kSpan, kDependent));
}

// ---- rule 3 ----

TEST(PromptLayoutTest, ARaggedBlockIsOfferedWhenItsSegmentIsComplete) {
  const PromptLayout layout = Lay({Prefix({1}), Span({2}), Dependent({3, 4, 5, 6, 7})});
  EXPECT_TRUE(layout.IsRagged(0));
  EXPECT_TRUE(layout.MayOffer(0));
  EXPECT_TRUE(layout.MayOffer(1));
  EXPECT_FALSE(layout.IsRagged(2));
  EXPECT_TRUE(layout.MayOffer(2));
  EXPECT_TRUE(layout.IsRagged(3));
  EXPECT_FALSE(layout.MayOffer(3)) << "generation would append to it";
}

TEST(PromptLayoutTest, ThePrefillOnlySpanAtTheEndIsOfferedOnceThePromptIsOver) {
  PromptLayout layout(kPrefillOnly);
  ASSERT_TRUE(layout.BeginSegment({.kind = kSpan}).ok());
  ASSERT_TRUE(layout.Append({1, 2}).ok());
  EXPECT_FALSE(layout.MayOffer(0)) << "its segment may go on";
  ASSERT_TRUE(layout.EndPrompt().ok());
  EXPECT_TRUE(layout.MayOffer(0));
}

TEST(PromptLayoutTest, ThePrefillOnlyTextAtTheEndIsNotOfferedRagged) {
  EXPECT_FALSE(Lay({Prefix({1, 2})}, kPrefillOnly).MayOffer(0));
  EXPECT_FALSE(Lay({Span({1}), Dependent({2})}, kPrefillOnly).MayOffer(1));
}

TEST(PromptLayoutTest, ARaggedBlockSpendsNoPosition) {
  EXPECT_EQ(Lay({Prefix({1, 2, 3}), Span({4}), Prefix({5})}).segments()[2].position, 4u);
}

// ---- rule 5 ----

TEST(PromptLayoutTest, ABaseMovesWhatFollowsAndMayGoBack) {
  const PromptLayout layout = Lay(
      {Prefix({1, 2}), Span({3, 4}, 64), Span({5}), Dependent({6, 7}, 0), Span({8})}, kPrefillOnly);
  std::vector<std::uint64_t> positions;
  for (const NormalSegment& segment : layout.segments()) positions.push_back(segment.position);
  EXPECT_THAT(positions, ElementsAre(0, 64, 66, 0, 2));
}

TEST(PromptLayoutTest, PositionsBeyondTheModelsAreRefused) {
  const PromptOptions small = {.block_tokens = 4, .prefill_only = true, .positions_max = 10};
  EXPECT_EQ(Refusal({Span({1, 2}, 8)}, small), "");
  EXPECT_THAT(Refusal({Prefix({1}), Span({1, 2}, 9)}, small),
              HasSubstr("segment 1: position 9 and 2 tokens go beyond the model's 10 positions"));
  EXPECT_THAT(Refusal({Span({1}, 11)}, small), HasSubstr("beyond"));
  EXPECT_THAT(Refusal({Prefix(std::vector<Token>(11, 0))}, small), HasSubstr("beyond"));
  EXPECT_THAT(Refusal({Span({1}, UINT64_MAX)}, kPrefillOnly), HasSubstr("beyond"));
}

TEST(PromptLayoutTest, PiecesOfASegmentCountTogetherAgainstTheModelsPositions) {
  PromptLayout layout({.block_tokens = 4, .positions_max = 10});
  ASSERT_TRUE(layout.BeginSegment({.kind = kDependent, .base = 8}).ok());
  EXPECT_TRUE(layout.Append({1}).ok());
  EXPECT_TRUE(layout.Append({2}).ok());
  EXPECT_THAT(layout.Append({3}).message(), HasSubstr("position 10 and 1 tokens go beyond"));
}

// ---- rule 7 ----

TEST(PromptLayoutTest, WithoutSpansThePromptIsOnePrefixAndSaysSo) {
  const PromptLayout layout =
      Lay({Prefix({1, 2, 3}), Span({4, 5}), Dependent({6}), Span({7})}, kNoSpans);
  EXPECT_THAT(KindsOf(layout), ElementsAre(kPrefix));
  EXPECT_EQ(BlockSizes(layout), (std::vector<std::uint32_t>{4, 3}));
  EXPECT_TRUE(layout.ignored_spans());
  EXPECT_FALSE(Lay({Prefix({1}), Dependent({2})}, kNoSpans).ignored_spans());
  EXPECT_FALSE(Lay({Prefix({1}), Span({2}), Prefix({3})}).ignored_spans());
  EXPECT_FALSE(Lay({Span({}), Prefix({2})}, kNoSpans).ignored_spans());
}

TEST(PromptLayoutTest, WithoutSpansABaseIsRefusedUnlessIdle) {
  EXPECT_THAT(Refusal({Prefix({1}), Span({2}, 5)}, kNoSpans), HasSubstr("segment 1: "));
  EXPECT_EQ(Refusal({Prefix({1}, 0), Span({2}, 1), Span({}, 7), Prefix({3}, 2)}, kNoSpans), "");
}

TEST(PromptLayoutTest, WithoutSpansExtrasStay) {
  const PromptLayout layout =
      Lay({Prefix({1, 2, 3}), Span({4, 5}, {}, {{1, 1, "h"}}), Prefix({6})}, kNoSpans);
  EXPECT_THAT(layout.extras(), ElementsAre(Extra{4, 1, "h"}));
}

// ---- rule 8 ----

TEST(PromptLayoutTest, TextThatGoesOnIsOneSegment) {
  const PromptLayout layout =
      Lay({Prefix({1, 2, 3}), Prefix({4, 5}), Span({6}), Prefix({7}), Dependent({8}), Prefix({9})});
  EXPECT_THAT(KindsOf(layout), ElementsAre(kPrefix, kSpan, kDependent));
  EXPECT_EQ(BlockSizes(layout), (std::vector<std::uint32_t>{4, 1, 1, 3}));
}

TEST(PromptLayoutTest, ABaseThatMovesPartsDependentText) {
  const PromptLayout layout = Lay({Span({1}), Dependent({2}), Dependent({3}, 50), Prefix({4})});
  EXPECT_THAT(KindsOf(layout), ElementsAre(kSpan, kDependent, kDependent));
  EXPECT_EQ(BlockSizes(layout), (std::vector<std::uint32_t>{1, 1, 2}));
}

TEST(PromptLayoutTest, SpansNeverJoin) {
  EXPECT_EQ(Lay({Span({1}), Span({2}), Prefix({3})}).segments().size(), 3u);
}

TEST(PromptLayoutTest, EmptySegmentsVanishWithKindAndBase) {
  const PromptLayout layout =
      Lay({Span({}), Prefix({1}), Dependent({}, 70), Span({}, 5), Prefix({2})});
  EXPECT_THAT(KindsOf(layout), ElementsAre(kPrefix));
  EXPECT_EQ(layout.segments()[0].token_count, 2u);
  EXPECT_THAT(Lay({}).blocks(), IsEmpty());
  EXPECT_THAT(Lay({Span({})}).blocks(), IsEmpty());
}

TEST(PromptLayoutTest, AnExtraOnAnEmptySegmentIsRefused) {
  EXPECT_THAT(Refusal({Prefix({1}), Span({}, {}, {{0, 1, "h"}}), Prefix({2})}),
              HasSubstr("segment 1: extra 0"));
  EXPECT_THAT(Refusal({Prefix({}, {}, {{0, 1, "h"}})}), HasSubstr("segment 0: extra 0"));
}

TEST(PromptLayoutTest, GeneratedTokensGoOnWithTheLastSegment) {
  PromptLayout layout = Lay({Span({1}), Dependent({2, 3, 4}), Span({}, 99)});
  ASSERT_TRUE(layout.Append({5}).ok());
  ASSERT_TRUE(layout.Append({6}).ok());
  EXPECT_THAT(KindsOf(layout), ElementsAre(kSpan, kDependent));
  EXPECT_EQ(BlockSizes(layout), (std::vector<std::uint32_t>{1, 4, 1}));
  EXPECT_EQ(layout.blocks().back().position, 5u);
}

TEST(PromptLayoutTest, AGeneratedTokenAfterNothingBeginsAPrefix) {
  PromptLayout layout = Lay({});
  ASSERT_TRUE(layout.Append({5}).ok());
  EXPECT_THAT(KindsOf(layout), ElementsAre(kPrefix));
}

TEST(PromptLayoutTest, APromptMayEndInASpanOnlyToPrefill) {
  EXPECT_THAT(Refusal({Prefix({1}), Span({2}), Prefix({})}),
              HasSubstr("segment 1: a prompt may end in a span only"));
  EXPECT_EQ(Refusal({Prefix({1}), Span({2})}, kPrefillOnly), "");
  EXPECT_EQ(Refusal({Prefix({1}), Span({2})}, kNoSpans), "") << "a closing span is allowed";
}

TEST(PromptLayoutTest, NothingFollowsAPrefillOnlySpan) {
  PromptLayout layout = Lay({Prefix({1}), Span({2})}, kPrefillOnly);
  EXPECT_THAT(layout.Append({3}).message(), HasSubstr("segment 1: nothing can follow"));
}

// ---- rule 10 ----

TEST(PromptLayoutTest, ExtrasMoveWithJoinedTextAndAreOrdered) {
  const PromptLayout layout =
      Lay({Prefix({1, 2, 3}, {}, {{2, 1, "c"}, {0, 2, "a"}, {0, 1, "b"}}),
           Prefix({4, 5}, {}, {{0, 2, "d"}}), Span({6}, {}, {{0, 1, "e"}}), Prefix({7})});
  EXPECT_THAT(layout.extras(), ElementsAre(Extra{0, 2, "a"}, Extra{0, 1, "b"}, Extra{2, 1, "c"},
                                           Extra{3, 2, "d"}, Extra{0, 1, "e"}));
  EXPECT_EQ(layout.segments()[0].extra_count, 4u);
  EXPECT_EQ(layout.segments()[1].first_extra, 4u);
}

TEST(PromptLayoutTest, ExtrasOutsideTheirSegmentsTokensAreRefused) {
  EXPECT_THAT(Refusal({Prefix({1}), Span({2, 3}, {}, {{0, 2, "h"}, {1, 2, "h"}}), Prefix({4})}),
              HasSubstr("segment 1: extra 1 reaches outside"));
  EXPECT_THAT(Refusal({Prefix({1}, {}, {{0, 2, "h"}}), Prefix({2})}),
              HasSubstr("segment 0: extra 0"))
      << "joined text does not lend its tokens";
  EXPECT_THAT(Refusal({Prefix({1}, {}, {{UINT32_MAX, UINT32_MAX, "h"}})}),
              HasSubstr("reaches outside"));
  EXPECT_THAT(Refusal({Prefix({1}, {}, {{0, 0, "h"}})}),
              HasSubstr("segment 0: extra 0 has count 0"));
}

// ---- limits and errors ----

TEST(PromptLayoutTest, SizesAreBounded) {
  EXPECT_THAT(Refusal({Prefix(std::vector<Token>(limits::kPromptTokensMax)), Prefix({1})}),
              HasSubstr("segment 1: more than 1048576 tokens"));
  EXPECT_THAT(Refusal(std::vector<PromptSegment>(limits::kSegmentsMax + 1)), HasSubstr("segments"));
  const std::vector<Extra> many(limits::kExtrasMax, Extra{0, 1, "h"});
  EXPECT_THAT(Refusal({Prefix({1}, {}, many), Prefix({1}, {}, {{0, 1, "h"}})}),
              HasSubstr("segment 1: more than 65536 extras"));
  const std::string long_hash(limits::kExtraHashBytesMax + 1, 'h');
  EXPECT_THAT(Refusal({Prefix({1}, {}, {{0, 1, long_hash}})}), HasSubstr("hash of 257 bytes"));
}

TEST(PromptLayoutTest, TheWorkThatOverlappingExtrasAskForIsBounded) {
  const std::vector<Token> tokens(4 * 1000);
  const std::vector<Extra> few(2000, Extra{0, 4000, "h"});
  EXPECT_EQ(Refusal({Prefix(tokens, {}, few)}), "");
  const std::vector<Extra> many(3000, Extra{0, 4000, "h"});
  EXPECT_THAT(Refusal({Prefix(tokens, {}, many)}), HasSubstr("segment 0: extras overlap blocks"));
}

TEST(PromptLayoutTest, AnErrorChangesNothingAndStays) {
  PromptLayout layout({.block_tokens = 4, .positions_max = 3});
  ASSERT_TRUE(layout.Append({1, 2}).ok());
  const absl::Status first = layout.Append({3, 4});
  EXPECT_FALSE(first.ok());
  EXPECT_EQ(layout.Append({3}), first);
  EXPECT_EQ(layout.BeginSegment({}), first);
  EXPECT_EQ(layout.EndPrompt(), first);
  EXPECT_THAT(layout.tokens(), ElementsAre(1, 2));
  EXPECT_EQ(layout.blocks().size(), 1u);
}

}  // namespace
}  // namespace cairn
