#include "tools/bench/placement/json_lines.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "tests/unit/bench_placement/written_file.h"
#include "tools/bench/placement/limits.h"

namespace cairn::bench {
namespace {

TEST(JsonLinesTest, GivesObjectsInOrderAndPassesOverBlankLines) {
  const WrittenFolder folder;
  const std::string path = folder.Write("a.jsonl", "{\"n\": 1}\n\n  \r\n{\"n\": 2}\r\n{\"n\":3}");
  JsonLines lines = JsonLines::Open(path).value();
  for (const std::uint64_t expected : {1, 2, 3}) {
    const std::optional<JsonRecord> record = lines.Next().value();
    ASSERT_TRUE(record.has_value());
    EXPECT_EQ(record->Number("n", 10).value(), expected);
  }
  EXPECT_FALSE(lines.Next()->has_value());
  EXPECT_EQ(lines.ReadShare(), 1);
}

TEST(JsonLinesTest, ErrorsNameFileAndLine) {
  const WrittenFolder folder;
  const std::string good = "{\"n\": 1}\n";
  const std::string deep = std::string(limits::kJsonDepthMax + 2, '[');
  for (const std::string& bad :
       {std::string("{\"n\": }"), std::string("{\"n\": 1"), std::string("7"), std::string("[1]"),
        std::string("{\"n\": 1} x"), std::string("{}{}"), std::string("\x01\xff\xfe"),
        "{\"n\": " + deep}) {
    SCOPED_TRACE(bad);
    const std::string path = folder.Write("bad.jsonl", good + "\n" + bad + "\n" + good);
    JsonLines lines = JsonLines::Open(path).value();
    ASSERT_TRUE(lines.Next()->has_value());
    const absl::Status status = lines.Next().status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_TRUE(absl::StartsWith(status.message(), path + ":3: ")) << status;
  }
}

TEST(JsonLinesTest, FilesThatCannotBeReadAreRefused) {
  const WrittenFolder folder;
  for (const std::string& path :
       {folder.path() + "/none", folder.path(), folder.Write("empty", "")}) {
    const absl::Status status = JsonLines::Open(path).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << path;
    EXPECT_TRUE(absl::StrContains(status.message(), path)) << status;
  }
}

TEST(JsonRecordTest, FieldsOfAnotherTypeOrSizeAreRefusedByName) {
  const JsonRecord record(boost::json::object{{"text", "abc"},
                                              {"negative", -1},
                                              {"part", 1.5},
                                              {"big", 11},
                                              {"null", nullptr},
                                              {"list", boost::json::array{1, 2, "x"}},
                                              {"flag", true}},
                          "f:9");
  const auto says = [](const absl::Status& status, const std::string& begin) {
    return status.code() == absl::StatusCode::kInvalidArgument &&
           absl::StartsWith(status.message(), begin);
  };
  for (const char* name : {"text", "negative", "part", "big", "null", "list", "flag", "absent"}) {
    EXPECT_TRUE(says(record.Number(name, 10).status(), std::string("f:9: ") + name + ": ")) << name;
  }
  EXPECT_TRUE(says(record.Text("big", 10).status(), "f:9: big: "));
  EXPECT_TRUE(says(record.Text("text", 2).status(), "f:9: text: "));
  EXPECT_EQ(record.Text("text", 3).value(), "abc");
  EXPECT_TRUE(says(record.Array("text", 10).status(), "f:9: text: "));
  EXPECT_TRUE(says(record.Array("list", 2).status(), "f:9: list: "));
  EXPECT_TRUE(says(record.Numbers("list", 3, 5).status(), "f:9: list[2]: "));
  EXPECT_TRUE(says(record.Numbers("list", 3, 1).status(), "f:9: list[1]: "));
}

TEST(ReadJsonObjectTest, ReadsOneValueThatFillsTheFile) {
  const WrittenFolder folder;
  EXPECT_EQ(ReadJsonObject(folder.Write("a", "{\n\"n\":\n 4}\n"))->Number("n", 9).value(), 4u);
  EXPECT_FALSE(ReadJsonObject(folder.Write("b", "{\"n\": 4} 5")).ok());
  EXPECT_FALSE(ReadJsonObject(folder.Write("c", "[]")).ok());
}

}  // namespace
}  // namespace cairn::bench
