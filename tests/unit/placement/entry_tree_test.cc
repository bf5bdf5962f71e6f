#include "libs/placement/entry_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "libs/base/rng.h"

namespace cairn::placement {
namespace {

// The trie spelt out: a node is the text that leads to it.
struct PlainTrie {
  std::vector<std::string> texts;
  std::map<std::string, std::set<EntryTree::World>> states;
  std::map<std::string, BranchPoint> branches;

  std::uint32_t Deepest(EntryTree::World world, const std::string& text, std::uint32_t depth) {
    for (; depth > 0; --depth) {
      if (states[text.substr(0, depth)].contains(world)) return depth;
    }
    return 0;
  }
};

std::string RandomText(Rng& rng) {
  std::string text;
  for (std::uint64_t left = 1 + rng.Below(8); left > 0; --left) {
    text.push_back(static_cast<char>('a' + rng.Below(2)));
  }
  return text;
}

std::uint32_t Agreement(const std::string& a, const std::string& b) {
  const auto end = std::mismatch(
      a.begin(), a.begin() + static_cast<std::ptrdiff_t>(std::min(a.size(), b.size())), b.begin());
  return static_cast<std::uint32_t>(end.first - a.begin());
}

TEST(EntryTreeTest, IsTheTrieOfTheTexts) {
  Rng rng(50);
  for (int round = 0; round < 200; ++round) {
    EntryTree tree;
    PlainTrie plain;
    for (int step = 0; step < 40; ++step) {
      const std::string text = RandomText(rng);
      std::optional<EntryTree::Entry> matched;
      std::uint32_t shared = 0;
      for (EntryTree::Entry e = 0; e < plain.texts.size(); ++e) {
        if (Agreement(text, plain.texts[e]) >= std::max(shared, 1u)) {
          matched = e;
          shared = Agreement(text, plain.texts[e]);
        }
      }
      const auto length = static_cast<std::uint32_t>(text.size());
      const EntryTree::Entry entry = tree.Add(matched, shared, length);
      ASSERT_EQ(entry, plain.texts.size());
      plain.texts.push_back(text);
      const auto world = static_cast<EntryTree::World>(rng.Below(EntryTree::kWorldsMax));
      const std::uint32_t depth = 1 + static_cast<std::uint32_t>(rng.Below(length));
      const std::string node = text.substr(0, depth);
      ASSERT_EQ(tree.Put(world, entry, depth), plain.states[node].insert(world).second);
      const std::uint32_t end = static_cast<std::uint32_t>(rng.Below(5));
      BranchPoint& branch = plain.branches[node];
      if (branch.claims == 0) branch = {.depth = depth, .claims = 0, .parted_before_end = end};
      const BranchPoint before = tree.AddClaim(entry, depth, end);
      ASSERT_EQ(before.claims, branch.claims++);
      ASSERT_EQ(before.parted_before_end, branch.parted_before_end);
    }
    for (EntryTree::Entry entry = 0; entry < plain.texts.size(); ++entry) {
      const std::string& text = plain.texts[entry];
      for (std::uint32_t depth = 0; depth <= text.size(); ++depth) {
        for (EntryTree::World world = 0; world < EntryTree::kWorldsMax; ++world) {
          ASSERT_EQ(tree.Deepest(world, entry, depth), plain.Deepest(world, text, depth));
          ASSERT_EQ(tree.Has(world, entry, depth),
                    depth > 0 && plain.Deepest(world, text, depth) == depth);
        }
      }
      const auto length = static_cast<std::uint32_t>(text.size());
      std::vector<std::uint32_t> claims;
      for (const BranchPoint& b : tree.Branches(entry, 1, length)) claims.push_back(b.claims);
      std::vector<std::uint32_t> expected;
      std::vector<std::uint32_t> states;
      for (std::uint32_t depth = 2; depth <= length; ++depth) {
        const auto branch = plain.branches.find(text.substr(0, depth));
        if (branch != plain.branches.end()) expected.push_back(branch->second.claims);
        if (plain.states[text.substr(0, depth)].contains(3)) states.push_back(depth);
      }
      ASSERT_EQ(claims, expected);
      ASSERT_EQ(tree.States(3, entry, 1, length), states);
    }
  }
}

TEST(EntryTreeTest, ManyEntriesWithOneHeadStandSideBySide) {
  EntryTree tree;
  EntryTree::Entry last = tree.Add(std::nullopt, 0, 10);
  EXPECT_TRUE(tree.Put(0, last, 4));
  for (int i = 0; i < 100000; ++i) last = tree.Add(last, 5, 10);  // each agrees with the one before
  EXPECT_EQ(tree.Deepest(0, last, 10), 4u);                       // and a look is still short
}

}  // namespace
}  // namespace cairn::placement
