#ifndef CAIRN_TESTS_SIM_MARKS_H_
#define CAIRN_TESTS_SIM_MARKS_H_

#include <string>
#include <vector>

namespace cairn::sim {

// The marks (base/mark.h) of the libraries that the simulation runs, read from their sources in the
// repository's root, which is the working directory. Empty if there are no sources there.
std::vector<std::string> MarksInSources();

// Those that no simulation with an honest node can reach; each is reached by a unit test, named
// here.
struct MarkElsewhere {
  const char* mark;
  const char* test;  // the file of tests that reaches it
};
const std::vector<MarkElsewhere>& MarksElsewhere();

}  // namespace cairn::sim
#endif  // CAIRN_TESTS_SIM_MARKS_H_
