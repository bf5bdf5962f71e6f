#ifndef CAIRN_TOOLS_CAIRNCTL_COMMAND_LINE_H_
#define CAIRN_TOOLS_CAIRNCTL_COMMAND_LINE_H_

#include <string>

#include "absl/types/span.h"
#include "tools/cairnctl/verb.h"

namespace cairn {

// Runs `cairnctl ARGS...` and returns its exit code: 0 done, 1 failed, 2 usage, 3 not found. A
// usage error is one line that names the mistake and one that says where to look.
int RunCairnctl(absl::Span<const std::string> args, Streams streams,
                const Surroundings& surroundings = {});

}  // namespace cairn
#endif  // CAIRN_TOOLS_CAIRNCTL_COMMAND_LINE_H_
