#include "libs/placement/adaptive_rates.h"

#include <gtest/gtest.h>

#include "libs/base/rng.h"

namespace cairn::placement {
namespace {

TEST(AdaptiveRatesTest, ASteadyLawIsNeverForgotten) {
  Rng rng(40);
  AdaptiveRates rates;
  for (int i = 0; i < 20000; ++i) {
    rates.Expose(50);
    rates.Claim(static_cast<std::uint32_t>(rng.Below(50)));
  }
  EXPECT_EQ(rates.jumps(), 0u);
  EXPECT_DOUBLE_EQ(rates.settled().Claims(), 20000);
}

TEST(AdaptiveRatesTest, AfterAJumpTheNewLawIsTheLikelierOneWithinAHundredClaims) {
  AdaptiveRates rates;
  for (int i = 0; i < 100000; ++i) {
    rates.Expose(50);
    rates.Claim(0);
  }
  for (int i = 0; i < 100; ++i) {
    rates.Expose(50);
    rates.Claim(30);
  }
  EXPECT_GE(rates.jumps(), 1u);
  double at_thirty = 0;  // positions of a bin share its claims
  const std::uint32_t bin = DistanceBin(30);
  for (std::uint32_t d = DistanceBinStart(bin); d < DistanceBinStart(bin + 1); ++d) {
    at_thirty += rates.Rate(d, 0, 1e-9);
  }
  EXPECT_GT(at_thirty, rates.Rate(0, 0, 1e-9));
}

TEST(AdaptiveRatesTest, ALawThatJumpsBeforeOrAfterTheRecentTableBeginsIsFollowed) {
  for (const int before : {5, 11, 12, 13, 20, 60, 150}) {
    AdaptiveRates rates;
    for (int i = 0; i < before; ++i) rates.Claim(0);
    for (int i = 0; i < 100; ++i) rates.Claim(30);
    EXPECT_GT(rates.settled().ClaimsIn(DistanceBin(30)), rates.settled().ClaimsIn(0)) << before;
    EXPECT_EQ(rates.jumps() > 0, before >= 150) << before;  // else counts alone tell
  }
}

TEST(AdaptiveRatesTest, ClearedItStartsAnew) {
  AdaptiveRates rates;
  for (int i = 0; i < 200; ++i) rates.Claim(0);
  for (int i = 0; i < 200; ++i) rates.Claim(30);
  ASSERT_GE(rates.jumps(), 1u);
  for (int i = 0; i < 200; ++i) rates.Claim(0);
  rates.Clear();
  EXPECT_EQ(rates.jumps(), 0u);
  EXPECT_DOUBLE_EQ(rates.settled().Claims(), 0);
  for (int i = 0; i < 200; ++i) rates.Claim(30);
  EXPECT_EQ(rates.jumps(), 0u);  // no memory of distance 0
  EXPECT_DOUBLE_EQ(rates.settled().Claims(), 200);
}

TEST(AdaptiveRatesTest, SavedRatesNoticeTheSameJumpAsThoseThatLivedOn) {
  AdaptiveRates rates;
  for (int i = 0; i < 1000; ++i) {
    rates.Expose(50);
    rates.Claim(0);
  }
  ByteWriter out;
  rates.Save(out);
  const std::string bytes = std::move(out).Take();
  AdaptiveRates read;
  ByteReader in(bytes);
  read.Load(in);
  ASSERT_TRUE(in.at_end());
  for (int i = 0; i < 100; ++i) {
    for (AdaptiveRates* each : {&rates, &read}) {
      each->Expose(50);
      each->Claim(30);
    }
    EXPECT_EQ(read.jumps(), rates.jumps()) << i;
  }
  EXPECT_GE(read.jumps(), 1u);
}

}  // namespace
}  // namespace cairn::placement
