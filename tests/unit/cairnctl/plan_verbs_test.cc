// What verbs that ask the placement service do before they ask it. tests/e2e/placement_test.py has
// the rest.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tests/unit/cairnctl/run_cairnctl.h"

namespace cairn {
namespace {

using ::testing::HasSubstr;

TEST(PlanVerbsTest, WithoutAServiceEachSaysHowToNameOne) {
  int count = 0;
  for (const Verb* verb : Verbs()) {
    if (verb->asks != Asks::kPlacement) continue;
    ++count;
    std::vector<std::string> args = absl::StrSplit(verb->name, ' ');
    if (verb->args_min > 0) args.insert(args.end(), {"7", "--length=64"});
    const Ran ran = RunWith(args);
    EXPECT_EQ(ran.exit_code, 2) << verb->name;
    EXPECT_THAT(ran.err, HasSubstr("--placement=HOST:PORT (CAIRN_PLACEMENT)")) << verb->name;
  }
  EXPECT_EQ(count, 4);
}

TEST(PlanVerbsTest, WrongNumbersAreNamed) {
  const std::string nobody = "--placement=127.0.0.1:1";
  struct Case {
    std::vector<std::string> flags;
    std::string message;
  };
  for (const Case& c : std::vector<Case>{
           {{"xyz", "--length=64"}, "FAMILY: \"xyz\" is no number of hex digits"},
           {{"7"}, "--length is needed"},
           {{"7", "--length=many"}, "--length: \"many\" is no number"},
           {{"7", "--length=-1"}, "--length: \"-1\" is no number"},
           {{"7", "--length=64", "--budget=two"}, "--budget: \"two\" is no number"},
           {{"7", "--length=64", "--existing=64,,128"}, "--existing: \"\" is no number"},
           {{"7", "--length=64", "--branches=64:"}, "--branches: \"\" is no number"},
           {{"7", "--length=64", "--branches=x:2"}, "--branches: \"x\" is no number"},
           {{"7", "--length=64", "--timeout=soon"}, "--timeout is a duration"}}) {
    std::vector<std::string> args = {"plan", "explain", nobody};
    args.insert(args.end(), c.flags.begin(), c.flags.end());
    const Ran ran = RunWith(args);
    EXPECT_EQ(ran.exit_code, 2) << c.message;
    EXPECT_THAT(ran.err, HasSubstr(c.message));
  }
  EXPECT_THAT(RunWith({"plan", "simulate", nobody, "7", "--length=64", "--budget=65"}).err,
              HasSubstr("--budget: 65 plans, at most 64"));
  EXPECT_THAT(RunWith({"plan", "show", nobody, "--limit=0"}).err,
              HasSubstr("--limit is a number from 1 to 1000"));
}

TEST(PlanVerbsTest, ADeadServiceIsOneLineWithAdvice) {
  const Ran ran = RunWith({"plan", "show", "--placement=127.0.0.1:1", "--timeout=5s"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.err, HasSubstr("placement service at 127.0.0.1:1: "));
  EXPECT_THAT(ran.err, HasSubstr("Is cairn-placement running there?"));
}

}  // namespace
}  // namespace cairn
