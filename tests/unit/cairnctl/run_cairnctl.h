#ifndef CAIRN_TESTS_UNIT_CAIRNCTL_RUN_CAIRNCTL_H_
#define CAIRN_TESTS_UNIT_CAIRNCTL_RUN_CAIRNCTL_H_

#include <sstream>
#include <string>
#include <vector>

#include "tools/cairnctl/command_line.h"

namespace cairn {

struct Ran {
  int exit_code = 0;
  std::string out;
  std::string err;
};

// `cairnctl ARGS...` in this process, with `in` as standard input.
inline Ran RunWith(const std::vector<std::string>& args, const std::string& in = "") {
  std::istringstream input(in);
  std::ostringstream out;
  std::ostringstream err;
  const int code = RunCairnctl(args, {.in = input, .out = out, .err = err});
  return {.exit_code = code, .out = out.str(), .err = err.str()};
}

}  // namespace cairn
#endif  // CAIRN_TESTS_UNIT_CAIRNCTL_RUN_CAIRNCTL_H_
