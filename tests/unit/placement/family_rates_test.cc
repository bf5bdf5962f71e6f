#include "libs/placement/family_rates.h"

#include <gtest/gtest.h>

namespace cairn::placement {
namespace {

TEST(FamilyRatesTest, FamilyZeroHasNoTableAndTeachesThePool) {
  FamilyRates families(4);
  EXPECT_TRUE(families.Claim(0, 1, 2));
  EXPECT_TRUE(families.Expose(0, 1, 2));
  EXPECT_EQ(families.size(), 0u);
  EXPECT_EQ(families.Find(0, 1), nullptr);
}

TEST(FamilyRatesTest, EachFamilyAndClassCountsForItself) {
  FamilyRates families(4);
  families.Expose(7, 1, 3);
  EXPECT_TRUE(families.Claim(7, 1, 2));
  families.Expose(8, 1, 3);
  ASSERT_NE(families.Find(7, 1), nullptr);
  EXPECT_DOUBLE_EQ(families.Find(7, 1)->settled().Claims(), 1);
  EXPECT_DOUBLE_EQ(families.Find(8, 1)->settled().Claims(), 0);
  EXPECT_EQ(families.Find(7, 2), nullptr);
}

TEST(FamilyRatesTest, TheLeastRecentlyUsedTableGoes) {
  FamilyRates families(2);
  families.Expose(1, 0, 1);
  families.Expose(2, 0, 1);
  families.Expose(1, 0, 1);
  families.Expose(3, 0, 1);
  EXPECT_EQ(families.size(), 2u);
  EXPECT_NE(families.Find(1, 0), nullptr);
  EXPECT_EQ(families.Find(2, 0), nullptr);
}

TEST(FamilyRatesTest, OneFamilyTeachesThePoolOnlySoMuch) {
  FamilyRates families(4);
  std::uint32_t pooled = 0;
  for (int i = 0; i < 100000; ++i) {
    families.Expose(5, 0, 1);
    pooled += families.Claim(5, 0, 1) ? 1 : 0;
    pooled += families.Claim(5, 0, 1) ? 1 : 0;
  }
  EXPECT_EQ(pooled, FamilyRates::kPooledClaimsMax);
  EXPECT_FALSE(families.Expose(5, 0, 1));
  EXPECT_FALSE(families.MayTeach(5, 0));
  EXPECT_TRUE(families.MayTeach(6, 0));
}

TEST(FamilyRatesTest, ClaimsOnEntriesThatWereNeverThereTeachOnlyTheFamily) {
  FamilyRates families(4);
  families.Expose(5, 0, 1);
  std::uint32_t pooled = 0;
  for (int i = 0; i < 100; ++i) pooled += families.Claim(5, 0, 1) ? 1 : 0;
  EXPECT_EQ(pooled, FamilyRates::kClaimsPerExposureMax);
  EXPECT_DOUBLE_EQ(families.Find(5, 0)->settled().Claims(), 100);
}

TEST(FamilyRatesTest, ATableThatTakesThePlaceOfAnotherKnowsNothingOfIt) {
  FamilyRates families(1);
  for (int i = 0; i < 300; ++i) {
    families.Expose(1, 0, 9);
    families.Claim(1, 0, 4);
  }
  EXPECT_FALSE(families.MayTeach(1, 0));
  EXPECT_TRUE(families.Expose(2, 0, 9));
  EXPECT_EQ(families.Find(1, 0), nullptr);
  EXPECT_TRUE(families.MayTeach(1, 0));
  EXPECT_TRUE(families.MayTeach(2, 0));
  ASSERT_NE(families.Find(2, 0), nullptr);
  EXPECT_DOUBLE_EQ(families.Find(2, 0)->settled().Claims(), 0);
  EXPECT_DOUBLE_EQ(families.Find(2, 0)->settled().Exposures(), 1);
}

TEST(FamilyRatesTest, WeightReachesThePoolUpToTheBoundAndOneClaimMore) {
  FamilyRates families(4);
  std::uint32_t pooled = 0;
  for (int i = 0; i < 1000; ++i) {
    families.Expose(5, 0, 1, 4);
    pooled += families.Claim(5, 0, 1, 16) ? 16 : 0;
  }
  EXPECT_LE(pooled, FamilyRates::kPooledClaimsMax + 15);
  EXPECT_GE(pooled, FamilyRates::kPooledClaimsMax - 16);
  EXPECT_DOUBLE_EQ(families.Find(5, 0)->settled().Claims(), 16000);
}

TEST(FamilyRatesTest, ATableIsFoundAgainAfterOthersHaveMovedIt) {
  FamilyRates families(1000);
  for (std::uint64_t other = 2; other < 800; ++other) {
    families.Claim(1, 0, 3);
    families.Claim(other, 0, 3);
  }
  EXPECT_DOUBLE_EQ(families.Find(1, 0)->settled().Claims(), 798);
  for (std::uint64_t other = 2; other < 800; ++other) {
    EXPECT_DOUBLE_EQ(families.Find(other, 0)->settled().Claims(), 1) << other;
  }
}

std::string SavedBytes(const FamilyRates& rates) {
  ByteWriter out;
  rates.Save(out);
  return std::move(out).Take();
}

TEST(FamilyRatesTest, SavedTablesReadBackWithWhatTheyMayTeachAndTheirOrder) {
  FamilyRates rates(3);
  for (std::uint32_t i = 0; i < FamilyRates::kPooledExposuresMax; ++i) rates.Expose(7, 1, 10);
  rates.Expose(8, 1, 10);
  rates.Claim(8, 1, 2);
  rates.Expose(7, 1, 10);  // 8 is now the least recently used
  const std::string bytes = SavedBytes(rates);
  FamilyRates read(2);
  ByteReader in(bytes);
  read.Load(in);
  ASSERT_TRUE(in.at_end());
  EXPECT_EQ(SavedBytes(read), bytes);
  EXPECT_FALSE(read.MayTeach(7, 1));
  EXPECT_TRUE(read.MayTeach(8, 1));
  EXPECT_EQ(read.Find(8, 1)->settled().Claims(), 1);
  read.Expose(9, 1, 10);
  EXPECT_EQ(read.Find(8, 1), nullptr);
  EXPECT_NE(read.Find(7, 1), nullptr);
  FamilyRates smaller(1);
  ByteReader again(bytes);
  smaller.Load(again);
  ASSERT_TRUE(again.at_end());
  EXPECT_NE(smaller.Find(7, 1), nullptr);
  EXPECT_EQ(smaller.size(), 1u);
}

TEST(FamilyRatesTest, ATableTwiceOrOfNoFamilyOrCutShortIsRefused) {
  FamilyRates rates(2);
  rates.Expose(7, 1, 10);
  rates.Expose(8, 1, 10);
  const std::string bytes = SavedBytes(rates);
  std::string twice = bytes;
  const std::size_t second = 4 + (bytes.size() - 4) / 2;
  twice[second] = 7;
  std::string nobody = bytes;
  nobody[4] = 0;
  for (const std::string& bad : {twice, nobody, bytes.substr(0, bytes.size() - 1)}) {
    FamilyRates read(2);
    ByteReader in(bad);
    read.Load(in);
    EXPECT_FALSE(in.ok());
  }
}

}  // namespace
}  // namespace cairn::placement
