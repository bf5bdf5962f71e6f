#include "tests/contract/child_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "libs/base/check.h"

namespace cairn::contract {

ChildProcess::ChildProcess(const std::vector<std::string>& command) {
  int to_child[2];
  int from_child[2];
  CAIRN_CHECK(::pipe2(to_child, O_CLOEXEC) == 0);
  CAIRN_CHECK(::pipe2(from_child, O_CLOEXEC) == 0);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, to_child[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, from_child[1], STDOUT_FILENO);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const int result =
      ::posix_spawn(&pid_, arguments[0], &actions, nullptr, arguments.data(), environ);
  CAIRN_CHECK(result == 0) << command[0] << ": " << result;
  posix_spawn_file_actions_destroy(&actions);
  ::close(to_child[0]);
  ::close(from_child[1]);
  in_ = to_child[1];
  out_ = from_child[0];
}

ChildProcess::~ChildProcess() {
  CloseStdin();
  ::close(out_);
  if (pid_ > 0) {
    Signal(SIGKILL);
    Wait();
  }
}

std::string ChildProcess::ReadLine() {
  for (;;) {
    const std::size_t end = read_.find('\n');
    if (end != std::string::npos) {
      std::string line = read_.substr(0, end);
      read_.erase(0, end + 1);
      return line;
    }
    char buffer[4096];
    const ssize_t got = ::read(out_, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return "";
    read_.append(buffer, static_cast<std::size_t>(got));
  }
}

void ChildProcess::CloseStdin() {
  if (in_ >= 0) ::close(in_);
  in_ = -1;
}

void ChildProcess::Signal(int signal) const { ::kill(pid_, signal); }

int ChildProcess::Wait() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0) {
    CAIRN_CHECK(errno == EINTR);
  }
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace cairn::contract
