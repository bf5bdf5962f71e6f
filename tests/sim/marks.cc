#include "tests/sim/marks.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

namespace cairn::sim {
namespace {

constexpr const char* kLibraries[] = {"block", "pin", "index", "evict", "node", "client"};
constexpr char kCall[] = "CAIRN_COVERED(\"";

void Collect(const std::filesystem::path& file, std::set<std::string>& marks) {
  std::ifstream in(file);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  std::size_t at = 0;
  while ((at = text.find(kCall, at)) != std::string::npos) {
    at += sizeof kCall - 1;
    const std::size_t end = text.find('"', at);
    if (end != std::string::npos) marks.insert(text.substr(at, end - at));
  }
}

}  // namespace

std::vector<std::string> MarksInSources() {
  std::set<std::string> marks;
  for (const char* library : kLibraries) {
    const std::filesystem::path folder = std::filesystem::path("libs") / library;
    if (!std::filesystem::is_directory(folder)) return {};
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      const std::string extension = entry.path().extension().string();
      if (extension == ".cc" || extension == ".h") Collect(entry.path(), marks);
    }
  }
  return {marks.begin(), marks.end()};
}

const std::vector<MarkElsewhere>& MarksElsewhere() {
  static constexpr char kClientTests[] = "tests/unit/client/marks_test.cc";
  static const auto* const marks = new std::vector<MarkElsewhere>{
      // A node that breaks the protocol.
      {"client_descriptor_out_of_bounds", kClientTests},
      {"client_protocol_error", kClientTests},
      {"client_root_differs", kClientTests},
      // The node evicts only what is not held; the pool does not rely on that.
      {"evicted_while_held", "tests/unit/block/slot_pool_test.cc"},
  };
  return *marks;
}

}  // namespace cairn::sim
