#include "libs/config/service_main.h"

#include <sys/resource.h>

#include "absl/strings/str_cat.h"
#include "libs/base/limits.h"
#include "libs/base/log.h"
#include "libs/config/service_flags.h"
#include "libs/config/yaml_config.h"

namespace cairn {
namespace {

// Sessions, connections and UCX take descriptors, and UCX ends the process where it gets none; the
// default soft limit is for programs that use select. False: even so there are too few.
bool HasDescriptors(rlim_t* most) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return true;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  *most = limit.rlim_max;
  return limit.rlim_max >= limits::kDescriptorsMin;
}

}  // namespace

int RunService(absl::string_view program, const std::vector<std::string>& arguments,
               ServiceStreams streams, google::protobuf::Message& config,
               absl::FunctionRef<absl::Status()> check, absl::FunctionRef<int()> serve) {
  const auto misused = [&](absl::string_view message) {
    streams.err << program << ": " << message << "\n";
    return kExitUsage;
  };
  const absl::StatusOr<ServiceFlags> flags = ParseServiceFlags(arguments);
  if (!flags.ok()) {
    streams.err << ServiceUsage(program);
    return misused(flags.status().message());
  }
  if (flags->help) {
    streams.out << ServiceUsage(program);
    return 0;
  }
  SetLogLevel(flags->log_level);
  if (absl::Status s = LoadYamlConfig(flags->config, &config); !s.ok()) return misused(s.message());
  if (flags->print_config) streams.out << ToYaml(config);
  if (absl::Status s = check(); !s.ok()) {
    return misused(absl::StrCat(flags->config, ": ", s.message()));
  }
  if (flags->check_config) streams.err << program << ": " << flags->config << ": good\n";
  if (flags->check_config || flags->print_config) return 0;
  if (rlim_t most = 0; !HasDescriptors(&most)) {
    streams.err << program << ": the limit of open files is " << most << ", and at least "
                << limits::kDescriptorsMin << " are needed (ulimit -n)\n";
    return kExitFailed;
  }
  return serve();
}

}  // namespace cairn
