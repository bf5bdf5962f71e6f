#include "libs/completions/completion_json.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "libs/base/limits.h"
#include "libs/base/utf8.h"

namespace cairn {
namespace {

TEST(CompletionJsonTest, ReadsTextAndSegments) {
  const auto body = ParseCompletion(
      R"({"model":"m","segments":[{"kind":"prefix","text":"a"},{"kind":"span",
          "tokens":[1,4294967295],"base":7}],"max_tokens":3,
          "temperature":0,"seed":9,"stop":"x","stream":true})");
  ASSERT_TRUE(body.ok()) << body.status();
  ASSERT_EQ(body->segments.size(), 2u);
  EXPECT_EQ(body->segments[0].text, "a");
  EXPECT_EQ(body->segments[1].tokens, (std::vector<std::uint32_t>{1, 4294967295u}));
  EXPECT_EQ(body->segments[1].base, 7u);
  EXPECT_EQ(body->max_tokens, 3u);
  EXPECT_EQ(body->seed, 9u);
  EXPECT_EQ(body->stops, std::vector<std::string>{"x"});
  EXPECT_TRUE(body->stream);
}

TEST(CompletionJsonTest, NeutralValuesOfMissingOptionsPass) {
  EXPECT_TRUE(ParseCompletion(R"({"prompt":"a","n":1,"echo":false,"logprobs":null})").ok());
  EXPECT_TRUE(ParseCompletion(R"({"prompt":"a","n":1.0,"presence_penalty":0.0,
                                  "frequency_penalty":-0.0})")
                  .ok());
}

struct Fault {
  const char* name;
  const char* json;
  const char* named;  // what the message must hold
};

class BadBodyTest : public testing::TestWithParam<Fault> {};

TEST_P(BadBodyTest, IsRefusedNamingTheField) {
  const auto body = ParseCompletion(GetParam().json);
  ASSERT_EQ(body.status().code(), absl::StatusCode::kInvalidArgument) << GetParam().json;
  EXPECT_NE(body.status().message().find(GetParam().named), absl::string_view::npos)
      << body.status();
}

INSTANTIATE_TEST_SUITE_P(
    Faults, BadBodyTest,
    testing::Values(Fault{"NoJson", "{", "no JSON"}, Fault{"Behind", "{} {}", "behind its end"},
                    Fault{"NoObject", "[]", "object"},
                    Fault{"Nothing", "{}", "either prompt or segments"},
                    Fault{"Both", R"({"prompt":"a","segments":[]})", "either prompt or segments"},
                    Fault{"Unknown", R"({"prompt":"a","best":1})", "best"},
                    Fault{"Tokens", R"({"prompt":[1,-2]})", "prompt[1]"},
                    Fault{"Float", R"({"prompt":[1.5]})", "prompt[0]"},
                    Fault{"MaxTokens", R"({"prompt":"a","max_tokens":"3"})", "max_tokens"},
                    Fault{"Temperature", R"({"prompt":"a","temperature":3})", "temperature"},
                    Fault{"Kind", R"({"segments":[{"kind":"x","text":"a"}]})", "segments[0].kind"},
                    Fault{"TextAndTokens",
                          R"({"segments":[{"kind":"span","text":"a","tokens":[]}]})",
                          "segments[0]"},
                    Fault{"SegmentField", R"({"segments":[{"kind":"span","text":"a","x":1}]})",
                          "segments[0].x"},
                    Fault{"EmptyStop", R"({"prompt":"a","stop":""})", "stop"},
                    Fault{"Choices", R"({"prompt":"a","n":2})", "not supported"},
                    Fault{"Logprobs", R"({"prompt":"a","logprobs":5})", "logprobs"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(CompletionJsonTest, UnknownFieldsAreShownShortAndWhole) {
  std::string name = "x";
  for (int i = 0; i < 1000; ++i) name += "\xC3\xA9";
  for (const std::string& json :
       {absl::StrCat("{\"", name, "\":1}"), absl::StrCat(R"({"segments":[{")", name, "\":1}]}")}) {
    const std::string message(ParseCompletion(json).status().message());
    EXPECT_LT(message.size(), 150u);
    EXPECT_EQ(ToUtf8(message), message);
  }
}

TEST(CompletionJsonTest, TextAndSegmentsHaveLimits) {
  const auto segments = [](std::size_t count, const std::string& text) {
    std::string list;
    for (std::size_t i = 0; i < count; ++i) {
      absl::StrAppend(&list, i == 0 ? "" : ",", R"({"kind":"span","text":")", text, "\"}");
    }
    return absl::StrCat(R"({"segments":[)", list, "]}");
  };
  EXPECT_TRUE(ParseCompletion(segments(limits::kRequestSegmentsMax, "a")).ok());
  EXPECT_EQ(ParseCompletion(segments(limits::kRequestSegmentsMax + 1, "a")).status().message(),
            "segments: 513 of them, over 512");
  const std::string half(limits::kRequestTextBytesMax / 2, 'a');
  EXPECT_TRUE(ParseCompletion(segments(2, half)).ok());
  EXPECT_EQ(ParseCompletion(segments(2, half + "a")).status().message(),
            "the prompt's text has 1048578 bytes, over 1048576");
}

TEST(CompletionJsonTest, DeepNestingIsRefused) {
  EXPECT_FALSE(ParseCompletion(std::string(100'000, '[')).ok());
}

TEST(CompletionJsonTest, AnswerHoldsUsageAndEscapes) {
  CompletionReport report{.id = "c", .model = "m", .finish_reason = "stop", .prompt_tokens = 3};
  report.spans.push_back({.tokens = 2, .tokens_reused = 2});
  const std::string json = CompletionToJson(report, "a\"\n", {7});
  EXPECT_NE(json.find(R"("text":"a\"\n")"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("hit":true)"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("completion_token_ids":[7])"), std::string::npos) << json;
}

TEST(CompletionJsonTest, CodesBecomeHttpStatuses) {
  EXPECT_EQ(HttpStatusOf(absl::InvalidArgumentError("x")), 400);
  EXPECT_EQ(HttpStatusOf(absl::NotFoundError("x")), 404);
  EXPECT_EQ(HttpStatusOf(absl::ResourceExhaustedError("x")), 429);
  EXPECT_EQ(HttpStatusOf(absl::InternalError("x")), 500);
  EXPECT_NE(ErrorToJson(absl::NotFoundError("no \"m\"")).find(R"(no \"m\")"), std::string::npos);
}

}  // namespace
}  // namespace cairn
