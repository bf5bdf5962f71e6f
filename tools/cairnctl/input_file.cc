#include "tools/cairnctl/input_file.h"

#include <fstream>

#include "absl/strings/str_cat.h"
#include "libs/base/limits.h"

namespace cairn {
namespace {

absl::StatusOr<std::string> ReadBounded(std::istream& in) {
  std::string text;
  char piece[1 << 16];
  while (in.read(piece, sizeof piece), in.gcount() > 0) {
    text.append(piece, static_cast<std::size_t>(in.gcount()));
    if (text.size() > limits::kKeysFileBytesMax) {
      return absl::ResourceExhaustedError(
          absl::StrCat("larger than ", limits::kKeysFileBytesMax, " bytes"));
    }
  }
  if (in.bad()) return absl::UnavailableError("cannot be read");
  return text;
}

}  // namespace

absl::StatusOr<std::string> ReadInput(const std::string& path, std::istream& in) {
  if (path == "-") return ReadBounded(in);
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::UnavailableError("cannot be opened (is the path right, and readable?)");
  return ReadBounded(file);
}

}  // namespace cairn
