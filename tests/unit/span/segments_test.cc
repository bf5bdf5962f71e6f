#include "libs/span/segments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cairn {
namespace {

using ::testing::ElementsAre;

constexpr SegmentKind kPrefix = SegmentKind::kPrefix;
constexpr SegmentKind kSpan = SegmentKind::kSpan;
constexpr SegmentKind kDependent = SegmentKind::kDependent;

TEST(SegmentsTest, KindNamesRoundTrip) {
  for (SegmentKind kind : {kPrefix, kSpan, kDependent}) {
    EXPECT_EQ(ParseSegmentKind(SegmentKindName(kind)).value(), kind);
  }
  EXPECT_EQ(ParseSegmentKind("Span").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(ParseSegmentKind("").ok());
}

TEST(SegmentsTest, TextIsDependentAfterASpanOrBaseAndOnlyThen) {
  EXPECT_EQ(EffectiveKind(kPrefix, false, true), kDependent);
  EXPECT_EQ(EffectiveKind(kPrefix, true, false), kDependent);
  EXPECT_EQ(EffectiveKind(kDependent, false, false), kPrefix);
  EXPECT_EQ(EffectiveKind(kDependent, false, true), kDependent);
  EXPECT_EQ(EffectiveKind(kSpan, true, true), kSpan);
}

TEST(SegmentsTest, JoinsTextBeforeASpanAndAfterIt) {
  EXPECT_THAT(
      FindJoins({{{kPrefix}, {kPrefix}, {kDependent}, {kSpan}, {kSpan}, {kPrefix}, {kDependent}}},
                true),
      ElementsAre(false, true, true, false, false, false, true));
}

TEST(SegmentsTest, EmptySegmentsDoNotPartText) {
  EXPECT_THAT(FindJoins({{{kSpan, {}, true}, {kPrefix}, {kSpan, 9, true}, {kPrefix}}}, true),
              ElementsAre(false, false, false, true));
}

TEST(SegmentsTest, ABasePartsTextUnlessItIsThePromptsStart) {
  EXPECT_THAT(FindJoins({{{kPrefix, 0}, {kPrefix, 5}, {kPrefix}}}, true),
              ElementsAre(false, false, true));
}

TEST(SegmentsTest, ABasePartsDependentText) {
  EXPECT_THAT(FindJoins({{{kSpan}, {kDependent}, {kDependent, 50}, {kPrefix}}}, true),
              ElementsAre(false, false, false, true));
}

TEST(SegmentsTest, WithoutTheCapabilityAllTextJoins) {
  EXPECT_THAT(FindJoins({{{kPrefix}, {kSpan}, {kDependent}, {kSpan}}}, false),
              ElementsAre(false, true, true, true));
}

}  // namespace
}  // namespace cairn
