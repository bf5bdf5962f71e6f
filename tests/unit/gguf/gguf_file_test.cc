#include "libs/gguf/gguf_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "libs/base/bytes.h"
#include "libs/base/limits.h"
#include "libs/gguf/gguf_writer.h"

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A header, field by field, so that each can be wrong.
class Header {
 public:
  Header(std::uint64_t tensors, std::uint64_t keys, std::uint32_t version = 3) {
    out_.PutBytes("GGUF");
    Put(version).Put(tensors).Put(keys);
  }
  template <class T>
  Header& Put(T value) {
    out_.Put(value);
    return *this;
  }
  Header& Text(absl::string_view text) {
    Put(static_cast<std::uint64_t>(text.size()));
    out_.PutBytes(text);
    return *this;
  }
  Header& Key(absl::string_view name, GgufValueType type) { return Text(name).Put(type); }
  // A tensor's entry; `offset` counts from the data section.
  Header& Tensor(absl::string_view name, const std::vector<std::uint64_t>& dims, std::uint32_t type,
                 std::uint64_t offset) {
    Text(name).Put(static_cast<std::uint32_t>(dims.size()));
    for (std::uint64_t dim : dims) Put(dim);
    return Put(type).Put(offset);
  }
  std::string Take(std::size_t data_bytes = 0) {
    std::string file = std::move(out_).Take();
    file.resize((file.size() + 31) / 32 * 32 + data_bytes);
    return file;
  }
  std::string TakeUnpadded() { return std::move(out_).Take(); }

 private:
  ByteWriter out_;
};

constexpr std::uint32_t kF32 = 0;
constexpr std::uint32_t kQ4_1 = 3;

std::string ErrorOf(const std::string& file) {
  const auto parsed = GgufFile::Parse(AsBytes(file));
  EXPECT_FALSE(parsed.ok());
  return parsed.status().ToString();
}

TEST(GgufFileTest, TensorsAreFoundByNameWithTheirShape) {
  GgufWriter w;
  w.AddTensor("a", TensorType::kF32, {2, 3}, {1, 2, 3, 4, 5, 6});
  w.AddTensor("b", TensorType::kF32, {1}, {9});
  const std::string file = std::move(w).Finish();
  const auto parsed = GgufFile::Parse(AsBytes(file));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  const auto a = parsed->Get("a", {2, 3});
  ASSERT_TRUE(a.ok()) << a.status();
  EXPECT_EQ((*a)->rows(), 3u);
  EXPECT_EQ((*a)->row_bytes(), 8u);
  std::vector<float> row(2);
  (*a)->DequantiseRow(1, absl::MakeSpan(row));
  EXPECT_THAT(row, ElementsAre(3, 4));
  EXPECT_EQ((*a)->bytes.data(), AsBytes(file).data() + (*a)->offset);
  EXPECT_EQ(parsed->Find("c"), nullptr);
  EXPECT_EQ(parsed->Get("c", {1}).status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(parsed->Get("a", {3, 2}).status().message()),
              AllOf(HasSubstr("'a'"), HasSubstr("[3, 2]"), HasSubstr("[2, 3]")));
}

TEST(GgufFileTest, NestedArraysAreReadToTheirDepth) {
  Header h(0, 1);
  h.Key("k", GgufValueType::kArray).Put(GgufValueType::kArray).Put(std::uint64_t{2});
  h.Put(GgufValueType::kUint8).Put(std::uint64_t{1}).Put(std::uint8_t{5});
  h.Put(GgufValueType::kString).Put(std::uint64_t{1}).Text("deep");
  const std::string file = h.Take();
  const auto parsed = GgufFile::Parse(AsBytes(file));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  const auto& outer = std::get<GgufArray>(parsed->metadata().Find("k")->value);
  ASSERT_EQ(outer.arrays.size(), 2u);
  EXPECT_EQ(std::get<GgufArray>(outer.arrays[0].value).packed.size(), 1u);
  EXPECT_EQ(std::get<GgufArray>(outer.arrays[1].value).strings[0], "deep");
}

TEST(GgufFileTest, EveryValueTypeIsRead) {
  Header h(0, 12);
  h.Key("u8", GgufValueType::kUint8).Put(std::uint8_t{255});
  h.Key("i8", GgufValueType::kInt8).Put(std::int8_t{-1});
  h.Key("u16", GgufValueType::kUint16).Put(std::uint16_t{65535});
  h.Key("i16", GgufValueType::kInt16).Put(std::int16_t{-2});
  h.Key("u32", GgufValueType::kUint32).Put(std::uint32_t{4});
  h.Key("i32", GgufValueType::kInt32).Put(std::int32_t{-3});
  h.Key("u64", GgufValueType::kUint64).Put(std::uint64_t{6});
  h.Key("i64", GgufValueType::kInt64).Put(std::int64_t{-4});
  h.Key("f32", GgufValueType::kFloat32).Put(std::uint32_t{0x3F800000});
  h.Key("f64", GgufValueType::kFloat64).Put(std::uint64_t{0x4000000000000000});
  h.Key("bool", GgufValueType::kBool).Put(std::uint8_t{0});
  h.Key("string", GgufValueType::kString).Text("s");
  const std::string file = h.Take();
  const auto parsed = GgufFile::Parse(AsBytes(file));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  const GgufMetadata& m = parsed->metadata();
  EXPECT_EQ(*m.GetUint("u8"), 255u);
  EXPECT_EQ(*m.GetInt("i8"), -1);
  EXPECT_EQ(*m.GetUint("u16"), 65535u);
  EXPECT_EQ(*m.GetInt("i16"), -2);
  EXPECT_EQ(*m.GetInt("i32"), -3);
  EXPECT_EQ(*m.GetInt("i64"), -4);
  EXPECT_EQ(*m.GetFloat("f32"), 1.0);
  EXPECT_EQ(*m.GetFloat("f64"), 2.0);
  EXPECT_EQ(*m.GetBool("bool"), false);
  EXPECT_EQ(*m.GetString("string"), "s");
}

struct BadFile {
  const char* name;
  std::string file;
  std::vector<std::string> says;
};

std::vector<BadFile> BadHeaders() {
  const auto u64 = [](std::uint64_t v) { return v; };
  std::vector<BadFile> out;
  out.push_back({"empty", "", {"header"}});
  out.push_back({"another format", std::string(64, 'x'), {"not a GGUF file"}});
  out.push_back({"version 1", Header(0, 0, 1).Take(), {"UNIMPLEMENTED", "version 1"}});
  out.push_back({"big-endian", Header(0, 0, 0x03000000).Take(), {"UNIMPLEMENTED", "big-endian"}});
  out.push_back({"tensors beyond the limit",
                 Header(u64(1) << 60, 0).Take(),
                 {"1152921504606846976 tensors, at most", "byte 8"}});
  out.push_back({"tensors beyond the file", Header(100, 0).Take(), {"100 tensors in", "byte 8"}});
  out.push_back({"keys beyond the file", Header(0, 100).Take(), {"100 metadata keys", "byte 16"}});
  out.push_back({"key beyond the file",
                 Header(0, 1).Put(u64(5000)).Take(64),
                 {"metadata entry 0", "5000", "byte 24"}});
  out.push_back({"key too long", Header(0, 1).Put(u64(1) << 40).Take(64), {"at most 65535"}});
  out.push_back(
      {"empty key", Header(0, 1).Text("").Put(u64(0)).Put(u64(0)).Take(), {"empty name"}});
  return out;
}

std::vector<BadFile> BadEntries() {
  const auto u64 = [](std::uint64_t v) { return v; };
  std::vector<BadFile> out;
  out.push_back({"unknown value type",
                 Header(0, 1).Text("k").Put(std::uint32_t{13}).Put(u64(0)).Take(),
                 {"'k'", "value type 13", "byte 33"}});
  out.push_back({"bool of 2",
                 Header(0, 1).Key("k", GgufValueType::kBool).Put(std::uint8_t{2}).Take(),
                 {"'k'", "bool of value 2"}});
  out.push_back({"string beyond the file",
                 Header(0, 1).Key("k", GgufValueType::kString).Put(u64(99)).TakeUnpadded(),
                 {"'k'", "99 bytes of text in 0 bytes", "byte 37"}});
  out.push_back({"array beyond the file",
                 Header(0, 1)
                     .Key("k", GgufValueType::kArray)
                     .Put(GgufValueType::kUint64)
                     .Put(u64(1000))
                     .TakeUnpadded(),
                 {"'k'", "1000 array elements in 0 bytes"}});
  out.push_back({"array beyond the limit",
                 Header(0, 1)
                     .Key("k", GgufValueType::kArray)
                     .Put(GgufValueType::kUint64)
                     .Put(UINT64_MAX)
                     .TakeUnpadded(),
                 {"18446744073709551615 array elements"}});
  out.push_back({"value cut off",
                 Header(0, 1).Key("k", GgufValueType::kUint64).Put(std::uint32_t{1}).TakeUnpadded(),
                 {"'k'", "ends after 4 bytes", "byte 37"}});
  out.push_back({"key twice",
                 Header(0, 2)
                     .Key("k", GgufValueType::kUint32)
                     .Put(1)
                     .Key("k", GgufValueType::kUint32)
                     .Put(2)
                     .Take(),
                 {"'k' at byte 41 is there already at byte 24"}});
  for (std::uint32_t alignment : {0u, 4u, 24u, 1u << 20}) {
    out.push_back(
        {"alignment",
         Header(0, 1).Key("general.alignment", GgufValueType::kUint32).Put(alignment).Take(),
         {"general.alignment", "power of two"}});
  }
  out.push_back({"alignment of another type",
                 Header(0, 1).Key("general.alignment", GgufValueType::kString).Text("32").Take(),
                 {"general.alignment", "found string"}});
  return out;
}

std::vector<BadFile> BadTensors() {
  const std::uint64_t huge = std::uint64_t{1} << 63;
  std::vector<BadFile> out;
  out.push_back(
      {"no dimensions", Header(1, 0).Tensor("t", {}, kF32, 0).Take(64), {"0 dimensions"}});
  out.push_back({"five dimensions",
                 Header(1, 0).Tensor("t", {1, 1, 1, 1, 1}, kF32, 0).Take(64),
                 {"'t'", "5 dimensions"}});
  out.push_back({"dimension 0",
                 Header(1, 0).Tensor("t", {4, 0}, kF32, 0).Take(64),
                 {"'t'", "dimension 1 is 0"}});
  out.push_back({"product overflows",
                 Header(1, 0).Tensor("t", {huge, 2}, kF32, 0).Take(64),
                 {"'t'", "takes more than"}});
  out.push_back(
      {"bytes overflow", Header(1, 0).Tensor("t", {huge}, kF32, 0).Take(64), {"takes more than"}});
  out.push_back({"product wraps to small",
                 Header(1, 0).Tensor("t", {huge, huge, 4, 4}, kF32, 0).Take(64),
                 {"takes more than"}});
  out.push_back({"row is no multiple",
                 Header(1, 0).Tensor("t", {33}, kQ4_1, 0).Take(64),
                 {"'t'", "multiple of 32", "byte 24"}});
  out.push_back({"unknown type",
                 Header(1, 0).Tensor("t", {256}, 12, 0).Take(4096),
                 {"UNIMPLEMENTED", "'t'", "Q4_K (12)"}});
  out.push_back({"offset unaligned",
                 Header(1, 0).Tensor("t", {4}, kF32, 8).Take(64),
                 {"'t'", "multiple of 32"}});
  out.push_back({"past the end",
                 Header(1, 0).Tensor("t", {17}, kF32, 0).Take(64),
                 {"'t'", "68 bytes from 0 of a data section of 64"}});
  out.push_back({"starts past the end",
                 Header(1, 0).Tensor("t", {4}, kF32, std::uint64_t{0} - 32).Take(64),
                 {"'t'", "the file ends too early"}});
  out.push_back({"no data at all",
                 Header(1, 0).Tensor("t", {4}, kF32, 0).TakeUnpadded(),
                 {"data section of 0"}});
  out.push_back({"overlap",
                 Header(2, 0).Tensor("a", {9}, kF32, 0).Tensor("b", {4}, kF32, 32).Take(96),
                 {"'b'", "overlaps tensor 'a'"}});
  out.push_back({"name twice",
                 Header(2, 0).Tensor("a", {4}, kF32, 0).Tensor("a", {4}, kF32, 32).Take(96),
                 {"'a'", "there already"}});
  out.push_back({"name too long",
                 Header(1, 0).Tensor(std::string(300, 'n'), {4}, kF32, 0).Take(64),
                 {"at most 256"}});
  return out;
}

TEST(GgufFileTest, BadFilesAreRefusedWithThePlace) {
  std::vector<BadFile> all = BadHeaders();
  for (BadFile& bad : BadEntries()) all.push_back(std::move(bad));
  for (BadFile& bad : BadTensors()) all.push_back(std::move(bad));
  for (const BadFile& bad : all) {
    const std::string error = ErrorOf(bad.file);
    for (const std::string& part : bad.says) {
      EXPECT_THAT(error, HasSubstr(part)) << "in case: " << bad.name;
    }
  }
}

TEST(GgufFileTest, DeepAndWideNestingIsRefused) {
  Header deep(0, 1);
  deep.Key("k", GgufValueType::kArray);
  for (int i = 0; i < 100; ++i) deep.Put(GgufValueType::kArray).Put(std::uint64_t{1});
  EXPECT_THAT(ErrorOf(deep.Take(64)), HasSubstr("nested deeper than 4"));
  Header wide(0, 1);
  wide.Key("k", GgufValueType::kArray).Put(GgufValueType::kArray);
  wide.Put(limits::kGgufNestedArraysMax + 1);
  for (std::uint64_t i = 0; i <= limits::kGgufNestedArraysMax; ++i) {
    wide.Put(GgufValueType::kUint8).Put(std::uint64_t{0});
  }
  EXPECT_THAT(ErrorOf(wide.Take()), HasSubstr("nested arrays"));
}

TEST(GgufFileTest, EveryCutOfAGoodFileIsRefusedOrSmaller) {
  GgufWriter w;
  w.AddStrings("strings", {"one", "two"});
  w.AddTensor("a", TensorType::kQ8_0, {32, 2}, std::vector<float>(64, 1.0f));
  const std::string file = std::move(w).Finish();
  ASSERT_TRUE(GgufFile::Parse(AsBytes(file)).ok());
  // The last bytes are padding, which nothing needs.
  for (std::size_t size = 0; size < file.size() - 32; ++size) {
    EXPECT_FALSE(GgufFile::Parse(AsBytes(file.substr(0, size))).ok()) << size;
  }
}

}  // namespace
}  // namespace cairn
