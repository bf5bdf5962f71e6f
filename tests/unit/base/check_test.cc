#include "libs/base/check.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

TEST(CheckTest, FailurePrintsConditionAndContext) {
  const int slot = 7;
  EXPECT_DEATH(CAIRN_CHECK(slot == 8) << "slot " << slot, "slot == 8.*slot 7");
}

TEST(CheckTest, TrueConditionEvaluatesNoContext) {
  int evaluated = 0;
  CAIRN_CHECK(true) << ++evaluated;
  EXPECT_EQ(evaluated, 0);
}

}  // namespace
}  // namespace cairn
