#include "tests/unit/kernels_host/tier_test.h"

namespace cairn::host {
namespace {

TEST(HostOpsTest, AutoIsTheFastestRunnableTier) {
  ASSERT_FALSE(RunnableHostOps().empty());
  EXPECT_EQ(SelectHostOps("auto"), RunnableHostOps().back());
}

TEST(HostOpsTest, PlainRunsEverywhere) {
  ASSERT_NE(SelectHostOps("plain"), nullptr);
  EXPECT_EQ(RunnableHostOps().front(), SelectHostOps("plain"));
}

TEST(HostOpsTest, UnknownTierIsNull) {
  EXPECT_EQ(SelectHostOps("avx1024"), nullptr);
  EXPECT_EQ(SelectHostOps(""), nullptr);
}

TEST(HostOpsTest, TiersAreCompleteAndNamedApart) {
  std::vector<std::string> names;
  for (const HostOps* ops : RunnableHostOps()) {
    EXPECT_NE(ops->gemm, nullptr);
    EXPECT_NE(ops->rotate, nullptr);
    for (const std::string& other : names) EXPECT_NE(other, ops->numerics);
    names.emplace_back(ops->numerics);
  }
}

TEST(HostOpsTest, PartsCoverTheRangeOnce) {
  for (const std::size_t count : {0u, 1u, 7u, 96u, 97u}) {
    for (const std::size_t parts : {1u, 2u, 3u, 200u}) {
      for (const std::size_t step : {1u, 2u, 8u}) {
        std::size_t at = 0;
        for (std::size_t part = 0; part < parts; ++part) {
          const Range range = PartOf(count, part, parts, step);
          EXPECT_EQ(range.begin, at);
          EXPECT_TRUE(range.begin % step == 0 || range.begin == count);
          at = range.end;
        }
        EXPECT_EQ(at, count);
      }
    }
  }
}

}  // namespace
}  // namespace cairn::host
