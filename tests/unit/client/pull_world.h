#ifndef CAIRN_TESTS_UNIT_CLIENT_PULL_WORLD_H_
#define CAIRN_TESTS_UNIT_CLIENT_PULL_WORLD_H_

#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "tests/unit/client/client_world.h"

namespace cairn {

// A client that pulls from a scripted node of another host into `landing_`.
class PullWorld : public ClientWorld {
 protected:
  static constexpr std::size_t kTargets = 4;

  PullWorld() : landing_(kTargets * kBlock), sent_(kBlock) {
    std::memset(sent_.data(), 's', sent_.size());
  }
  PullTarget Target(std::size_t i, std::uint64_t bytes = kBlock) {
    return PullTarget{absl::MakeSpan(landing_).subspan(i * kBlock, bytes),
                      [this, i] { ++returned_[i]; }};
  }
  char LandedByte(std::size_t target) const {
    return static_cast<char>(landing_[target * kBlock + 11]);
  }
  // ACQUIRE that wants to pull `count` keys into the first targets.
  void AskPull(std::size_t count, absl::Duration within = absl::Seconds(1),
               std::uint64_t target_bytes = kBlock) {
    AcquireRequest request;
    request.deadline = After(within);
    request.want = wire::Want::kPull;
    for (std::size_t i = 0; i < count; ++i) {
      request.keys.push_back(TestDigest(static_cast<std::uint8_t>(i)));
      request.targets.push_back(Target(i, target_bytes));
    }
    client_->Acquire(std::move(request),
                     [this](AcquireAnswer answer) { answer_ = std::move(answer); });
  }
  wire::Acquire Asked() {
    EXPECT_TRUE(
        world_.RunUntil([&] { return node_->Count(wire::Type::kAcquire) > 0; }, absl::Seconds(1)));
    return *wire::DecodeAcquire(node_->Last(wire::Type::kAcquire));
  }
  wire::Descriptor HitOf(std::uint32_t index) {
    wire::Descriptor hit;
    hit.index = index;
    hit.bytes = kBlock;
    hit.checksum = ChecksumOf(sent_);
    hit.depth = 16;
    return hit;
  }
  void Reply(RequestId request, std::vector<wire::Descriptor> hits) {
    wire::Acquired m;
    m.request = request;
    m.pin = hits.empty() ? PinId(0) : PinId(5);
    m.hits = std::move(hits);
    node_->Say(wire::Type::kAcquired, wire::Encode(m));
  }
  void SendData(RequestId request, std::uint32_t index) {
    node_->SayBulk(wire::Type::kPullData,
                   wire::Encode(wire::PullData{request, index, sent_.size(), ChecksumOf(sent_)}),
                   sent_);
  }
  // One key is asked for and hit, and its bytes are sent.
  void AskAndSend(absl::Duration within = absl::Seconds(1), std::uint64_t target_bytes = kBlock) {
    AskPull(1, within, target_bytes);
    const wire::Acquire asked = Asked();
    Reply(asked.request, {HitOf(0)});
    SendData(asked.request, 0);
  }
  bool RunUntilTold() {
    return world_.RunUntil([this] { return answer_.has_value(); }, absl::Seconds(5));
  }
  KeyResult ResultOf(std::size_t key) const { return answer_->keys[key].result; }
  // A pin of the live session, by an ACQUIRE in place; `count` remote hits.
  HeldPin Pinned(std::uint32_t count) {
    AcquireRequest request;
    request.deadline = After(absl::Seconds(1));
    std::vector<wire::Descriptor> hits;
    for (std::uint32_t i = 0; i < count; ++i) {
      request.keys.push_back(TestDigest(static_cast<std::uint8_t>(i)));
      hits.push_back(HitOf(i));
    }
    client_->Acquire(std::move(request),
                     [this](AcquireAnswer answer) { answer_ = std::move(answer); });
    Reply(Asked().request, hits);
    EXPECT_TRUE(RunUntilTold());
    for (std::uint32_t i = 0; i < count; ++i) {
      EXPECT_EQ(ResultOf(i), KeyResult::kHit);
      EXPECT_TRUE(answer_->keys[i].block.bytes.empty());
      EXPECT_EQ(answer_->keys[i].entry_bytes, kBlock);
    }
    EXPECT_EQ(answer_->mapping, nullptr);
    return std::move(answer_->pin);
  }
  std::vector<PullItem> Items(std::uint32_t count) {
    std::vector<PullItem> items;
    for (std::uint32_t i = 0; i < count; ++i) {
      items.push_back(PullItem{i, kBlock, ChecksumOf(sent_), Target(i)});
    }
    return items;
  }
  void Pull(const HeldPin& pin, std::uint32_t count, absl::Duration within = absl::Seconds(1)) {
    client_->Pull(pin, Items(count), After(within),
                  [this](std::vector<KeyResult> results) { pulled_ = std::move(results); });
    EXPECT_FALSE(pulled_.has_value()) << "told inside the call";
  }
  wire::Pull PullAsked() {
    EXPECT_TRUE(
        world_.RunUntil([&] { return node_->Count(wire::Type::kPull) > 0; }, absl::Seconds(1)));
    return *wire::DecodePull(node_->Last(wire::Type::kPull));
  }
  bool RunUntilPulled() {
    return world_.RunUntil([this] { return pulled_.has_value(); }, absl::Seconds(5));
  }
  void ExpectAllReturned(std::size_t count) {
    for (std::size_t i = 0; i < kTargets; ++i) EXPECT_EQ(returned_[i], i < count ? 1 : 0) << i;
  }

  std::vector<std::byte> landing_;
  std::vector<std::byte> sent_;
  int returned_[kTargets] = {};
  std::optional<AcquireAnswer> answer_;
  std::optional<std::vector<KeyResult>> pulled_;
};

}  // namespace cairn
#endif  // CAIRN_TESTS_UNIT_CLIENT_PULL_WORLD_H_
