#include "libs/client/gate.h"

#include <optional>

#include "gtest/gtest.h"
#include "libs/loop_manual/manual_world.h"

namespace cairn {
namespace {

class GateTest : public ::testing::Test {
 protected:
  void Close() {
    gate_.Close([this] { is_done_ = true; });
    EXPECT_FALSE(is_done_) << "never inside the call";
    world_.RunFor(absl::Milliseconds(1));
  }
  ManualWorld world_{{.seed = 1}};
  ManualLoop& loop_ = world_.AddLoop({.name = "loop"});
  Gate gate_{loop_};
  bool is_done_ = false;
};

TEST_F(GateTest, AnEmptyGateClosesSoon) {
  EXPECT_TRUE(gate_.is_empty());
  Close();
  EXPECT_TRUE(is_done_);
}

TEST_F(GateTest, ClosingWaitsForTheLast) {
  std::optional<Gate::Pass> first(gate_);
  std::optional<Gate::Pass> second(gate_);
  Close();
  first.reset();
  world_.RunFor(absl::Milliseconds(1));
  EXPECT_FALSE(is_done_);
  second.reset();
  world_.RunFor(absl::Milliseconds(1));
  EXPECT_TRUE(is_done_);
}

TEST_F(GateTest, OneWhoEntersMeanwhileIsWaitedForToo) {
  std::optional<Gate::Pass> first(gate_);
  Close();
  first.reset();  // the task is posted
  std::optional<Gate::Pass> late(gate_);
  world_.RunFor(absl::Milliseconds(1));
  EXPECT_FALSE(is_done_);
  late.reset();
  world_.RunFor(absl::Milliseconds(1));
  EXPECT_TRUE(is_done_);
}

TEST_F(GateTest, PassesMove) {
  Gate::Pass pass(gate_);
  Gate::Pass other = std::move(pass);
  EXPECT_FALSE(gate_.is_empty());
  other = Gate::Pass();
  EXPECT_TRUE(gate_.is_empty());
}

}  // namespace
}  // namespace cairn
