#ifndef CAIRN_TOOLS_CAIRNCTL_INPUT_FILE_H_
#define CAIRN_TOOLS_CAIRNCTL_INPUT_FILE_H_

#include <istream>
#include <string>

#include "absl/status/statusor.h"

namespace cairn {

// A whole file, or what `in` gives if `path` is "-", at most limits::kKeysFileBytesMax. The error
// does not name the file: the caller does.
absl::StatusOr<std::string> ReadInput(const std::string& path, std::istream& in);

}  // namespace cairn
#endif  // CAIRN_TOOLS_CAIRNCTL_INPUT_FILE_H_
