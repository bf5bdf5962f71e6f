#include "services/node/run_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"

namespace cairn {
namespace {

using ::testing::HasSubstr;

class RunFolderTest : public ::testing::Test {
 protected:
  RunFolderTest() {
    top_ = absl::StrCat(testing::TempDir(), "cairn_run_XXXXXX");
    EXPECT_NE(::mkdtemp(top_.data()), nullptr);
    path_ = top_ + "/deep/run";
  }
  ~RunFolderTest() override { std::filesystem::remove_all(top_); }
  static std::string Read(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static unsigned ModeOf(const std::string& path) {
    struct stat file {};
    EXPECT_EQ(::stat(path.c_str(), &file), 0) << path;
    return file.st_mode & 0777;
  }
  std::string top_;
  std::string path_;
};

TEST_F(RunFolderTest, IsMadeForItsOwnerOnly) {
  const auto folder = RunFolder::Open({.path = path_});
  ASSERT_TRUE(folder.ok()) << folder.status();
  EXPECT_EQ(ModeOf(path_), 0700U);
}

TEST_F(RunFolderTest, AFileIsWrittenAndRemovedAtTheEnd) {
  {
    const auto folder = RunFolder::Open({.path = path_});
    ASSERT_TRUE(folder.ok()) << folder.status();
    ASSERT_TRUE((*folder)->Write("token", std::string("\0x", 2), RunFolder::Readers::kOwner).ok());
    ASSERT_TRUE((*folder)->Write("grpc", "a", RunFolder::Readers::kAll).ok());
    EXPECT_EQ(Read(path_ + "/token"), std::string("\0x", 2));
    EXPECT_EQ(ModeOf(path_ + "/token"), 0600U);
    EXPECT_EQ(ModeOf(path_ + "/grpc"), 0644U);
  }
  EXPECT_FALSE(std::filesystem::exists(path_ + "/token"));
  EXPECT_FALSE(std::filesystem::exists(path_ + "/grpc"));
}

TEST_F(RunFolderTest, ASecondHolderIsRefusedAndToldThePid) {
  const auto first = RunFolder::Open({.path = path_});
  ASSERT_TRUE(first.ok()) << first.status();
  const auto second = RunFolder::Open({.path = path_});
  EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(second.status().message()),
              HasSubstr(absl::StrCat("in use by another node (pid ", ::getpid(), ")")));
}

TEST_F(RunFolderTest, WhatAKilledNodeLeftIsReplaced) {
  std::filesystem::create_directories(path_);
  std::filesystem::permissions(path_, std::filesystem::perms::owner_all);
  for (const char* name : {"/token", "/grpc", "/lock", "/.token.new"}) {
    std::ofstream(path_ + name) << "of a node that was killed";
  }
  const auto folder = RunFolder::Open({.path = path_});
  ASSERT_TRUE(folder.ok()) << folder.status();
  EXPECT_FALSE(std::filesystem::exists(path_ + "/token"));
  EXPECT_FALSE(std::filesystem::exists(path_ + "/grpc"));
  ASSERT_TRUE((*folder)->Write("token", "new", RunFolder::Readers::kOwner).ok());
  EXPECT_EQ(Read(path_ + "/token"), "new");
  EXPECT_EQ(Read(path_ + "/lock"), absl::StrCat(::getpid(), "\n"));
}

TEST_F(RunFolderTest, AFolderThatOthersMayWriteToIsRefused) {
  std::filesystem::create_directories(path_);
  ASSERT_EQ(::chmod(path_.c_str(), 0777), 0);
  const auto folder = RunFolder::Open({.path = path_});
  EXPECT_EQ(folder.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(folder.status().message()), HasSubstr("other users"));
}

TEST_F(RunFolderTest, AFileInItsPlaceIsRefused) {
  std::ofstream(top_ + "/file") << "x";
  EXPECT_FALSE(RunFolder::Open({.path = top_ + "/file"}).ok());
  EXPECT_FALSE(RunFolder::Open({.path = top_ + "/file/run"}).ok());
}

}  // namespace
}  // namespace cairn
