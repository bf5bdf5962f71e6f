// What becomes of requests when the device cannot do a step.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>

#include "tests/unit/engine/engine_world.h"

namespace cairn {
namespace {

// A device of the CPU that fails when it is told to. It leaves behind what the contract allows:
// wrong results, and when it has failed for good rubbish in all blocks that the step would have
// written to.
class FaultyDevice : public Device {
 public:
  // Says what becomes of a step of so many rows.
  using Verdict = std::function<absl::Status(std::size_t rows)>;

  FaultyDevice(std::unique_ptr<Device> device, const Verdict& verdict)
      : device_(std::move(device)), verdict_(verdict) {}
  const ModelShape& shape() const override { return device_->shape(); }
  const KvLayout& layout() const override { return device_->layout(); }
  std::string numerics() const override { return device_->numerics(); }
  absl::Status Run(absl::Span<const StepChunk> chunks, StepOutput output) override {
    std::size_t rows = 0;
    for (const StepChunk& chunk : chunks) rows += chunk.tokens.size();
    const absl::Status status = verdict_(rows);
    if (status.ok()) return device_->Run(chunks, output);
    for (const StepChunk& chunk : chunks) {
      for (std::byte* block : chunk.writes) {
        if (absl::IsResourceExhausted(status)) continue;
        std::memset(block, 0x41, layout().block_bytes());
      }
    }
    for (float& logit : output.logits) logit = 1e30f;
    for (std::uint32_t& token : output.tokens) token = 95;
    return status;
  }

 private:
  const std::unique_ptr<Device> device_;
  const Verdict& verdict_;
};

class DeviceFailureTest : public testing::Test {
 protected:
  EngineWorld::Options WorldOptions() {
    EngineWorld::Options options{.has_cache = true};
    options.make_device = [this](const GgufFile& file, std::uint32_t block_tokens) {
      auto device = *HostDevice::Create(file, {.tier = "plain", .block_tokens = block_tokens});
      return std::make_unique<FaultyDevice>(std::move(device), verdict_);
    };
    return options;
  }
  std::vector<PromptSegment> Prompt(std::size_t tokens) {
    return {Prefix(RandomTokens(rng_, tokens))};
  }

  FaultyDevice::Verdict verdict_ = [](std::size_t) { return absl::OkStatus(); };
  Rng rng_{1};
};

TEST_F(DeviceFailureTest, AStepWithoutRoomIsTriedAgainWithFewerRows) {
  const std::vector<PromptSegment> prompts[] = {Prompt(70), Prompt(9)};
  EngineWorld sound({.tier = "plain"}), tight(WorldOptions());
  verdict_ = [](std::size_t rows) {
    return rows <= 5 ? absl::OkStatus() : absl::ResourceExhaustedError("no room");
  };
  for (const auto& prompt : prompts) {
    const Answer* wanted = sound.Submit(prompt, 6);
    const Answer* got = tight.Submit(prompt, 6);
    sound.RunAll();
    tight.RunAll();
    EXPECT_EQ(got->tokens, wanted->tokens);
    EXPECT_EQ(got->logits, wanted->logits);
  }
  // 32 rows, then 16, 8, 4: once for both.
  EXPECT_EQ(tight.engine->stats().steps_failed, 3u);
  EXPECT_EQ(tight.engine->stats().requests_failed, 0u);
  EXPECT_EQ(tight.cache->conflicts(), 0u);
}

TEST_F(DeviceFailureTest, ARowWithoutRoomFailsItsRequestOnly) {
  EngineWorld world(WorldOptions());
  bool is_full = true;
  verdict_ = [&](std::size_t) {
    return is_full ? absl::ResourceExhaustedError("no room for 7 bytes") : absl::OkStatus();
  };
  Answer* first = world.Submit(Prompt(20), 4);
  world.RunAll();
  ASSERT_TRUE(first->is_finished);
  EXPECT_EQ(first->reason, FinishReason::kFailed);
  EXPECT_EQ(first->text, "no room for 7 bytes");
  EXPECT_TRUE(first->tokens.empty());
  EXPECT_EQ(world.cache->stored(), 0u) << "offered what a failed step left behind";
  is_full = false;
  Answer* second = world.Submit(Prompt(20), 4);
  world.RunAll();
  EXPECT_NE(second->reason, FinishReason::kFailed);
  EXPECT_FALSE(second->tokens.empty());
  EXPECT_EQ(world.engine->stats().requests_failed, 1u);
  EXPECT_EQ(world.engine->stats().step_rows_max, 32u);
  EXPECT_FALSE(world.engine->stats().has_failed);
}

// Memory may have been short for a moment only.
TEST_F(DeviceFailureTest, StepsGrowAgain) {
  EngineWorld world(WorldOptions());
  verdict_ = [](std::size_t rows) {
    return rows <= 5 ? absl::OkStatus() : absl::ResourceExhaustedError("no room");
  };
  world.Submit(Prompt(70), 1);
  world.RunAll();
  EXPECT_EQ(world.engine->stats().step_rows_max, 4u);
  verdict_ = [](std::size_t) { return absl::OkStatus(); };
  std::uint32_t before = 4;
  while (world.engine->stats().step_rows_max < 32) {
    world.Submit(Prompt(5), 20);
    world.RunAll();
    const std::uint32_t rows = world.engine->stats().step_rows_max;
    EXPECT_TRUE(rows == before || rows == 2 * before) << rows;
    before = rows;
    ASSERT_LT(world.engine->stats().steps, 1000u);
  }
  EXPECT_GE(world.engine->stats().steps, 3 * 64u);
  EXPECT_EQ(world.engine->stats().steps_failed, 3u);
}

// A request without a row of its own in the step has no part in it.
TEST_F(DeviceFailureTest, WhoNeedsNoRowDoesNotFail) {
  EngineWorld world(WorldOptions());
  const std::vector<PromptSegment> stored = {Span(RandomTokens(rng_, 32))};
  world.Submit(stored, 0);
  world.RunAll();
  verdict_ = [](std::size_t) { return absl::ResourceExhaustedError("no room"); };
  Answer* failing = world.Submit(Prompt(1), 2);
  Answer* found = world.Submit(stored, 0);
  world.RunAll();
  EXPECT_EQ(failing->reason, FinishReason::kFailed);
  EXPECT_EQ(found->reason, FinishReason::kLength);
  EXPECT_EQ(found->usage.tokens_reused, 32u);
}

TEST_F(DeviceFailureTest, ADeviceThatFailsFailsAllAndTakesNoMore) {
  EngineWorld::Options options = WorldOptions();
  options.engine.running_max = 2;
  EngineWorld world(options);
  int steps = 0;
  verdict_ = [&](std::size_t) {
    return ++steps <= 2 ? absl::OkStatus() : absl::InternalError("cuda: it fell off the bus");
  };
  Answer* answers[3] = {world.Submit(Prompt(10), 20), world.Submit(Prompt(40), 20),
                        world.Submit(Prompt(10), 20)};
  world.RunAll();
  for (const Answer* answer : answers) {
    ASSERT_TRUE(answer->is_finished);
    EXPECT_EQ(answer->reason, FinishReason::kFailed);
    EXPECT_NE(answer->text.find("cuda: it fell off the bus"), std::string::npos);
  }
  EXPECT_EQ(steps, 3);
  const absl::Status refused = world.SubmitStatus(Prompt(5), 1);
  EXPECT_EQ(refused.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(refused.message(), "the device has failed: cuda: it fell off the bus");
  EXPECT_TRUE(world.engine->stats().has_failed);
  EXPECT_TRUE(world.engine->stats().is_closed);
  EXPECT_EQ(world.engine->stats().requests_failed, 3u);
}

}  // namespace
}  // namespace cairn
