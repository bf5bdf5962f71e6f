#include "libs/config/yaml_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <google/protobuf/util/message_differencer.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "cairn/config/v1/node.pb.h"
#include "cairn/config/v1/worker.pb.h"
#include "libs/base/limits.h"

namespace cairn {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

absl::Status Parse(absl::string_view text, config::v1::Node* node) {
  return ParseYamlConfig(text, "n.yaml", node);
}
std::string FaultOf(absl::string_view text) {
  config::v1::Node node;
  const absl::Status status = Parse(text, &node);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
  return std::string(status.message());
}

constexpr char kWhole[] = R"(# a comment
run_dir: run/node
security:
  dev_mode_without_tls: true
grpc_listen: "127.0.0.1:0"
arena:
  bytes: 2GiB
  segment_bytes: 512MiB
  shards: 4
pins: {age_max: 1m30s, per_session_max: 100}
drain_timeout: 250ms
)";

TEST(YamlConfigTest, FieldsAreReadByTheirTypes) {
  config::v1::Node node;
  ASSERT_TRUE(Parse(kWhole, &node).ok());
  EXPECT_EQ(node.run_dir(), "run/node");
  EXPECT_TRUE(node.security().dev_mode_without_tls());
  EXPECT_FALSE(node.security().has_tls());
  EXPECT_EQ(node.arena().bytes(), std::uint64_t{2} << 30);
  EXPECT_EQ(node.arena().shards(), 4U);
  EXPECT_EQ(node.pins().age_max().seconds(), 90);
  EXPECT_EQ(node.drain_timeout().nanos(), 250'000'000);
}

TEST(YamlConfigTest, AnEmptyFileOrSectionSetsNothing) {
  for (const char* text : {"", "# nothing\n", "arena:\n", "---\n"}) {
    config::v1::Node node;
    EXPECT_TRUE(Parse(text, &node).ok()) << text;
    EXPECT_EQ(node.arena().bytes(), 0U);
  }
}

struct Fault {
  const char* text;
  const char* message;
};

TEST(YamlConfigTest, EveryFaultNamesFileLineAndField) {
  const Fault cases[] = {
      {"run_dir: a\narena:\n  byts: 1\n", "n.yaml:3: field arena.byts: unknown field"},
      {"frob: 1\n", "n.yaml:1: field frob: unknown field"},
      {"run_dir: a\nrun_dir: b\n", "n.yaml:2: field run_dir: given twice"},
      {"arena:\n  bytes: 1GB\n", "n.yaml:2: field arena.bytes: expected a size"},
      {"arena:\n  shards: -1\n", "n.yaml:2: field arena.shards: expected a whole number"},
      {"arena:\n  shards: 4294967296\n", "n.yaml:2: field arena.shards: expected a whole number"},
      {"security:\n  dev_mode_without_tls: yes\n",
       "n.yaml:2: field security.dev_mode_without_tls: expected true or false, found \"yes\""},
      {"drain_timeout: 10\n", "n.yaml:1: field drain_timeout: expected a duration"},
      {"run_dir: [a]\n", "n.yaml:1: field run_dir: expected one value"},
      {"run_dir: {a: b}\n", "n.yaml:1: field run_dir: expected one value"},
      {"arena: 5\n", "n.yaml:1: field arena: expected a mapping of fields"},
      {"arena:\n- bytes: 1\n", "field arena: expected a mapping of fields"},
      {"- a\n", "n.yaml:1: expected a mapping of fields"},
      {"text\n", "n.yaml:1: expected a mapping of fields"},
      {"[a]: b\n", "n.yaml:1: a field's name is expected here"},
  };
  for (const Fault& fault : cases) {
    EXPECT_THAT(FaultOf(fault.text), HasSubstr(fault.message)) << fault.text;
  }
}

TEST(YamlConfigTest, WhatIsNoYamlNamesTheLine) {
  EXPECT_THAT(FaultOf("run_dir: a\n  bad: [\n"), StartsWith("n.yaml:"));
  EXPECT_THAT(FaultOf("run_dir: *nobody\n"), StartsWith("n.yaml:1:"));
  EXPECT_THAT(FaultOf("\trun_dir: a\n"), StartsWith("n.yaml:1:"));
}

TEST(YamlConfigTest, ASecondDocumentIsRefused) {
  EXPECT_THAT(FaultOf("run_dir: a\n---\nrun_dir: b\n"), HasSubstr("a second document"));
}

TEST(YamlConfigTest, AnAliasStandsForItsAnchor) {
  config::v1::Worker worker;
  ASSERT_TRUE(ParseYamlConfig("cache:\n  namespace: &n tenant\n  salt: *n\n", "w", &worker).ok());
  EXPECT_EQ(worker.cache().salt(), "tenant");
}

TEST(YamlConfigTest, AnAliasOfItsOwnMappingIsAnError) {
  EXPECT_THAT(FaultOf("arena: &a\n  bytes: *a\n"), StartsWith("n.yaml:"));
}

TEST(YamlConfigTest, DeepNestingIsAnErrorAndNoCrash) {
  const std::string deep(100'000, '[');
  EXPECT_THAT(FaultOf(absl::StrCat("run_dir: ", deep)), StartsWith("n.yaml:"));
  const std::string maps(100'000, '{');
  EXPECT_THAT(FaultOf(absl::StrCat("run_dir: ", maps)), StartsWith("n.yaml:"));
  std::string nested;
  for (int i = 0; i < 700; ++i) absl::StrAppend(&nested, std::string(i, ' '), "a:\n");
  EXPECT_THAT(FaultOf(nested), HasSubstr("nested too deep"));
  EXPECT_THAT(FaultOf(absl::StrCat("arena:\n", std::string(50'000, '-'), " a\n")),
              StartsWith("n.yaml:"));
  std::string dashes = "arena:\n ";
  for (int i = 0; i < 50'000; ++i) dashes += "- ";
  EXPECT_THAT(FaultOf(dashes), StartsWith("n.yaml:"));
}

TEST(YamlConfigTest, ATooLargeTextIsRefused) {
  const std::string large(limits::kConfigBytesMax + 1, '#');
  EXPECT_THAT(FaultOf(large), HasSubstr("larger than"));
}

TEST(YamlConfigTest, WhatIsPrintedReadsBack) {
  config::v1::Node node;
  ASSERT_TRUE(Parse(kWhole, &node).ok());
  node.set_grpc_listen("quotes \" ' and\nlines\\ and \x01 and \xc3\xa9");
  config::v1::Node again;
  const absl::Status status = Parse(ToYaml(node), &again);
  ASSERT_TRUE(status.ok()) << status << "\n" << ToYaml(node);
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(node, again)) << ToYaml(node);
}

TEST(YamlConfigTest, AnEmptySectionReadsBack) {
  config::v1::Node node;
  node.mutable_arena();
  config::v1::Node again;
  EXPECT_TRUE(Parse(ToYaml(node), &again).ok()) << ToYaml(node);
}

TEST(YamlConfigTest, TheSaltIsNotShown) {
  config::v1::Worker worker;
  worker.mutable_cache()->set_salt("pepper");
  EXPECT_EQ(ToYaml(worker).find("pepper"), std::string::npos);
}

TEST(LoadYamlConfigTest, AMissingFileIsNamed) {
  config::v1::Node node;
  const absl::Status status = LoadYamlConfig("no/such/file.yaml", &node);
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("no/such/file.yaml"));
}

TEST(LoadYamlConfigTest, AFileIsRead) {
  const std::string path = absl::StrCat(testing::TempDir(), "cairn_config_test_", ::getpid());
  std::ofstream(path) << kWhole;
  config::v1::Node node;
  const absl::Status status = LoadYamlConfig(path, &node);
  std::remove(path.c_str());
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(node.arena().shards(), 4U);
}

TEST(LoadYamlConfigTest, AFolderIsAnError) {
  config::v1::Node node;
  EXPECT_FALSE(LoadYamlConfig(testing::TempDir(), &node).ok());
}

}  // namespace
}  // namespace cairn
