#ifndef CAIRN_TESTS_UNIT_CLIENT_ACQUIRE_WORLD_H_
#define CAIRN_TESTS_UNIT_CLIENT_ACQUIRE_WORLD_H_

#include <optional>
#include <utility>
#include <vector>

#include "tests/unit/client/client_world.h"

namespace cairn {

// A client that asks, and a node that answers as a test bids.
class AcquireWorld : public ClientWorld {
 protected:
  static Place SlotAt(std::uint32_t slot) { return Place{SegmentId(1), SlotId(slot)}; }

  std::vector<Key> Keys(std::size_t count) {
    std::vector<Key> keys;
    for (std::size_t i = 0; i < count; ++i) {
      keys.push_back(TestDigest(static_cast<std::uint8_t>(i)));
    }
    return keys;
  }
  // Asks for `count` keys; the answer lands in answer_.
  void Ask(std::size_t count, absl::Duration within = absl::Seconds(1)) {
    Ask(AcquireRequest{.keys = Keys(count), .deadline = After(within)});
  }
  void Ask(AcquireRequest request) {
    answer_.reset();
    client_->Acquire(std::move(request), [this](AcquireAnswer answer) {
      EXPECT_FALSE(answer_.has_value()) << "told twice";
      answer_ = std::move(answer);
      ++answers_;
    });
    EXPECT_FALSE(answer_.has_value()) << "told inside the call";
  }
  bool RunUntilTold() {
    return world_.RunUntil([this] { return answer_.has_value(); }, absl::Seconds(5));
  }
  // What the node was last asked, once it has arrived.
  wire::Acquire Asked() {
    const std::size_t before = seen_;
    EXPECT_TRUE(world_.RunUntil(
        [&] { return node_->Count(wire::Type::kAcquire) > before; }, absl::Seconds(1)));
    seen_ = node_->Count(wire::Type::kAcquire);
    const auto asked = wire::DecodeAcquire(node_->Last(wire::Type::kAcquire));
    EXPECT_TRUE(asked.ok());
    return *asked;
  }
  void Reply(const wire::Acquire& asked, std::vector<wire::Descriptor> hits, PinId pin = PinId(5)) {
    wire::Acquired m;
    m.request = asked.request;
    m.pin = hits.empty() ? PinId(0) : pin;
    m.hits = std::move(hits);
    node_->Say(wire::Type::kAcquired, wire::Encode(m));
  }
  KeyResult ResultOf(std::size_t key) const { return answer_->keys[key].result; }
  std::vector<PinId> Released() {
    Settle();
    std::vector<PinId> pins;
    for (const ScriptedNode::Heard& heard : node_->heard()) {
      if (heard.type == wire::Type::kRelease) {
        const auto release = wire::DecodeRelease(heard.body);
        pins.insert(pins.end(), release->pins.begin(), release->pins.end());
      } else if (heard.type == wire::Type::kAcquire) {
        const auto acquire = wire::DecodeAcquire(heard.body);
        pins.insert(pins.end(), acquire->released.begin(), acquire->released.end());
      }
    }
    return pins;
  }
  // One key, hit in slot `slot` with `fill`.
  void HitOne(std::uint32_t slot, std::uint8_t fill, PinId pin = PinId(5)) {
    Ask(1);
    const wire::Descriptor hit = node_->Fill(0, SlotAt(slot), fill);
    Reply(Asked(), {hit}, pin);
    ASSERT_TRUE(RunUntilTold());
  }
  // The node gives `hit` for a key: no node does that, so the session ends.
  void ExpectEndsSession(const wire::Descriptor& hit) {
    ASSERT_TRUE(RunUntilUp());
    const std::uint64_t errors = stats().protocol_errors;
    Ask(2);
    Reply(Asked(), {hit});
    ASSERT_TRUE(RunUntilTold());
    EXPECT_EQ(ResultOf(0), KeyResult::kLost);
    EXPECT_EQ(stats().protocol_errors, errors + 1);
  }

  std::optional<AcquireAnswer> answer_;
  int answers_ = 0;
  std::size_t seen_ = 0;
};

}  // namespace cairn
#endif  // CAIRN_TESTS_UNIT_CLIENT_ACQUIRE_WORLD_H_
