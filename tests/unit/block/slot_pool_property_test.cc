#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "libs/base/rng.h"
#include "tests/unit/block/pool_fixture.h"

// Random operations on a pool, beside a model that is a list of what each slot must be. After each
// step everything that the pool says is compared with the model.
namespace cairn {
namespace {

class SlotPoolPropertyTest : public PoolFixture, public testing::WithParamInterface<int> {
 protected:
  struct Model {
    SlotState state = SlotState::kFree;
    std::uint64_t word = 1;
    bool is_known = false;  // taken at least once since its segment got its size
  };

  void Step() {
    if (rng_.Chance(1, 50)) return EmptyOne();
    switch (rng_.Below(8)) {
      case 0:
      case 1:
        return TakeOne();
      case 2:
      case 3:
        return PublishOne();
      case 4:
        return DropOne();
      case 5:
        return EvictOne();
      case 6:
        return QuarantineOne();
      default:
        return rng_.Chance(1, 2) ? HoldOne() : LetGoOne();
    }
  }

  void TakeOne() {
    const std::uint64_t bytes = (rng_.Below(3) + 1) * 4 * kKiB;
    std::optional<FillingSlot> slot = pool().Take(bytes);
    if (!slot.has_value()) {
      std::set<SegmentId> in_use;
      for (const auto& [place, model] : model_) {
        EXPECT_FALSE(model.state == SlotState::kFree && pool().SlotBytesOf(place) == bytes)
            << "no room, and yet there is a free slot";
        if (model.state != SlotState::kFree) in_use.insert(place.segment);
      }
      EXPECT_EQ(pool().stats().segments_unassigned, 0u);
      EXPECT_EQ(in_use.size(), kSegments) << "no room, and yet a segment is empty";
      return;
    }
    const SegmentId segment = slot->place().segment;
    if (bytes_of_[segment] != bytes) Resized(segment, bytes);
    Model& model = model_[slot->place()];
    if (!model.is_known) model = {.word = first_word_[segment], .is_known = true};
    EXPECT_EQ(model.state, SlotState::kFree) << "a slot in use was given to a second writer";
    EXPECT_EQ(pool().SlotBytesOf(slot->place()), bytes);
    model.state = SlotState::kFilling;
    filling_.push_back(*std::move(slot));
  }

  void PublishOne() {
    if (filling_.empty()) return;
    FillingSlot slot = TakeAny(filling_);
    const bool is_torn = rng_.Chance(1, 4);
    const Place place = slot.place();
    const absl::StatusOr<ReadySlot> ready =
        std::move(slot).Publish({.offered = Checksum(7), .landed = Checksum(is_torn ? 8 : 7)});
    ASSERT_EQ(ready.ok(), !is_torn);
    model_[place].state = is_torn ? SlotState::kFree : SlotState::kReady;
    if (is_torn) return;
    EXPECT_TRUE(published_.emplace(place, ready->generation).second)
        << "two contents under one generation";
  }

  void DropOne() {
    if (filling_.empty()) return;
    model_[TakeAny(filling_).place()].state = SlotState::kFree;
  }

  void EvictOne() {
    const std::optional<Place> place = AnyIn({SlotState::kReady});
    if (!place.has_value()) return;
    pool().Evict(*place);
    Model& model = model_[*place];
    model.state = SlotState::kEvicting;
    if (held_.count(*place) == 0) Freed(model);
  }

  void QuarantineOne() {
    const std::optional<Place> place = AnyIn({SlotState::kReady, SlotState::kEvicting});
    if (!place.has_value()) return;
    pool().Quarantine(*place);
    Model& model = model_[*place];
    model.state = SlotState::kQuarantined;
    ++model.word;
    if (held_.count(*place) == 0) Freed(model);
  }

  // All that is ready goes, where that empties a segment.
  void EmptyOne() {
    const SegmentId segment(static_cast<std::uint32_t>(rng_.Below(kSegments)));
    bool could = bytes_of_[segment] != 0;
    bool is_held = false;
    std::vector<Place> ready;
    for (const auto& [place, model] : model_) {
      if (place.segment != segment) continue;
      could &= model.state == SlotState::kFree || model.state == SlotState::kReady;
      if (model.state == SlotState::kReady) ready.push_back(place);
      is_held |= held_.count(place) > 0;
    }
    ASSERT_EQ(pool().CouldEmpty(segment), could);
    if (!could || is_held) return;
    ASSERT_EQ(pool().ReadySlotsOf(segment), ready);
    for (const Place place : ready) {
      pool().Evict(place);
      model_[place].state = SlotState::kEvicting;
      Freed(model_[place]);
    }
    pool().Unassign(segment);
    Forget(segment);
  }

  void HoldOne() {
    const std::optional<Place> place = AnyIn({SlotState::kReady});
    if (!place.has_value()) return;
    Hold(*place);
    held_.insert(*place);
  }

  void LetGoOne() {
    if (held_.empty()) return;
    auto it = held_.begin();
    std::advance(it, rng_.Below(held_.size()));
    const Place place = *it;
    held_.erase(it);
    if (held_.count(place) == 0) {
      Model& model = model_[place];
      if (model.state == SlotState::kEvicting || model.state == SlotState::kQuarantined) {
        Freed(model);
      }
    }
    LetGo(place);
  }

  void CompareWithModel() {
    std::array<std::uint64_t, kSlotStates> bytes{};
    for (const auto& [place, model] : model_) {
      EXPECT_EQ(pool().StateOf(place), model.state);
      EXPECT_EQ(WordOf(place).value(), model.word);
      EXPECT_EQ(pool().GenerationOf(place).value(), model.word);
      bytes[static_cast<std::size_t>(model.state)] += pool().SlotBytesOf(place);
    }
    for (std::size_t i = 1; i < kSlotStates; ++i) {  // slots never taken are free, and unknown here
      EXPECT_EQ(pool().stats().states[i].bytes, bytes[i]);
    }
  }

  Rng rng_{static_cast<std::uint64_t>(GetParam())};
  std::vector<FillingSlot> filling_;

 private:
  void Forget(SegmentId segment) {
    for (const auto& [place, model] : model_) {
      if (place.segment == segment)
        words_seen_[segment] = std::max(words_seen_[segment], model.word);
    }
    std::erase_if(model_, [&](const auto& entry) { return entry.first.segment == segment; });
    bytes_of_[segment] = 0;
  }
  void Resized(SegmentId segment, std::uint64_t bytes) {
    Forget(segment);
    bytes_of_[segment] = bytes;
    const std::uint64_t first = pool().GenerationOf({segment, SlotId(0)}).value();
    EXPECT_GT(first, words_seen_[segment]) << "a word was given out twice, or went down";
    first_word_[segment] = first;
  }
  static void Freed(Model& model) {
    if (model.state == SlotState::kEvicting) ++model.word;
    model.state = SlotState::kFree;
  }
  FillingSlot TakeAny(std::vector<FillingSlot>& from) {
    const std::size_t at = rng_.Below(from.size());
    FillingSlot slot = std::move(from[at]);
    from.erase(from.begin() + static_cast<std::ptrdiff_t>(at));
    return slot;
  }
  std::optional<Place> AnyIn(const std::set<SlotState>& states) {
    std::vector<Place> places;
    for (const auto& [place, model] : model_) {
      if (states.count(model.state) > 0) places.push_back(place);
    }
    if (places.empty()) return std::nullopt;
    return places[rng_.Below(places.size())];
  }

  std::map<Place, Model> model_;
  std::map<SegmentId, std::uint64_t> bytes_of_;  // 0 or absent: unassigned, as far as we know
  std::map<SegmentId, std::uint64_t> first_word_;
  std::map<SegmentId, std::uint64_t> words_seen_;  // the highest
  std::multiset<Place> held_;
  std::set<std::pair<Place, Generation>> published_;
};

TEST_P(SlotPoolPropertyTest, PoolIsTheModelAfterEveryStep) {
  for (int step = 0; step < 2000 && !HasFailure(); ++step) {
    Step();
    CompareWithModel();
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, SlotPoolPropertyTest, testing::Range(1, 21));

}  // namespace
}  // namespace cairn
