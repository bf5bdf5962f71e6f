#ifndef CAIRN_LIBS_CONFIG_SERVICE_MAIN_H_
#define CAIRN_LIBS_CONFIG_SERVICE_MAIN_H_

#include <google/protobuf/message.h>

#include <ostream>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace cairn {

inline constexpr int kExitFailed = 1;  // could not start, or not go on
inline constexpr int kExitUsage = 2;   // wrong flags or configuration

// Where a service's main speaks to people.
struct ServiceStreams {
  std::ostream& out;
  std::ostream& err;
};

// What every service's main does with `arguments` (without the program's name): reads the flags and
// the configuration, has it checked (`check`; its errors begin with the field), and serves unless
// only --help, --check_config or --print_config was asked for. The limit of open files is raised as
// far as it goes; below limits::kDescriptorsMin it does not serve. Returns the exit code: that of
// `serve`, 0, or kExitUsage after a line that says why. Before any thread.
int RunService(absl::string_view program, const std::vector<std::string>& arguments,
               ServiceStreams streams, google::protobuf::Message& config,
               absl::FunctionRef<absl::Status()> check, absl::FunctionRef<int()> serve);

}  // namespace cairn
#endif  // CAIRN_LIBS_CONFIG_SERVICE_MAIN_H_
