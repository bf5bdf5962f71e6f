#include "libs/placement/branch_law.h"

#include <gtest/gtest.h>

namespace cairn::placement {
namespace {

TEST(BranchLawTest, ExpectsWhatPointsWithAsManyClaimsWentOnToGet) {
  BranchLaw law;
  for (int point = 0; point < 1000; ++point) {
    const std::uint32_t claims = point % 2 == 0 ? 1 : 5;
    for (std::uint32_t k = 0; k < claims; ++k) law.Observe(k, 100);
  }
  EXPECT_NEAR(law.Expected(1, 100), 2, 0.1);  // half got four more
  EXPECT_NEAR(law.Expected(2, 100), 3, 0.1);  // those all got three more
  EXPECT_NEAR(law.Expected(5, 100), 0, 0.1);
}

TEST(BranchLawTest, KeepsContinuedEndsApartFromSharedHeads) {
  BranchLaw law;
  for (int point = 0; point < 1000; ++point) law.Observe(0, 0);
  for (std::uint32_t k = 0; k < 1000; ++k) law.Observe(k, 50);
  EXPECT_LT(law.Expected(1, 0), 0.1);
  EXPECT_GT(law.Expected(10, 50), 50);
}

TEST(BranchLawTest, AClassWithoutPointsTakesTheExpectationOfAll) {
  BranchLaw law;
  for (int point = 0; point < 1000; ++point) {
    law.Observe(0, 0);
    law.Observe(1, 0);
  }
  EXPECT_NEAR(law.Expected(1, 3), law.Expected(1, 0), 0.01);
}

TEST(BranchLawTest, AnyNumberOfClaimsIsLegal) {
  BranchLaw law;
  law.Observe(4294967295u, 4294967295u);
  EXPECT_GE(law.Expected(4294967295u, 4294967295u), 0);
  EXPECT_GE(law.Expected(0, 0), 0);
}

TEST(BranchLawTest, SavedCountsReadBackAndHalfOfThemDoNot) {
  BranchLaw law;
  for (std::uint32_t claims = 0; claims < 40; ++claims) law.Observe(claims, claims % 12);
  ByteWriter out;
  law.Save(out);
  const std::string bytes = std::move(out).Take();
  BranchLaw read;
  ByteReader in(bytes);
  read.Load(in);
  ASSERT_TRUE(in.at_end());
  for (std::uint32_t claims = 1; claims < 70; ++claims) {
    for (const std::uint32_t parted : {0u, 5u, 50u}) {
      EXPECT_EQ(read.Expected(claims, parted), law.Expected(claims, parted));
    }
  }
  ByteReader half(absl::string_view(bytes).substr(0, bytes.size() / 2));
  read.Load(half);
  EXPECT_FALSE(half.ok());
}

}  // namespace
}  // namespace cairn::placement
