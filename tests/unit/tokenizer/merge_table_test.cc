#include "libs/tokenizer/merge_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <utility>
#include <vector>

#include "libs/base/rng.h"

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using Ids = std::vector<std::uint32_t>;

Ids Applied(const MergeTable& table, const Ids& ids) {
  MergeTable::Scratch scratch;
  for (std::uint32_t id : ids) scratch.symbols.push_back({id, 0, 0});
  Ids out;
  table.Apply(scratch, out);
  return out;
}

TEST(MergeTableTest, LowestRankGoesFirst) {
  MergeTable table;
  EXPECT_TRUE(table.Add(1, 2, 1, 12));
  EXPECT_TRUE(table.Add(2, 3, 0, 23));
  EXPECT_FALSE(table.Add(2, 3, 2, 99)) << "a pair has one merge";
  EXPECT_THAT(Applied(table, {1, 2, 3}), ElementsAre(1, 23));
  EXPECT_THAT(Applied(table, {1, 2, 1}), ElementsAre(12, 1));
  EXPECT_THAT(Applied(table, {}), ElementsAre());
  EXPECT_THAT(Applied(table, {3}), ElementsAre(3));
}

TEST(MergeTableTest, LeftmostOfEqualsGoesFirst) {
  MergeTable table;
  table.Add(1, 1, 0, 2);
  EXPECT_THAT(Applied(table, {1, 1, 1}), ElementsAre(2, 1));
  EXPECT_THAT(Applied(table, {1, 1, 1, 1, 1}), ElementsAre(2, 2, 1));
}

// The definition: find the best pair, join it, start again.
Ids ByDefinition(const std::map<std::pair<std::uint32_t, std::uint32_t>,
                                std::pair<std::uint32_t, std::uint32_t>>& merges,
                 Ids ids) {
  while (true) {
    std::uint32_t best_rank = UINT32_MAX;
    std::size_t best = 0;
    for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
      const auto at = merges.find({ids[i], ids[i + 1]});
      if (at == merges.end() || at->second.first >= best_rank) continue;
      best_rank = at->second.first;
      best = i;
    }
    if (best_rank == UINT32_MAX) return ids;
    ids[best] = merges.at({ids[best], ids[best + 1]}).second;
    ids.erase(ids.begin() + best + 1);
  }
}

TEST(MergeTableTest, RandomMergesEqualTheDefinition) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Rng rng(seed);
    MergeTable table;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::pair<std::uint32_t, std::uint32_t>>
        merges;
    const std::uint32_t letters = static_cast<std::uint32_t>(rng.Between(2, 4));
    std::uint32_t next_id = letters;
    for (std::uint32_t rank = 0; rank < 20; ++rank) {
      const auto left = static_cast<std::uint32_t>(rng.Below(next_id));
      const auto right = static_cast<std::uint32_t>(rng.Below(next_id));
      if (!table.Add(left, right, rank, next_id)) continue;
      merges[{left, right}] = {rank, next_id++};
    }
    Ids ids(rng.Below(60));
    for (std::uint32_t& id : ids) id = static_cast<std::uint32_t>(rng.Below(letters));
    ASSERT_THAT(Applied(table, ids), ElementsAreArray(ByDefinition(merges, ids)))
        << "seed " << seed;
  }
}

// Quadratic time would not end within the test's limit.
TEST(MergeTableTest, LongRunsMergeToTheEnd) {
  MergeTable table;
  for (std::uint32_t i = 0; i < 6; ++i) table.Add(i, i, i, i + 1);
  const Ids out = Applied(table, Ids((1 << 18) + 3, 0));
  ASSERT_EQ(out.size(), (1u << 12) + 2);
  EXPECT_EQ(out.front(), 6u);
  EXPECT_EQ(out.back(), 0u);
}

}  // namespace
}  // namespace cairn
