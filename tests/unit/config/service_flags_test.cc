#include "libs/config/service_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cairn {
namespace {

using ::testing::HasSubstr;

TEST(ServiceFlagsTest, BothFormsOfAValueAreRead) {
  const auto apart = ParseServiceFlags({"--config", "a.yaml", "--log_level", "debug"});
  const auto joined = ParseServiceFlags({"--config=a.yaml", "--log_level=debug"});
  for (const auto& flags : {apart, joined}) {
    ASSERT_TRUE(flags.ok()) << flags.status();
    EXPECT_EQ(flags->config, "a.yaml");
    EXPECT_EQ(flags->log_level, LogLevel::kDebug);
    EXPECT_FALSE(flags->check_config);
    EXPECT_FALSE(flags->print_config);
  }
}

TEST(ServiceFlagsTest, SwitchesAreRead) {
  const auto flags = ParseServiceFlags({"--check_config", "--print_config", "--config=a"});
  ASSERT_TRUE(flags.ok()) << flags.status();
  EXPECT_TRUE(flags->check_config);
  EXPECT_TRUE(flags->print_config);
}

TEST(ServiceFlagsTest, HelpNeedsNoConfig) {
  for (const char* name : {"--help", "-h"}) {
    const auto flags = ParseServiceFlags({name});
    ASSERT_TRUE(flags.ok()) << flags.status();
    EXPECT_TRUE(flags->help);
  }
  EXPECT_THAT(ServiceUsage("cairn-node"), HasSubstr("usage: cairn-node --config FILE"));
}

TEST(ServiceFlagsTest, MisuseNamesTheArgument) {
  const struct {
    std::vector<std::string> arguments;
    std::string message;
  } cases[] = {
      {{}, "--config is missing"},
      {{"--config"}, "--config needs a value"},
      {{"--config="}, "--config is missing"},
      {{"--config=a", "--frob"}, "unknown argument --frob"},
      {{"--config=a", "extra"}, "unknown argument extra"},
      {{"--config=a", "--check_config=yes"}, "unknown argument --check_config=yes"},
      {{"--config=a", "--log_level=loud"}, "log level \"loud\""},
  };
  for (const auto& misuse : cases) {
    const auto flags = ParseServiceFlags(misuse.arguments);
    EXPECT_EQ(flags.status().code(), absl::StatusCode::kInvalidArgument) << misuse.message;
    EXPECT_THAT(std::string(flags.status().message()), HasSubstr(misuse.message));
  }
}

}  // namespace
}  // namespace cairn
