#include "libs/placement_rpc/overlap_sender.h"

#include <thread>

#include "gtest/gtest.h"
#include "libs/loop_manual/manual_world.h"
#include "tests/unit/placement_rpc/kept_port.h"
#include "tests/unit/placement_rpc/scripted_placement.h"

namespace cairn {
namespace {

using Mood = ScriptedPlacement::Mood;

class OverlapSenderTest : public testing::Test {
 protected:
  void Start(OverlapSender::Options options = {.timeout = absl::Seconds(60)}) {
    sender_ = std::make_unique<OverlapSender>(options, loop_, service_.Channel());
  }
  static Overlap OverlapOf(std::uint64_t entry) {
    return {.family = 5,
            .request_entry = entry,
            .request_length = 700,
            .entry = 3,
            .entry_length = 900,
            .depth = 640,
            .is_censored = true,
            .was_served = true};
  }
  void Gathered() { world_.RunFor(absl::Milliseconds(200)); }
  template <class F>
  void Await(F is_so) {
    while (!is_so(sender_->stats())) std::this_thread::yield();
  }

  ManualWorld world_{{.seed = 1}};
  ManualLoop& loop_ = world_.AddLoop({.name = "node"});
  ScriptedPlacement service_;
  std::unique_ptr<OverlapSender> sender_;
};

TEST_F(OverlapSenderTest, SendsWhatWasGatheredInOneBatch) {
  Start();
  sender_->Report(OverlapOf(11));
  sender_->Report(OverlapOf(12));
  EXPECT_EQ(sender_->stats().queued, 2u);
  Gathered();
  Await([](const OverlapSenderStats& stats) { return stats.sent == 2; });
  EXPECT_EQ(sender_->stats().queued, 0u);
  EXPECT_EQ(service_.streams(), 1);
  const auto observed = service_.observed();
  ASSERT_EQ(observed.size(), 2u);
  EXPECT_EQ(observed[0].family(), 5u);
  EXPECT_EQ(observed[0].entry_id(), 3u);
  EXPECT_EQ(observed[0].entry_length(), 900u);
  EXPECT_EQ(observed[0].overlap_depth(), 640u);
  EXPECT_EQ(observed[0].request_length(), 700u);
  EXPECT_EQ(observed[0].request_entry_id(), 11u);
  EXPECT_TRUE(observed[0].served());
  EXPECT_TRUE(observed[0].censored());
  EXPECT_EQ(observed[1].request_entry_id(), 12u);
  sender_->Report(OverlapOf(13));
  Gathered();
  Await([](const OverlapSenderStats& stats) { return stats.sent == 3; });
}

TEST_F(OverlapSenderTest, WhatDoesNotFitIsDroppedAndCounted) {
  Start({.queue_max = 2, .timeout = absl::Seconds(60)});
  for (std::uint64_t i = 1; i <= 5; ++i) sender_->Report(OverlapOf(i));
  EXPECT_EQ(sender_->stats().dropped, 3u);
  Gathered();
  Await([](const OverlapSenderStats& stats) { return stats.sent == 2; });
}

TEST_F(OverlapSenderTest, ABatchThatFailsIsDroppedAndTheNextOneWaits) {
  Start();
  service_.Set(Mood::kRefuses);
  sender_->Report(OverlapOf(1));
  Gathered();
  Await([](const OverlapSenderStats& stats) { return stats.dropped == 1; });
  service_.Set(Mood::kAnswers);
  sender_->Report(OverlapOf(2));
  Gathered();
  EXPECT_EQ(sender_->stats().queued, 1u) << "a second has not passed";
  world_.RunFor(absl::Seconds(1));
  Await([](const OverlapSenderStats& stats) { return stats.sent == 1; });
  EXPECT_EQ(service_.observed().back().request_entry_id(), 2u);
}

TEST_F(OverlapSenderTest, WhatComesWhileABatchHangsIsNotHurriedAfterIt) {
  Start();
  service_.Set(Mood::kHangs);
  sender_->Report(OverlapOf(1));
  Gathered();
  service_.AwaitHanging();
  sender_->Report(OverlapOf(2));
  world_.RunFor(absl::Seconds(1));  // its timer finds the batch still under way
  service_.Set(Mood::kRefuses);
  sender_->Report(OverlapOf(3));
  EXPECT_EQ(sender_->stats().queued, 3u) << "with the one under way";
  service_.LetGo();
  Await([](const OverlapSenderStats& stats) { return stats.sent + stats.dropped == 1; });
  // Time enough for a sender that does not wait, whatever a call takes on this machine.
  const auto stub = placement::v1::Placement::NewStub(service_.Channel());
  for (int i = 0; i < 20; ++i) {
    grpc::ClientContext context;
    placement::v1::PlanResponse response;
    EXPECT_FALSE(stub->Plan(&context, {}, &response).ok()) << "it refuses";
  }
  EXPECT_EQ(service_.streams(), 1);
  world_.RunFor(absl::Seconds(2));
  Await([](const OverlapSenderStats& stats) { return stats.sent + stats.dropped == 3; });
  EXPECT_EQ(service_.observed().size(), 3u) << "in one batch";
}

TEST_F(OverlapSenderTest, AServiceThatComesBackIsFoundThoughNothingIsReported) {
  const KeptPort port;
  const std::shared_ptr<grpc::Channel> channel = ScriptedPlacement::ChannelTo(port.address());
  sender_ = std::make_unique<OverlapSender>(OverlapSender::Options{.timeout = absl::Seconds(60)},
                                            loop_, channel);
  sender_->Report(OverlapOf(1));
  Gathered();
  Await([](const OverlapSenderStats& stats) { return stats.dropped == 1; });
  const ScriptedPlacement back(port.address());
  while (channel->GetState(false) != GRPC_CHANNEL_READY) std::this_thread::yield();
}

TEST_F(OverlapSenderTest, EndsWhileTheServiceHangs) {
  Start();
  service_.Set(Mood::kHangs);
  sender_->Report(OverlapOf(1));
  Gathered();
  service_.AwaitHanging();
  sender_->Report(OverlapOf(2));
  sender_.reset();  // neither waits for the service nor for the timer
  world_.RunFor(absl::Seconds(5));
  EXPECT_EQ(service_.observed().size(), 1u);
}

}  // namespace
}  // namespace cairn
