#include "libs/placement_rpc/plan_client.h"

#include <optional>
#include <thread>

#include "gtest/gtest.h"
#include "libs/base/latch.h"
#include "libs/loop_manual/manual_world.h"
#include "tests/unit/placement_rpc/kept_port.h"
#include "tests/unit/placement_rpc/scripted_placement.h"

namespace cairn {
namespace {

using Mood = ScriptedPlacement::Mood;
using Positions = std::vector<std::uint64_t>;

class PlanClientTest : public testing::Test {
 protected:
  void Start(PlanClient::Options options = {.timeout = absl::Seconds(60)}) {
    client_ = std::make_unique<PlanClient>(options, loop_, service_.Channel());
  }
  static CheckpointQuestion Question(std::uint64_t family = 7) {
    return {.family = family, .length = 1000, .resume_depth = 130, .shared_depth = 500};
  }
  CheckpointPlan Ask(const CheckpointQuestion& question = Question()) {
    CheckpointPlan plan;
    Latch answered;
    client_->Ask(question, [&](CheckpointPlan answer) {
      plan = std::move(answer);
      answered.Set();
    });
    answered.Wait();
    return plan;
  }

  ManualWorld world_{{.seed = 1}};
  ManualLoop& loop_ = world_.AddLoop({.name = "clock"});
  ScriptedPlacement service_;
  std::unique_ptr<PlanClient> client_;
};

TEST_F(PlanClientTest, AsksTheServiceInItsOwnTerms) {
  Start({.states_max = 3, .timeout = absl::Seconds(60)});
  service_.SetPositions({960, 448});
  const CheckpointPlan plan = Ask();
  EXPECT_EQ(plan.origin, PlanOrigin::kService);
  EXPECT_EQ(plan.positions, (Positions{448, 960}));
  const auto asked = service_.asked();
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].family(), 7u);
  EXPECT_EQ(asked[0].length(), 1000u);
  EXPECT_EQ(asked[0].resume_depth(), 128u) << "on the grid";
  EXPECT_EQ(asked[0].shared_depth(), 500u);
  EXPECT_EQ(asked[0].budget(), 3u);
  EXPECT_EQ(asked[0].grid(), 64u);
}

TEST_F(PlanClientTest, PositionsThatCannotBeAreNoAnswer) {
  for (const Positions& garbage :
       {Positions{128}, Positions{1024}, Positions{200}, Positions{UINT64_MAX}, Positions{0},
        Positions{192, 256, 320}, Positions(100'000, 192)}) {
    Start();
    service_.SetPositions(garbage);
    EXPECT_EQ(Ask().origin, PlanOrigin::kBalanced) << garbage[0] << " and " << garbage.size();
    service_.SetPositions({192});
    EXPECT_EQ(Ask().origin, PlanOrigin::kBalanced) << "nor is it asked again at once";
    client_.reset();
  }
}

TEST_F(PlanClientTest, NobodysFamilyIsNotCached) {
  Start();
  service_.SetPositions({960});
  EXPECT_EQ(Ask(Question(0)).origin, PlanOrigin::kService);
  service_.Set(Mood::kRefuses);
  EXPECT_EQ(Ask(Question(0)).origin, PlanOrigin::kBalanced);
}

TEST_F(PlanClientTest, AwayItIsCachedThenBalanced) {
  Start();
  service_.SetPositions({448, 960});
  ASSERT_EQ(Ask().origin, PlanOrigin::kService);
  service_.Set(Mood::kRefuses);
  const CheckpointPlan cached = Ask();
  EXPECT_EQ(cached.origin, PlanOrigin::kCached);
  EXPECT_EQ(cached.positions, (Positions{448, 960}));
  const CheckpointPlan balanced = Ask(Question(8));
  EXPECT_EQ(balanced.origin, PlanOrigin::kBalanced);
  EXPECT_EQ(balanced.positions, BalancedPositions(Question(8), 64, 2));
  ASSERT_FALSE(balanced.positions.empty());
  EXPECT_EQ(service_.asked().size(), 2u) << "away, it is not asked";
}

TEST_F(PlanClientTest, BackItIsAskedAgain) {
  Start();
  service_.Set(Mood::kRefuses);
  EXPECT_EQ(Ask().origin, PlanOrigin::kBalanced);
  service_.Set(Mood::kAnswers);
  service_.SetPositions({960});
  EXPECT_EQ(Ask().origin, PlanOrigin::kBalanced);
  world_.RunFor(absl::Seconds(2));
  EXPECT_EQ(Ask().origin, PlanOrigin::kService);
  EXPECT_EQ(Ask().positions, Positions{960});
}

TEST_F(PlanClientTest, ASlowServiceIsAway) {
  Start({.timeout = absl::Milliseconds(1)});
  service_.Set(Mood::kHangs);
  EXPECT_EQ(Ask().origin, PlanOrigin::kBalanced);
}

TEST_F(PlanClientTest, NobodyListeningIsAway) {
  const KeptPort port;
  client_ = std::make_unique<PlanClient>(PlanClient::Options{.timeout = absl::Seconds(60)}, loop_,
                                         ScriptedPlacement::ChannelTo(port.address()));
  EXPECT_EQ(Ask().origin, PlanOrigin::kBalanced);
}

TEST_F(PlanClientTest, AServiceThatComesBackIsFoundThoughNobodyAsks) {
  const KeptPort port;
  const std::shared_ptr<grpc::Channel> channel = ScriptedPlacement::ChannelTo(port.address());
  client_ = std::make_unique<PlanClient>(PlanClient::Options{.timeout = absl::Seconds(60)}, loop_,
                                         channel);
  EXPECT_EQ(Ask().origin, PlanOrigin::kBalanced);
  const ScriptedPlacement back(port.address());
  while (channel->GetState(false) != GRPC_CHANNEL_READY) std::this_thread::yield();
}

TEST_F(PlanClientTest, TooManyQuestionsAreAnsweredAtOnce) {
  Start({.timeout = absl::Seconds(60), .questions_max = 1});
  service_.Set(Mood::kHangs);
  int answers = 0;
  client_->Ask(Question(), [&](CheckpointPlan) { ++answers; });
  service_.AwaitHanging();
  client_->Ask(Question(), [&](CheckpointPlan) { ++answers; });  // waits
  std::optional<PlanOrigin> origin;
  client_->Ask(Question(), [&](CheckpointPlan plan) { origin = plan.origin; });
  EXPECT_EQ(origin, PlanOrigin::kBalanced) << "inside Ask";
  client_.reset();
  EXPECT_EQ(answers, 2) << "destroyed, it answers what waits and what is under way";
}

TEST_F(PlanClientTest, StoppedItAnswersWithoutTheService) {
  Start();
  service_.Set(Mood::kHangs);
  std::atomic<int> answers{0};
  for (int i = 0; i < 3; ++i) client_->Ask(Question(), [&](CheckpointPlan) { ++answers; });
  service_.AwaitHanging();
  client_->Stop();
  client_->Ask(Question(), [&](CheckpointPlan) { ++answers; });
  while (answers < 4) std::this_thread::yield();  // the one under way is cut
  EXPECT_EQ(service_.asked().size(), 1u);
}

TEST_F(PlanClientTest, AQuestionThatHasWaitedForMostOfItsTimeIsNotAsked) {
  Start({.timeout = absl::Seconds(60), .away_for = absl::ZeroDuration()});
  service_.Set(Mood::kHangs);
  std::atomic<int> answers{0};
  client_->Ask(Question(), [&](CheckpointPlan) { ++answers; });
  service_.AwaitHanging();
  client_->Ask(Question(), [&](CheckpointPlan) { ++answers; });
  world_.RunFor(absl::Seconds(40));
  service_.Set(Mood::kRefuses);  // hanging calls go on hanging; new ones would not
  service_.LetGo();
  while (answers < 2) std::this_thread::yield();
  EXPECT_EQ(service_.asked().size(), 1u);
}

TEST_F(PlanClientTest, ManyThreadsGetOneAnswerEach) {
  Start();
  service_.SetPositions({960});
  std::atomic<int> answers{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 50; ++j) client_->Ask(Question(), [&](CheckpointPlan) { ++answers; });
    });
  }
  for (std::thread& thread : threads) thread.join();
  client_.reset();
  EXPECT_EQ(answers.load(), 200);
}

}  // namespace
}  // namespace cairn
