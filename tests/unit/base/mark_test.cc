#include "libs/base/mark.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

void Reach(int times) {
  for (int i = 0; i < times; ++i) CAIRN_COVERED("mark_test_branch");
}

TEST(MarkTest, HitsAreCountedByName) {
  Reach(3);
  for (const MarkCount& mark : MarkCounts()) {
    if (mark.name == "mark_test_branch") {
      EXPECT_EQ(mark.hits, 3u);
      return;
    }
  }
  FAIL() << "mark not listed";
}

}  // namespace
}  // namespace cairn
