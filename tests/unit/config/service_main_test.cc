#include "libs/config/service_main.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "cairn/config/v1/node.pb.h"

namespace cairn {
namespace {

class ServiceMainTest : public ::testing::Test {
 protected:
  ServiceMainTest() { std::ofstream(file_) << "run_dir: /somewhere\n"; }
  ~ServiceMainTest() override { std::remove(file_.c_str()); }

  int Run(const std::vector<std::string>& arguments) {
    return RunService(
        "cairn-x", arguments, {out_, err_}, config_, [&] { return checked_; },
        [&] {
          has_served_ = true;
          return 7;
        });
  }

  const std::string file_ = absl::StrCat(::testing::TempDir(), "service_main_", ::getpid());
  std::ostringstream out_;
  std::ostringstream err_;
  config::v1::Node config_;
  absl::Status checked_;
  bool has_served_ = false;
};

TEST_F(ServiceMainTest, ServesWithItsConfiguration) {
  EXPECT_EQ(Run({"--config", file_}), 7);
  EXPECT_TRUE(has_served_);
  EXPECT_EQ(config_.run_dir(), "/somewhere");
  EXPECT_EQ(out_.str() + err_.str(), "");
}

TEST_F(ServiceMainTest, OnlyChecksOrPrintsWhenAskedTo) {
  EXPECT_EQ(Run({"--config", file_, "--check_config"}), 0);
  EXPECT_EQ(err_.str(), absl::StrCat("cairn-x: ", file_, ": good\n"));
  EXPECT_EQ(Run({"--config", file_, "--print_config"}), 0);
  EXPECT_NE(out_.str().find("run_dir: \"/somewhere\""), std::string::npos) << out_.str();
  EXPECT_EQ(Run({"--help"}), 0);
  EXPECT_FALSE(has_served_);
}

TEST_F(ServiceMainTest, MistakesAreNamedAndNothingIsServed) {
  EXPECT_EQ(Run({"--confg", file_}), kExitUsage);
  EXPECT_EQ(Run({"--config", "/no/such/file"}), kExitUsage);
  EXPECT_NE(err_.str().find("cairn-x: cannot read the config file /no/such/file\n"),
            std::string::npos)
      << err_.str();
  checked_ = absl::InvalidArgumentError("run_dir: not that one");
  EXPECT_EQ(Run({"--config", file_}), kExitUsage);
  EXPECT_NE(err_.str().find(absl::StrCat("cairn-x: ", file_, ": run_dir: not that one\n")),
            std::string::npos);
  EXPECT_FALSE(has_served_);
}

using ServiceMainDeathTest = ServiceMainTest;

void LimitDescriptors(rlim_t soft, rlim_t hard) {
  rlimit limit{};
  limit.rlim_cur = soft;
  limit.rlim_max = hard;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

// UCX ends a process that runs out of descriptors: better to say so before anybody relies on it.
TEST_F(ServiceMainDeathTest, WithTooFewDescriptorsItSaysSoAndDoesNotServe) {
  const auto run = [&] {
    LimitDescriptors(32, 32);
    const int code = Run({"--config", file_});
    std::fputs(err_.str().c_str(), stderr);
    std::exit(has_served_ ? 99 : code);
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(kExitFailed),
              "cairn-x: the limit of open files is 32, and");
}

TEST_F(ServiceMainDeathTest, TheLimitOfOpenFilesIsRaisedAsFarAsItGoes) {
  const auto run = [&] {
    LimitDescriptors(64, 200);
    const int code = Run({"--config", file_});
    rlimit now{};
    ::getrlimit(RLIMIT_NOFILE, &now);
    std::exit(code == 7 && now.rlim_cur == 200 ? 0 : 1);
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace cairn
