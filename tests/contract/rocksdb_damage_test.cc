#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "libs/planner/snapshot_log.h"
#include "libs/store_rocksdb/rocksdb_store.h"
#include "tests/contract/temp_folder.h"

// Snapshots in a RocksDB folder that something happens to.
namespace cairn::contract {
namespace {

namespace fs = std::filesystem;

const std::string kOld(50'000, 'o');
const std::string kNew(50'000, 'n');

// A folder with two snapshots, kOld and kNew.
std::unique_ptr<TempFolder> Written() {
  auto folder = std::make_unique<TempFolder>();
  const auto store = RocksdbStore::Open(*folder / "store").value();
  planner::SnapshotLog log(*store);
  EXPECT_TRUE(log.Write("first, and removed").ok());
  EXPECT_TRUE(log.Write(kOld).ok());
  EXPECT_TRUE(log.Write(kNew).ok());
  return folder;
}

// Of the two generations, 2 and 3, the files with values in them: relative to the store.
std::vector<std::string> FilesOf(const TempFolder& folder) {
  std::vector<std::string> files;
  for (const auto& file : fs::recursive_directory_iterator(folder / "store")) {
    const std::string name = file.path().filename();
    if (!file.is_regular_file() || name == "lock" || name == "LOCK") continue;
    files.push_back(fs::relative(file.path(), folder / "store"));
  }
  return files;
}

struct Found {
  std::string snapshot;
  std::string said;  // of damage
};

// What a service would begin with; it must be able to write afterwards.
Found Reopened(const TempFolder& folder) {
  const auto store = RocksdbStore::Open(folder / "store");
  EXPECT_TRUE(store.ok()) << store.status();
  if (!store.ok()) return {};
  Found found;
  planner::SnapshotLog log(**store);
  const auto opened = log.Open([&](absl::string_view snapshot) {
    found.snapshot = std::string(snapshot);
    return absl::OkStatus();
  });
  EXPECT_TRUE(opened.ok()) << opened.status();
  if (opened.ok()) found.said = opened->skipped;
  EXPECT_TRUE(log.Write("next").ok());
  return found;
}

TEST(RocksdbDamageTest, UndamagedTheNewestIsFound) {
  const auto folder = Written();
  const Found found = Reopened(*folder);
  EXPECT_EQ(found.snapshot, kNew);
  EXPECT_EQ(found.said, "");
}

TEST(RocksdbDamageTest, OneProcessAtATime) {
  const auto folder = Written();
  const auto store = RocksdbStore::Open(*folder / "store").value();
  EXPECT_EQ(RocksdbStore::Open(*folder / "store").status().code(),
            absl::StatusCode::kFailedPrecondition);
}

// Whatever happens to any one file, the service starts with a whole snapshot: with the newest one,
// or saying why not. And it can write on.
void EachFile(void (*damage)(const fs::path&)) {
  int passed_over = 0;
  for (const std::string& file : FilesOf(*Written())) {
    const auto folder = Written();
    const fs::path path = fs::path(*folder / "store") / file;
    ASSERT_TRUE(fs::exists(path)) << path;
    damage(path);
    const Found found = Reopened(*folder);
    const bool is_newest = found.snapshot == kNew;
    EXPECT_TRUE(is_newest || found.snapshot == kOld) << file;
    EXPECT_EQ(is_newest, found.said.empty()) << file << ": " << found.said;
    if (file.starts_with("00000000000000000002")) {
      EXPECT_TRUE(is_newest) << file;
    }
    passed_over += is_newest ? 0 : 1;
  }
  EXPECT_GE(passed_over, 1);
}

TEST(RocksdbDamageTest, WhatAKilledServiceWasWritingOrRemovingIsCleared) {
  const auto folder = Written();
  fs::create_directories(*folder / "store/00000000000000000004.new");
  fs::rename(*folder / "store/00000000000000000002", *folder / "store/00000000000000000002.old");
  const Found found = Reopened(*folder);
  EXPECT_EQ(found.snapshot, kNew);
  EXPECT_EQ(found.said, "");
  EXPECT_FALSE(fs::exists(*folder / "store/00000000000000000004.new"));
  EXPECT_FALSE(fs::exists(*folder / "store/00000000000000000002.old"));
}

TEST(RocksdbDamageTest, WithoutAnyWholeOneItStartsEmptyAndSaysSo) {
  const auto folder = Written();
  for (const std::string& file : FilesOf(*folder))
    fs::resize_file(fs::path(*folder / "store") / file, 0);
  const Found found = Reopened(*folder);
  EXPECT_EQ(found.snapshot, "");
  EXPECT_NE(found.said.find("generation 2: "), std::string::npos) << found.said;
  EXPECT_NE(found.said.find("generation 3: "), std::string::npos) << found.said;
}

TEST(RocksdbDamageTest, AFileIsGone) {
  EachFile([](const fs::path& path) { fs::remove(path); });
}

TEST(RocksdbDamageTest, AFileIsCutShort) {
  EachFile([](const fs::path& path) { fs::resize_file(path, fs::file_size(path) / 2); });
}

TEST(RocksdbDamageTest, AFileIsEmpty) {
  EachFile([](const fs::path& path) { fs::resize_file(path, 0); });
}

TEST(RocksdbDamageTest, ABitIsFlipped) {
  EachFile([](const fs::path& path) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    const auto at = static_cast<std::streamoff>(fs::file_size(path) / 2);
    file.seekg(at);
    const char byte = static_cast<char>(file.get() ^ 0x10);
    file.seekp(at);
    file.put(byte);
  });
}

}  // namespace
}  // namespace cairn::contract
