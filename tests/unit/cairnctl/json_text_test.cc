#include "tools/cairnctl/json_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace cairn {
namespace {

using ::testing::HasSubstr;

std::string Printed(absl::string_view text) {
  std::ostringstream out;
  PrintJson(out, ParseJson(text).value());
  return out.str();
}

std::string Refusal(absl::string_view text) {
  return std::string(ParseJson(text).status().message());
}

TEST(JsonTextTest, PrintsNumbersOnOneLineAndTheRestIndented) {
  EXPECT_EQ(Printed(R"({"a":[1,2],"b":{"c":"x\n","d":[]},"e":["f",{}],"g":null})"),
            "{\n  \"a\": [1, 2],\n  \"b\": {\n    \"c\": \"x\\n\",\n    \"d\": []\n  },\n"
            "  \"e\": [\n    \"f\",\n    {}\n  ],\n  \"g\": null\n}\n");
}

TEST(JsonTextTest, NamesLineAndColumnOfAMistake) {
  EXPECT_THAT(Refusal("{\n  \"a\": 1,\n  b: 2}"), HasSubstr("line 3, column 3"));
  EXPECT_THAT(Refusal("x"), HasSubstr("line 1, column 1"));
}

TEST(JsonTextTest, RefusesWhatIsNotExactlyOneValue) {
  EXPECT_THAT(Refusal(""), HasSubstr("too early"));
  EXPECT_THAT(Refusal("[1"), HasSubstr("too early"));
  EXPECT_THAT(Refusal("{} {}"), HasSubstr("more text"));
  EXPECT_THAT(Refusal("{\"a\": \"\xff\"}"), HasSubstr("not JSON"));
  EXPECT_THAT(Refusal("[NaN]"), HasSubstr("not JSON"));
}

TEST(JsonTextTest, RefusesDeepNesting) {
  EXPECT_THAT(Refusal(std::string(100000, '[')), HasSubstr("deep"));
}

}  // namespace
}  // namespace cairn
