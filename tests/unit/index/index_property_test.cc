#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "libs/base/rng.h"
#include "libs/index/index.h"
#include "tests/unit/index/index_fixture.h"

// Random operations on an Index, beside a model that knows each entry's parent by the number of its
// insertion and recounts children by looking at all entries.
namespace cairn {
namespace {

constexpr std::uint32_t kEntriesMax = 20;

class IndexPropertyTest : public testing::TestWithParam<int> {
 protected:
  struct Model {
    std::uint64_t birth = 0;  // number of its insertion
    Place place;
    std::uint64_t depth = 0;
    std::uint64_t parent_birth = 0;  // 0: none
    std::uint32_t elsewhere = 0;
  };

  void Step() {
    switch (rng_.Below(6)) {
      case 0:
      case 1:
      case 2:
        return Insert();
      case 3:
        return Remove();
      case 4:
        return rng_.Chance(1, 2) ? AddChild() : DropChild();
      default:
        return Use();
    }
  }

  bool IsLeaf(const Model& model) const {
    for (const auto& [id, other] : model_) {
      if (other.parent_birth == model.birth) return false;
    }
    return model.elsewhere == 0;
  }

  void Insert() {
    const IndexKey id = AnyId();
    const IndexKey parent{id.root, AnyId().key};
    NewEntry entry{
        .id = id, .place = FreePlace(), .depth = rng_.Between(1, 6), .parent = parent.key};
    const bool is_refused = model_.count(id) > 0 || model_.size() == kEntriesMax;
    std::optional<Place> became_inner;
    Model model{.birth = ++births_, .place = entry.place, .depth = entry.depth};
    if (const auto it = model_.find(parent); it != model_.end() && it->second.depth < entry.depth) {
      model.parent_birth = it->second.birth;
      if (IsLeaf(it->second)) became_inner = it->second.place;
    }
    const Index::Inserted inserted = index_.Insert(entry, Instant());
    ASSERT_EQ(inserted.entry == nullptr, is_refused);
    if (is_refused) return;
    EXPECT_EQ(inserted.became_inner, became_inner);
    model_[id] = model;
    places_.insert(entry.place);
  }

  void Remove() {
    const IndexKey id = AnyId();
    const auto it = model_.find(id);
    const std::optional<Index::Removed> removed =
        it != model_.end() && rng_.Chance(1, 2)
            ? index_.RemoveAt(it->second.place, RemovalReason::kEvicted, Instant())
            : index_.Remove(id, RemovalReason::kEvicted, Instant());
    ASSERT_EQ(removed.has_value(), it != model_.end());
    if (!removed.has_value()) return;
    const Model gone = it->second;
    model_.erase(it);
    places_.erase(gone.place);
    std::optional<Place> became_leaf;
    for (const auto& [other_id, other] : model_) {
      if (other.birth == gone.parent_birth && IsLeaf(other)) became_leaf = other.place;
    }
    EXPECT_EQ(removed->became_leaf, became_leaf);
    EXPECT_EQ(removed->entry.place, gone.place);
  }

  void AddChild() {
    const IndexKey id = AnyId();
    const std::uint64_t depth = rng_.Between(1, 7);
    std::optional<Place> expected;
    if (const auto it = model_.find(id); it != model_.end() && it->second.depth < depth) {
      if (IsLeaf(it->second)) expected = it->second.place;
      ++it->second.elsewhere;
    }
    EXPECT_EQ(index_.AddChild(id, depth), expected);
  }

  void DropChild() {
    const IndexKey id = AnyId();
    std::optional<Place> expected;
    if (const auto it = model_.find(id); it != model_.end() && it->second.elsewhere > 0) {
      --it->second.elsewhere;
      if (IsLeaf(it->second)) expected = it->second.place;
    }
    EXPECT_EQ(index_.DropChild(id), expected);
  }

  void Use() {
    const IndexKey id = AnyId();
    EXPECT_EQ(index_.Use(id, EntryKind::kKvBlock, Instant()) != nullptr, model_.count(id) > 0);
  }

  void CompareWithModel() {
    ASSERT_EQ(index_.size(), model_.size());
    for (const auto& [id, model] : model_) {
      const Entry* entry = index_.Find(id);
      ASSERT_NE(entry, nullptr);
      EXPECT_EQ(entry, index_.AtPlace(model.place));
      std::uint32_t children = 0;
      for (const auto& [other_id, other] : model_) children += other.parent_birth == model.birth;
      EXPECT_EQ(entry->children_here, children);
      EXPECT_EQ(entry->children_elsewhere, model.elsewhere);
      EXPECT_EQ(entry->parent_link == ParentLink::kHere, model.parent_birth != 0);
    }
  }

  // All entries, read by cursor with changes in between: those that were there all the time come
  // exactly once.
  void ListWhileChanging() {
    std::map<IndexKey, std::uint64_t> stayed;
    for (const auto& [id, model] : model_) stayed[id] = model.birth;
    std::multiset<IndexKey> listed;
    std::uint32_t cursor = 0;
    do {
      const Index::Listing listing = index_.List(cursor, rng_.Between(1, 5));
      for (const Entry* entry : listing.entries) listed.insert(entry->id);
      cursor = listing.next_cursor;
      Step();
      std::erase_if(stayed, [this](const auto& line) {
        const auto it = model_.find(line.first);
        return it == model_.end() || it->second.birth != line.second;
      });
    } while (cursor != 0);
    for (const auto& [id, birth] : stayed) EXPECT_EQ(listed.count(id), 1u);
  }

  Rng rng_{static_cast<std::uint64_t>(GetParam())};

 private:
  IndexKey AnyId() {
    return IdOf(static_cast<std::uint32_t>(rng_.Below(16)), rng_.Chance(3, 4) ? kRoot : kOtherRoot);
  }
  Place FreePlace() {
    Place place = SlotAt(rng_.Below(100));
    while (places_.count(place) > 0) place = SlotAt(rng_.Below(100));
    return place;
  }

  Index index_{{.entries_max = kEntriesMax, .removals_remembered = 4}};
  std::map<IndexKey, Model> model_;
  std::set<Place> places_;
  std::uint64_t births_ = 0;
};

TEST_P(IndexPropertyTest, IndexIsTheModelAfterEveryStep) {
  for (int step = 0; step < 1500 && !HasFailure(); ++step) {
    Step();
    CompareWithModel();
    if (step % 50 == 0) ListWhileChanging();
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, IndexPropertyTest, testing::Range(1, 11));

}  // namespace
}  // namespace cairn
