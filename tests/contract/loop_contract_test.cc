#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "tests/contract/loop_rig.h"

// What libs/ports/loop.h promises, of loop_manual and loop_asio.
namespace cairn::contract {
namespace {

class LoopContract : public testing::TestWithParam<bool> {
 protected:
  std::unique_ptr<LoopRig> rig_ = NewRig(GetParam());
  Loop& loop_ = rig_->NewLoop();
};

INSTANTIATE_TEST_SUITE_P(Loops, LoopContract, testing::Bool(), [](const auto& param) {
  return std::string(param.param ? "Manual" : "Asio");
});

TEST_P(LoopContract, PostedTasksRunInTheirOrder) {
  std::vector<int> ran;
  rig_->On(loop_, [&] {
    for (int i = 0; i < 100; ++i) {
      loop_.Post([&, i] { rig_->Record([&] { ran.push_back(i); }); });
    }
    rig_->Record([&] { EXPECT_TRUE(ran.empty()) << "a task ran inside Post"; });
  });
  ASSERT_TRUE(rig_->Await([&] { return ran.size() == 100; }));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(ran[static_cast<std::size_t>(i)], i);
}

TEST_P(LoopContract, TimersRunInOrderAndNeverEarly) {
  std::vector<int> ran;
  rig_->On(loop_, [&] {
    const Instant start = loop_.Now();
    for (const int millis : {30, 10, 20, 0}) {
      const Instant due = start + absl::Milliseconds(millis);
      loop_.RunAt(due, [&, due, millis] {
        EXPECT_GE(loop_.Now(), due);
        rig_->Record([&] { ran.push_back(millis); });
      });
    }
  });
  ASSERT_TRUE(rig_->Await([&] { return ran.size() == 4; }));
  EXPECT_EQ(ran, (std::vector<int>{0, 10, 20, 30}));
}

TEST_P(LoopContract, CancelledTimerNeverRuns) {
  bool has_ended = false;
  auto held = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = held;
  rig_->On(loop_, [&] {
    const Instant due = loop_.Now() + absl::Milliseconds(5);
    const TimerId timer = loop_.RunAt(due, [held = std::move(held)] { FAIL() << "cancelled"; });
    // Due at the same instant, and first: the cancelled one may already be on its way.
    loop_.RunAt(loop_.Now(), [&, timer] { loop_.Cancel(timer); });
    loop_.RunAt(due + absl::Milliseconds(5), [&] { rig_->Record([&] { has_ended = true; }); });
  });
  ASSERT_TRUE(rig_->Await([&] { return has_ended; }));
  rig_->On(loop_, [&] { loop_.Cancel(TimerId(1)); });  // ran or cancelled: no effect
  rig_->On(loop_, [&] {});
  EXPECT_TRUE(watch.expired());
}

TEST_P(LoopContract, TimerThatRanCanCancelItself) {
  TimerId timer;
  bool has_run = false;
  rig_->On(loop_, [&] {
    timer = loop_.RunAt(loop_.Now(), [&] {
      loop_.Cancel(timer);
      rig_->Record([&] { has_run = true; });
    });
  });
  EXPECT_TRUE(rig_->Await([&] { return has_run; }));
}

TEST_P(LoopContract, StopDestroysWhatHasNotRun) {
  auto held = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = held;
  rig_->On(loop_, [&] {
    loop_.RunAt(loop_.Now() + absl::Hours(10), [held] { FAIL(); });
    loop_.RunAt(Instant::Infinite(), [held] { FAIL(); });
  });
  rig_->StopLoop(loop_);
  loop_.Post([held] { FAIL(); });
  loop_.RunAt(loop_.Now(), [held = std::move(held)] { FAIL(); });
  EXPECT_TRUE(watch.expired());
}

TEST_P(LoopContract, TaskMayPostForEver) {
  int runs = 0;
  std::function<void()> again = [&] {
    bool more = false;
    rig_->Record([&] { more = ++runs < 1000; });
    if (more) loop_.Post([&] { again(); });
  };
  loop_.Post([&] { again(); });
  EXPECT_TRUE(rig_->Await([&] { return runs == 1000; }));
}

// ---- what only a real loop has ----

class SocketPair {
 public:
  SocketPair() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds_), 0); }
  ~SocketPair() {
    ::close(fds_[0]);
    ::close(fds_[1]);
  }
  int near() const { return fds_[0]; }
  int far() const { return fds_[1]; }

 private:
  int fds_[2] = {-1, -1};
};

TEST(AsioLoopTest, PostsOfManyThreadsAllRunInEachOnesOrder) {
  AsioRig rig;
  Loop& loop = rig.NewLoop();
  std::vector<int> last(4, -1);
  int runs = 0;
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 2000; ++i) {
        loop.Post([&, t, i] {
          rig.Record([&] {
            EXPECT_EQ(last[t], i - 1);
            last[t] = i;
            ++runs;
          });
        });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(rig.Await([&] { return runs == 8000; }));
}

TEST(AsioLoopTest, WatchIsLevelTriggeredUntilUnwatch) {
  AsioRig rig;
  Loop& loop = rig.NewLoop();
  SocketPair pair;
  int calls = 0;
  ASSERT_EQ(::write(pair.far(), "x", 1), 1);
  rig.On(loop, [&] {
    EXPECT_TRUE(loop.WatchReadable(pair.near(),
                                   [&] {
                                     int now = 0;
                                     rig.Record([&] { now = ++calls; });
                                     if (now == 3)
                                       loop.Unwatch(pair.near());  // from inside; never read
                                   })
                    .ok());
  });
  EXPECT_TRUE(rig.Await([&] { return calls == 3; }));
  rig.On(loop, [&] {});
  rig.On(loop, [&] {});
  rig.Record([&] { EXPECT_EQ(calls, 3); });
}

TEST(AsioLoopTest, OneDescriptorMayBeWatchedForBoth) {
  AsioRig rig;
  Loop& loop = rig.NewLoop();
  SocketPair pair;
  bool was_readable = false;
  bool was_writable = false;
  rig.On(loop, [&] {
    EXPECT_TRUE(loop.WatchReadable(pair.near(),
                                   [&] {
                                     char byte = 0;
                                     if (::read(pair.near(), &byte, 1) != 1) return;  // late news
                                     rig.Record([&] { was_readable = true; });
                                   })
                    .ok());
    EXPECT_TRUE(
        loop.WatchWritable(pair.near(), [&] { rig.Record([&] { was_writable = true; }); }).ok());
  });
  EXPECT_TRUE(rig.Await([&] { return was_writable; }));
  ASSERT_EQ(::write(pair.far(), "x", 1), 1);
  EXPECT_TRUE(rig.Await([&] { return was_readable; }));
  rig.On(loop, [&] { loop.Unwatch(pair.near()); });
}

TEST(AsioLoopTest, DescriptorCanBeWatchedAgain) {
  AsioRig rig;
  Loop& loop = rig.NewLoop();
  SocketPair pair;
  int calls = 0;
  ASSERT_EQ(::write(pair.far(), "x", 1), 1);
  for (int round = 1; round <= 3; ++round) {
    rig.On(loop, [&] {
      EXPECT_TRUE(loop.WatchReadable(pair.near(),
                                     [&] {
                                       loop.Unwatch(pair.near());
                                       rig.Record([&] { ++calls; });
                                     })
                      .ok());
    });
    EXPECT_TRUE(rig.Await([&] { return calls == round; }));
  }
}

TEST(AsioLoopTest, StopFromInsideLetsTheTaskFinish) {
  AsioLoop loop;
  bool has_finished = false;
  loop.Post([&] {
    loop.Stop();
    has_finished = true;
  });
  loop.Post([] { FAIL() << "after Stop"; });
  loop.Run();
  EXPECT_TRUE(has_finished);
}

// ---- what only a simulated one has ----

TEST(ManualWorldTest, OneSeedGivesOneHistory) {
  const auto history = [](std::uint64_t seed) {
    ManualWorld world({.seed = seed});
    std::string out;
    for (const char* name : {"a", "b", "c"}) {
      ManualLoop& loop = world.AddLoop({.name = name, .clock_offset = absl::Seconds(*name)});
      for (int i = 0; i < 20; ++i) loop.Post([&out, name] { out += name; });
    }
    world.RunFor(absl::Seconds(1));
    return out;
  };
  EXPECT_EQ(history(7), history(7));
  EXPECT_NE(history(7), history(8));
}

TEST(ManualWorldTest, PausedLoopRunsNothingUntilResumed) {
  ManualWorld world({.seed = 1});
  ManualLoop& loop = world.AddLoop({.name = "stopped"});
  int runs = 0;
  loop.Post([&] { ++runs; });
  loop.RunAt(loop.Now() + absl::Seconds(1), [&] { ++runs; });
  loop.Pause();
  world.RunFor(absl::Seconds(10));
  EXPECT_EQ(runs, 0);
  loop.Resume();
  world.RunFor(absl::Milliseconds(1));
  EXPECT_EQ(runs, 2);
}

TEST(ManualWorldTest, CrashedLoopIsSilent) {
  ManualWorld world({.seed = 1});
  ManualLoop& loop = world.AddLoop({.name = "dead"});
  auto held = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = held;
  loop.Post([held] { FAIL(); });
  loop.RunAt(loop.Now(), [held] { FAIL(); });
  loop.Crash();
  loop.Post([held = std::move(held)] { FAIL(); });
  EXPECT_TRUE(watch.expired());
  EXPECT_FALSE(world.Step());
}

TEST(ManualWorldTest, ClocksOfLoopsDifferByTheirOffsets) {
  ManualWorld world({.seed = 1});
  ManualLoop& a = world.AddLoop({.name = "a"});
  ManualLoop& b = world.AddLoop({.name = "b", .clock_offset = absl::Hours(1)});
  EXPECT_EQ(b.Now() - a.Now(), absl::Hours(1));
  Instant ran;
  b.RunAt(b.Now() + absl::Seconds(5), [&] { ran = world.Now(); });
  const Instant start = world.Now();
  world.RunFor(absl::Seconds(4));
  EXPECT_EQ(ran, Instant());
  world.RunFor(absl::Seconds(2));
  EXPECT_GE(ran - start, absl::Seconds(5));
}

TEST(ManualWorldTest, HasNoDescriptors) {
  ManualWorld world({.seed = 1});
  EXPECT_EQ(world.AddLoop({.name = "a"}).WatchReadable(0, [] {}).code(),
            absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace cairn::contract
