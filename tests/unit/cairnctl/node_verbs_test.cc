// What verbs that ask a node do before they ask it. tests/e2e/node_test.py has the rest.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tests/unit/cairnctl/run_cairnctl.h"
#include "tools/cairnctl/node_client.h"
#include "tools/cairnctl/table.h"

namespace cairn {
namespace {

using ::testing::HasSubstr;

TEST(NodeVerbsTest, WithoutANodeEachSaysHowToNameOne) {
  for (const Verb* verb : Verbs()) {
    if (verb->asks != Asks::kNode) continue;
    std::vector<std::string> args = {std::string(verb->name)};
    if (verb->args_min > 0) args.push_back("x");
    const Ran ran = RunWith(args);
    EXPECT_EQ(ran.exit_code, 2) << verb->name;
    EXPECT_THAT(ran.err, HasSubstr("--endpoint=HOST:PORT or --run-dir=DIR")) << verb->name;
  }
}

TEST(NodeVerbsTest, HelpNamesTheRpcAndTheFlagsOfNodes) {
  for (const Verb* verb : Verbs()) {
    if (verb->asks != Asks::kNode) continue;
    const Ran ran = RunWith({"help", std::string(verb->name)});
    EXPECT_THAT(ran.out, HasSubstr("RPC: cairn.node.v1.NodeAdmin.")) << verb->name;
    EXPECT_THAT(ran.out, HasSubstr("--run-dir=DIR")) << verb->name;
  }
}

TEST(NodeVerbsTest, OfflineVerbsTakeNoFlagsOfNodes) {
  EXPECT_THAT(RunWith({"keys", "--endpoint=127.0.0.1:1", "-"}).err, HasSubstr("unknown flag"));
}

struct Asked {
  absl::Status status;
  std::string err;
};
Asked Ask(const std::string& typed, bool is_terminal, bool says_yes) {
  std::istringstream in(typed);
  std::ostringstream out;
  std::ostringstream err;
  Invocation call{
      .verb = "evict", .is_terminal = is_terminal, .streams = {.in = in, .out = out, .err = err}};
  if (says_yes) call.flags["yes"] = "";
  const absl::Status status = Confirm(call, "It will go.");
  return {.status = status, .err = err.str()};
}

TEST(ConfirmTest, WhatWillChangeIsAlwaysTold) {
  for (const bool is_terminal : {false, true}) {
    for (const bool says_yes : {false, true}) {
      EXPECT_THAT(Ask("", is_terminal, says_yes).err, HasSubstr("It will go."));
    }
  }
}

TEST(ConfirmTest, ATerminalIsAskedAndOnlyYesMeansYes) {
  for (const char* typed : {"y\n", "Y\n", " yes \n"}) {
    EXPECT_TRUE(Ask(typed, true, false).status.ok()) << typed;
  }
  for (const char* typed : {"", "\n", "n\n", "yess\n", "no\ny\n"}) {
    EXPECT_EQ(Ask(typed, true, false).status.code(), absl::StatusCode::kCancelled) << typed;
  }
}

TEST(ConfirmTest, ElsewhereYesMustBeGiven) {
  EXPECT_TRUE(Ask("", false, true).status.ok());
  EXPECT_EQ(Ask("y\n", false, false).status.code(), absl::StatusCode::kInvalidArgument);
}

TEST(TableTest, ColumnsAreAligned) {
  Table table({"A", "LONG"});
  table.Add({"wide one", "x"});
  std::ostringstream out;
  table.Print(out);
  EXPECT_EQ(out.str(), "A         LONG\nwide one  x\n");
}

TEST(TableTest, ValuesAreShownForPeople) {
  EXPECT_EQ(ShowBytes(0), "0 B");
  EXPECT_EQ(ShowBytes(4096), "4 KiB");
  EXPECT_EQ(ShowBytes(1536 * 1024), "1.5 MiB");
  EXPECT_EQ(ShowText(""), "-");
  EXPECT_EQ(ShowText("a\x1b[31m"), "a\\x1b[31m");
  google::protobuf::Duration duration;
  duration.set_seconds(62);
  duration.set_nanos(5);
  EXPECT_EQ(ShowDuration(duration), "1m2s");
}

}  // namespace
}  // namespace cairn
