#include "libs/gguf/metadata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "libs/base/bytes.h"
#include "libs/gguf/gguf_file.h"
#include "libs/gguf/gguf_writer.h"

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A file with one key of each kind, kept alive with its metadata.
class GgufMetadataTest : public ::testing::Test {
 protected:
  GgufMetadataTest() {
    GgufWriter w;
    w.AddUint32("u32", 7);
    w.AddInt32("i32", -7);
    w.AddInt32("i32_positive", 9);
    w.AddUint64("u64", UINT64_MAX);
    w.AddFloat32("f32", 0.1f);
    w.AddRaw("f64", GgufValueType::kFloat64, std::string("\0\0\0\0\0\0\xE0\x3F", 8));
    w.AddBool("bool", true);
    w.AddString("string", "text");
    w.AddStrings("strings", {"a", "", "c"});
    w.AddInt32s("ints", {1, -2});
    w.AddFloat32s("floats", {0.5f, 2.0f});
    file_ = std::move(w).Finish();
    parsed_ = *GgufFile::Parse(AsBytes(file_));
  }
  const GgufMetadata& metadata() const { return parsed_.metadata(); }

  std::string file_;
  GgufFile parsed_;
};

TEST_F(GgufMetadataTest, GettersGiveTheValue) {
  EXPECT_EQ(*metadata().GetUint("u32"), 7u);
  EXPECT_EQ(*metadata().GetUint("u64"), UINT64_MAX);
  EXPECT_EQ(*metadata().GetUint("i32_positive"), 9u);
  EXPECT_EQ(*metadata().GetInt("i32"), -7);
  EXPECT_EQ(*metadata().GetInt("u32"), 7);
  EXPECT_EQ(*metadata().GetFloat("f32"), static_cast<double>(0.1f));
  EXPECT_EQ(*metadata().GetFloat("f64"), 0.5);
  EXPECT_EQ(*metadata().GetBool("bool"), true);
  EXPECT_EQ(*metadata().GetString("string"), "text");
  EXPECT_THAT(*metadata().GetStrings("strings"), ElementsAre("a", "", "c"));
  EXPECT_THAT(*metadata().GetInts("ints"), ElementsAre(1, -2));
  EXPECT_THAT(*metadata().GetFloats("floats"), ElementsAre(0.5f, 2.0f));
}

TEST_F(GgufMetadataTest, WrongTypeNamesKeyExpectedAndFound) {
  const absl::Status status = metadata().GetUint("strings").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("'strings'"), HasSubstr("expected an unsigned integer"),
                    HasSubstr("found array of 3 string")));
  EXPECT_THAT(std::string(metadata().GetFloat("u32").status().message()), HasSubstr("found u32"));
  EXPECT_FALSE(metadata().GetInt("bool").ok());
  EXPECT_FALSE(metadata().GetBool("u32").ok());
  EXPECT_FALSE(metadata().GetString("strings").ok());
  EXPECT_FALSE(metadata().GetStrings("ints").ok());
  EXPECT_FALSE(metadata().GetInts("floats").ok());
  EXPECT_FALSE(metadata().GetFloats("ints").ok());
}

TEST_F(GgufMetadataTest, ValuesOutOfRangeAreErrors) {
  EXPECT_EQ(metadata().GetUint("i32").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(metadata().GetInt("u64").status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(GgufMetadataTest, AbsentKeyIsNotFoundOrTheDefault) {
  EXPECT_EQ(metadata().GetUint("no").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(metadata().GetStrings("no").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(*metadata().GetUintOr("no", 5), 5u);
  EXPECT_EQ(*metadata().GetFloatOr("no", 2.5), 2.5);
  EXPECT_EQ(*metadata().GetBoolOr("no", true), true);
  EXPECT_EQ(*metadata().GetStringOr("no", "x"), "x");
  EXPECT_EQ(*metadata().GetUintOr("u32", 5), 7u);
  EXPECT_FALSE(metadata().GetUintOr("string", 5).ok()) << "a wrong type is no reason for a default";
}

TEST(QuotedNameTest, HostileNamesStayOnOneLine) {
  EXPECT_EQ(QuotedName("a\n\x01"), "'a\\n\\x01'");
  EXPECT_EQ(QuotedName(std::string(1000, 'k')).size(), 85u);
}

}  // namespace
}  // namespace cairn
