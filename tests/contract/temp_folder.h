#ifndef CAIRN_TESTS_CONTRACT_TEMP_FOLDER_H_
#define CAIRN_TESTS_CONTRACT_TEMP_FOLDER_H_

#include <cstdlib>
#include <filesystem>
#include <string>

namespace cairn::contract {

// A folder of its own, removed at the end.
class TempFolder {
 public:
  TempFolder() {
    std::string name = std::filesystem::temp_directory_path() / "cairn-contract-XXXXXX";
    path_ = ::mkdtemp(name.data());
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace cairn::contract
#endif  // CAIRN_TESTS_CONTRACT_TEMP_FOLDER_H_
