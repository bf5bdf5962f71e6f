#ifndef CAIRN_TESTS_CONTRACT_CHILD_PROCESS_H_
#define CAIRN_TESTS_CONTRACT_CHILD_PROCESS_H_

#include <sys/types.h>

#include <string>
#include <vector>

namespace cairn::contract {

// A program with pipes on its stdin and stdout. Killed and reaped at the end.
class ChildProcess {
 public:
  explicit ChildProcess(const std::vector<std::string>& command);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Waits for a line of its stdout; empty at the end of it.
  std::string ReadLine();
  void CloseStdin();
  void Signal(int signal) const;
  // Waits until it has ended; its exit code, or minus the signal that killed it.
  int Wait();

 private:
  pid_t pid_ = -1;
  int in_ = -1;
  int out_ = -1;
  std::string read_;
};

}  // namespace cairn::contract
#endif  // CAIRN_TESTS_CONTRACT_CHILD_PROCESS_H_
