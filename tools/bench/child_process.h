#ifndef CAIRN_TOOLS_BENCH_CHILD_PROCESS_H_
#define CAIRN_TOOLS_BENCH_CHILD_PROCESS_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace cairn::bench {

// How long anything may take that never takes long: starts, sessions, single calls. Generous, since
// what is too slow here is a machine too busy, not a figure.
inline constexpr absl::Duration kPatience = absl::Seconds(120);

// ChildProcess is a program that a bench has started, and that ends with it: by the destructor, or,
// when this process is killed, by the kernel. It has a process group of its own (a ^C is for us
// alone), no descriptors of ours, and no signal blocked.
// Threads: the main one (the kernel's promise is bound to the thread that forked).
class ChildProcess {
 public:
  struct Options {
    std::vector<std::string> command;  // [0]: a path, or a name to be found in PATH
    std::string log_file;              // standard error, and standard output unless it is read
    bool is_read = false;              // ReadLine reads its standard output
  };
  static absl::StatusOr<std::unique_ptr<ChildProcess>> Start(const Options& options);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  bool IsRunning();
  // The next line of its standard output. DEADLINE_EXCEEDED (kPatience) or UNAVAILABLE, with its
  // log.
  absl::StatusOr<std::string> ReadLine();
  // SIGTERM, five seconds to end in, then SIGKILL.
  void Stop();
  // The last lines of the log file, for error messages.
  std::string Log() const;

 private:
  ChildProcess(Options options, pid_t pid, int output_fd)
      : options_(std::move(options)), pid_(pid), output_fd_(output_fd) {}

  const Options options_;
  const pid_t pid_;
  const int output_fd_;  // -1: not read
  bool has_ended_ = false;
  std::string unread_;
};

// The folder of the program that runs: where its sister programs are.
std::string ProgramFolder();
// Where `name` is found in PATH; empty if nowhere.
std::string FindProgram(const std::string& name, const std::string& path);

// ScratchFolder is a folder directly below /tmp, so that socket paths are short; removed by the
// destructor with all that is in it.
class ScratchFolder {
 public:
  static absl::StatusOr<std::unique_ptr<ScratchFolder>> Create();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  std::string PathOf(const std::string& name) const { return path_ + "/" + name; }

 private:
  explicit ScratchFolder(std::string path) : path_(std::move(path)) {}
  const std::string path_;
};

}  // namespace cairn::bench
#endif  // CAIRN_TOOLS_BENCH_CHILD_PROCESS_H_
