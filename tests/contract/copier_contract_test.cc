#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "libs/base/bytes.h"
#include "libs/base/limits.h"
#include "libs/copier_manual/manual_copier.h"
#include "libs/copier_threads/thread_copier.h"
#include "tests/contract/loop_rig.h"

// What libs/ports/copier.h promises, of copier_manual and copier_threads.
namespace cairn::contract {
namespace {

class CopierContract : public testing::TestWithParam<bool> {
 protected:
  CopierContract() {
    if (GetParam()) {
      copier_ = std::make_unique<ManualCopier>(loop_, ManualCopier::Options{});
    } else {
      copier_ = std::make_unique<ThreadCopier>(loop_, ThreadCopier::Options{.threads = 2});
    }
  }
  ~CopierContract() override { rig_->StopLoop(loop_); }

  std::unique_ptr<LoopRig> rig_ = NewRig(GetParam());
  Loop& loop_ = rig_->NewLoop();
  std::unique_ptr<Copier> copier_;
};

INSTANTIATE_TEST_SUITE_P(Copiers, CopierContract, testing::Bool(), [](const auto& param) {
  return std::string(param.param ? "Manual" : "Threads");
});

std::string Source(std::size_t bytes) {
  std::string out(bytes, '\0');
  Rng rng(bytes);
  for (char& c : out) c = static_cast<char>(rng.Next());
  return out;
}
absl::Span<std::byte> Writable(std::string& text) {
  return absl::MakeSpan(reinterpret_cast<std::byte*>(text.data()), text.size());
}

TEST_P(CopierContract, CopiesAllSizesAndSumsWhatIsInTheTarget) {
  const std::vector<std::size_t> sizes = {0, 1, 4095, 4096, 4097, 300'000, 600'001, 9 << 20};
  std::vector<std::string> sources;
  std::vector<std::string> targets;
  for (const std::size_t size : sizes) {
    sources.push_back(Source(size));
    targets.emplace_back(size, '\0');
  }
  std::vector<Checksum> sums(sizes.size());
  std::size_t done = 0;
  rig_->On(loop_, [&] {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      EXPECT_TRUE(copier_
                      ->Copy(Writable(targets[i]), AsBytes(sources[i]),
                             [&, i](Checksum sum) {
                               rig_->Record([&] {
                                 sums[i] = sum;
                                 ++done;
                               });
                             })
                      .ok());
    }
    rig_->Record([&] { EXPECT_EQ(done, 0u) << "done ran inside Copy"; });
  });
  ASSERT_TRUE(rig_->Await([&] { return done == sizes.size(); }));
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    EXPECT_TRUE(targets[i] == sources[i]) << sizes[i];
    EXPECT_EQ(sums[i], ChecksumOf(AsBytes(sources[i]))) << sizes[i];
  }
}

TEST_P(CopierContract, SumIsTheChecksum) {
  const std::string bytes = Source(100'001);
  std::vector<Checksum> sums;
  rig_->On(loop_, [&] {
    EXPECT_TRUE(
        copier_->Sum(AsBytes(bytes), [&](Checksum s) { rig_->Record([&] { sums.push_back(s); }); })
            .ok());
    EXPECT_TRUE(
        copier_->Sum({}, [&](Checksum s) { rig_->Record([&] { sums.push_back(s); }); }).ok());
  });
  ASSERT_TRUE(rig_->Await([&] { return sums.size() == 2; }));
  for (const Checksum sum : sums) {
    EXPECT_TRUE(sum == ChecksumOf(AsBytes(bytes)) || sum == ChecksumOf({}));
  }
  EXPECT_NE(sums[0], sums[1]);
}

// A small job alone, and large ones that threads share.
TEST_P(CopierContract, OneJobAtATimeIsDoneLater) {
  for (const std::size_t size : {256u << 10, 300u << 10, (1u << 20) + 5}) {
    const std::string source = Source(size);
    std::string target(size, '\0');
    Checksum copied;
    Checksum summed;
    std::size_t done = 0;
    const auto note = [&](Checksum& to) {
      return [&](Checksum sum) {
        rig_->Record([&] {
          to = sum;
          ++done;
        });
      };
    };
    rig_->On(loop_, [&] {
      EXPECT_TRUE(copier_->Copy(Writable(target), AsBytes(source), note(copied)).ok());
      rig_->Record([&] { EXPECT_EQ(done, 0u) << "done ran inside Copy"; });
    });
    ASSERT_TRUE(rig_->Await([&] { return done == 1; }));
    rig_->On(loop_, [&] { EXPECT_TRUE(copier_->Sum(AsBytes(target), note(summed)).ok()); });
    ASSERT_TRUE(rig_->Await([&] { return done == 2; }));
    EXPECT_TRUE(target == source) << size;
    EXPECT_EQ(copied, ChecksumOf(AsBytes(source))) << size;
    EXPECT_EQ(summed, copied) << size;
  }
}

TEST_P(CopierContract, JobsOfAnEndedCopierAreDone) {
  const std::string source = Source(1 << 20);
  std::vector<std::string> targets(20, std::string(source.size(), '\0'));
  std::size_t done = 0;
  rig_->On(loop_, [&] {
    for (std::string& target : targets) {
      EXPECT_TRUE(copier_
                      ->Copy(Writable(target), AsBytes(source),
                             [&](Checksum) { rig_->Record([&] { ++done; }); })
                      .ok());
    }
    copier_.reset();
  });
  ASSERT_TRUE(rig_->Await([&] { return done == targets.size(); }));
  for (const std::string& target : targets) EXPECT_TRUE(target == source);
}

TEST_P(CopierContract, StoppedLoopDestroysCompletionsUncalled) {
  const std::string source = Source(1 << 20);
  std::string target(source.size(), '\0');
  auto held = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = held;
  rig_->On(loop_, [&] {
    EXPECT_TRUE(
        copier_->Copy(Writable(target), AsBytes(source), [&, held = std::move(held)](Checksum) {})
            .ok());
  });
  rig_->StopLoop(loop_);
  copier_.reset();
  EXPECT_TRUE(watch.expired());
}

TEST_P(CopierContract, WaitingJobsAreBounded) {
  const std::string source = Source(1 << 20);
  std::size_t accepted = 0;
  std::size_t done = 0;
  rig_->On(loop_, [&] {
    absl::Status status;
    // Threads work on the first ones meanwhile, so a few more than the limit may get in.
    while (accepted < 2 * limits::kCopyJobsMax) {
      status = copier_->Sum(AsBytes(source).subspan(0, 4096),
                            [&](Checksum) { rig_->Record([&] { ++done; }); });
      if (!status.ok()) break;
      ++accepted;
    }
    if (!rig_->is_simulated() && status.ok()) return;  // fast threads kept up
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
    EXPECT_GE(accepted, limits::kCopyJobsMax);
  });
  EXPECT_TRUE(rig_->Await([&] { return done == accepted; }));
}

TEST(ManualCopierTest, RewriteOfTheSourceRacesTheCopy) {
  // Over a few seeds a source that changes half way must give a torn copy at least once.
  int torn = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    ManualWorld world({.seed = seed});
    ManualLoop& loop = world.AddLoop({.name = "node"});
    ManualCopier copier(loop, {.seed = seed, .slice_bytes_max = 8192});
    std::string source(100'000, 'a');
    std::string target(source.size(), '\0');
    bool is_done = false;
    Checksum seen;
    ASSERT_TRUE(copier
                    .Copy(Writable(target), AsBytes(source),
                          [&](Checksum sum) {
                            seen = sum;
                            is_done = true;
                          })
                    .ok());
    loop.RunAt(loop.Now() + absl::Microseconds(100), [&] { source.assign(source.size(), 'b'); });
    ASSERT_TRUE(world.RunUntil([&] { return is_done; }, absl::Seconds(10)));
    EXPECT_EQ(seen, ChecksumOf(AsBytes(target)));
    torn += target.find('a') != std::string::npos && target.find('b') != std::string::npos;
  }
  EXPECT_GT(torn, 0);
}

}  // namespace
}  // namespace cairn::contract
