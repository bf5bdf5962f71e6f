#ifndef CAIRN_TESTS_UNIT_BENCH_PLACEMENT_WRITTEN_FILE_H_
#define CAIRN_TESTS_UNIT_BENCH_PLACEMENT_WRITTEN_FILE_H_

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"

namespace cairn::bench {

// A folder of a test's own, with what it writes there, gone at its end.
class WrittenFolder {
 public:
  WrittenFolder() {
    std::string name = absl::StrCat(testing::TempDir(), "/bench-placement-XXXXXX");
    path_ = ::mkdtemp(name.data());
  }
  ~WrittenFolder() { std::filesystem::remove_all(path_); }
  WrittenFolder(const WrittenFolder&) = delete;
  WrittenFolder& operator=(const WrittenFolder&) = delete;

  const std::string& path() const { return path_; }
  // Writes a file, and its folder if there is none; returns its path.
  std::string Write(const std::string& name, const std::string& content) const {
    const std::string file = absl::StrCat(path_, "/", name);
    std::filesystem::create_directories(std::filesystem::path(file).parent_path());
    std::ofstream(file, std::ios::binary) << content;
    return file;
  }

 private:
  std::string path_;
};

}  // namespace cairn::bench
#endif  // CAIRN_TESTS_UNIT_BENCH_PLACEMENT_WRITTEN_FILE_H_
