#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "libs/base/log.h"
#include "libs/rpc/rpc_server.h"
#include "tools/cairnctl/command_line.h"

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  cairn::Surroundings surroundings;
  for (const auto& [flag, variable] :
       {std::pair{"endpoint", "CAIRN_ENDPOINT"}, std::pair{"run-dir", "CAIRN_RUN_DIR"},
        std::pair{"placement", "CAIRN_PLACEMENT"}, std::pair{"timeout", "CAIRN_TIMEOUT"}}) {
    if (const char* const value = std::getenv(variable)) surroundings.defaults[flag] = value;
  }
  surroundings.is_terminal = ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1;
  // What goes wrong is told once, by the verb.
  cairn::SetLogLevel(cairn::LogLevel::kError);
  cairn::RouteRpcLogs();
  return cairn::RunCairnctl(args, {.in = std::cin, .out = std::cout, .err = std::cerr},
                            surroundings);
}
