#include "libs/placement/trie_problem.h"

#include <gtest/gtest.h>

#include "libs/placement/limits.h"

namespace cairn::placement {
namespace {

TEST(TrieProblemTest, AClaimResumesAtItsNearestStateAbove) {
  const TrieProblem trie = {{},
                            {.parent = 0, .cost = 2, .weight = 1},
                            {.parent = 1, .cost = 5, .weight = 10, .is_held = true},
                            {.parent = 1, .cost = 7, .weight = 3},
                            {.parent = 2, .cost = 9, .weight = 2}};
  EXPECT_EQ(TrieSaved(trie, {}), 0);
  EXPECT_EQ(TrieSaved(trie, {1}), 1 * 2 + 3 * 2);
  EXPECT_EQ(TrieSaved(trie, {4}), 2 * (9 - 5));
  EXPECT_EQ(TrieSaved(trie, {2}), 0);
  EXPECT_EQ(TrieSaved(trie, {1, 3, 4}), 2 + 3 * 7 + 8);
}

TEST(TrieProblemTest, RefusesWhatIsNoTrie) {
  EXPECT_TRUE(ValidateTrie({{}}, 1).ok());
  EXPECT_FALSE(ValidateTrie({}, 1).ok());
  EXPECT_FALSE(ValidateTrie({{}, {}}, 1).ok());
  EXPECT_FALSE(ValidateTrie({{.cost = 1}}, 9).ok());
  EXPECT_FALSE(ValidateTrie({{}, {.parent = 1}}, 9).ok());
  EXPECT_FALSE(ValidateTrie({{}, {.parent = 0, .cost = 3}, {.parent = 1, .cost = 2}}, 9).ok());
  EXPECT_FALSE(ValidateTrie({{}, {.parent = 0, .weight = -1}}, 9).ok());
  EXPECT_FALSE(ValidateTrie({{}, {.parent = 0, .cost = limits::kCostMax + 1}}, 9).ok());
  EXPECT_FALSE(
      ValidateTrie({{}, {.cost = limits::kCostMax, .weight = std::int64_t{1} << 22}}, 9).ok());
}

}  // namespace
}  // namespace cairn::placement
