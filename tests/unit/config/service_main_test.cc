#include "libs/config/service_main.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
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

}  // namespace
}  // namespace cairn
