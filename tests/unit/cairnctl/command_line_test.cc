#include "tools/cairnctl/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "absl/strings/str_split.h"
#include "tests/unit/cairnctl/run_cairnctl.h"

namespace cairn {
namespace {

using ::testing::HasSubstr;

TEST(CommandLineTest, HelpListsEveryVerb) {
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"--help"}, {"-h"}, {"help"}}) {
    const Ran ran = RunWith(args);
    EXPECT_EQ(ran.exit_code, 0);
    for (const Verb* verb : Verbs()) EXPECT_THAT(ran.out, HasSubstr(std::string(verb->summary)));
  }
}

TEST(CommandLineTest, HelpOfAVerbTellsItsUse) {
  for (const Verb* verb : Verbs()) {
    const std::vector<std::string> name = absl::StrSplit(verb->name, ' ');
    for (const auto& [before, after] :
         {std::pair{"help", ""}, std::pair{"", "--help"}, std::pair{"--help", ""}}) {
      std::vector<std::string> args = name;
      if (*before != 0) args.insert(args.begin(), before);
      if (*after != 0) args.push_back(after);
      const Ran ran = RunWith(args);
      EXPECT_EQ(ran.exit_code, 0);
      EXPECT_THAT(ran.out, HasSubstr(std::string(verb->help)));
    }
  }
}

TEST(CommandLineTest, EveryVerbIsDescribed) {
  for (const Verb* verb : Verbs()) {
    EXPECT_FALSE(verb->name.empty());
    EXPECT_FALSE(verb->summary.empty());
    EXPECT_FALSE(verb->help.empty());
    EXPECT_LE(verb->args_min, verb->args_max);
    EXPECT_NE(verb->run, nullptr);
  }
}

struct Misuse {
  std::vector<std::string> args;
  std::string message;
};

TEST(CommandLineTest, MisuseSaysWhatIsWrongAndExitsWith2) {
  const Misuse cases[] = {
      {{}, "no verb given"},
      {{"frobnicate"}, "no such verb: frobnicate"},
      {{"help", "frobnicate"}, "no such verb: frobnicate"},
      {{"plan"}, "plan: what of it?"},
      {{"plan", "frob"}, "no such verb: plan frob"},
      {{"show"}, "no such verb: show"},
      {{"plan", "compare"}, "plan compare: missing argument"},
      {{"plan", "show", "7"}, "plan show: too many arguments: 7"},
      {{"keys"}, "keys: missing argument"},
      {{"keys", "a", "b"}, "keys: too many arguments: b"},
      {{"keys", "--frob", "a"}, "unknown flag --frob"},
      {{"keys", "-f", "a"}, "unknown flag -f"},
      {{"keys", "--output=xml", "a"}, "--output is table or json, not \"xml\""},
      {{"keys", "a", "--output"}, "--output needs a value"},
      {{"keys", "--help=yes"}, "--help takes no value"},
      {{"--frob", "keys", "a"}, "unknown flag --frob"},
  };
  for (const Misuse& misuse : cases) {
    const Ran ran = RunWith(misuse.args);
    EXPECT_EQ(ran.exit_code, 2) << misuse.message;
    EXPECT_THAT(ran.err, HasSubstr(misuse.message));
    EXPECT_EQ(ran.out, "");
  }
}

TEST(CommandLineTest, FlagsMayStandAnywhereAndDashDashEndsThem) {
  const std::string empty = R"({"cases": []})";
  EXPECT_EQ(RunWith({"--output", "json", "keys", "-"}, empty).exit_code, 0);
  EXPECT_EQ(RunWith({"keys", "-", "--output=json"}, empty).exit_code, 0);
  EXPECT_THAT(RunWith({"keys", "--", "--help"}).err, HasSubstr("--help: cannot be opened"));
}

}  // namespace
}  // namespace cairn
