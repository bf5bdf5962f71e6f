#include "libs/mapped_file/mapped_file.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "libs/base/bytes.h"

namespace cairn {
namespace {

class MappedFileTest : public ::testing::Test {
 protected:
  MappedFileTest() : folder_(::testing::TempDir() + "mapped_XXXXXX") {
    EXPECT_NE(::mkdtemp(folder_.data()), nullptr);
  }
  ~MappedFileTest() override { std::filesystem::remove_all(folder_); }

  // A file of this test's own.
  std::string Write(const std::string& text) {
    const std::string path = folder_ + "/file";
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

 private:
  std::string folder_;
};

TEST_F(MappedFileTest, BytesAreTheFilesAndSurviveAMove) {
  auto opened = MappedFile::Open(Write("content"));
  ASSERT_TRUE(opened.ok()) << opened.status();
  MappedFile moved = *std::move(opened);
  EXPECT_EQ(AsStringView(moved.bytes()), "content");
  MappedFile other = *MappedFile::Open(Write("second file"));
  moved = std::move(other);
  EXPECT_EQ(AsStringView(moved.bytes()), "second file");
  EXPECT_TRUE(other.bytes().empty());  // NOLINT(bugprone-use-after-move)
}

TEST_F(MappedFileTest, WhatCannotBeMappedIsNamed) {
  const auto missing = MappedFile::Open("/no/such/file");
  EXPECT_EQ(missing.status().code(), absl::StatusCode::kNotFound);
  EXPECT_NE(missing.status().message().find("/no/such/file"), absl::string_view::npos);
  EXPECT_EQ(MappedFile::Open(Write("")).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(MappedFile::Open(::testing::TempDir()).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace cairn
