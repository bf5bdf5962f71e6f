#include "tools/bench/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tools/bench/meter.h"

namespace cairn::bench {
namespace {

constexpr double kStopSeconds = 5;
constexpr std::size_t kLogBytesShown = 2000;

// Between fork and exec: only what is safe there.
[[noreturn]] void Become(char* const* argv, pid_t parent, int out_fd, int log_fd) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  ::setpgid(0, 0);
  const int null_fd = ::open("/dev/null", O_RDONLY);
  ::dup2(null_fd, STDIN_FILENO);
  ::dup2(out_fd, STDOUT_FILENO);
  ::dup2(log_fd, STDERR_FILENO);
  ::close_range(3, ~0U, 0);
  for (const int signal : {SIGINT, SIGTERM, SIGPIPE}) ::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execvp(argv[0], argv);
  ::_exit(127);
}

void WaitMillis(int millis) { ::poll(nullptr, 0, millis); }

}  // namespace

absl::StatusOr<std::unique_ptr<ChildProcess>> ChildProcess::Start(const Options& options) {
  std::vector<char*> argv;
  for (const std::string& word : options.command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const int log_fd =
      ::open(options.log_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  int output[2] = {-1, -1};
  if (log_fd < 0 || (options.is_read && ::pipe2(output, O_CLOEXEC) != 0)) {
    return absl::UnavailableError(
        absl::StrCat("cannot start ", options.command[0], ": ", std::strerror(errno)));
  }
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) Become(argv.data(), parent, options.is_read ? output[1] : log_fd, log_fd);
  ::close(log_fd);
  if (options.is_read) ::close(output[1]);
  if (pid < 0) {
    if (options.is_read) ::close(output[0]);
    return absl::UnavailableError(absl::StrCat("cannot fork: ", std::strerror(errno)));
  }
  return std::unique_ptr<ChildProcess>(new ChildProcess(options, pid, output[0]));
}

ChildProcess::~ChildProcess() {
  Stop();
  if (output_fd_ >= 0) ::close(output_fd_);
}

bool ChildProcess::IsRunning() {
  if (!has_ended_) has_ended_ = ::waitpid(pid_, nullptr, WNOHANG) == pid_;
  return !has_ended_;
}

absl::StatusOr<std::string> ChildProcess::ReadLine() {
  const double end = NowSeconds() + absl::ToDoubleSeconds(kPatience);
  for (;;) {
    if (const std::size_t at = unread_.find('\n'); at != std::string::npos) {
      std::string line = unread_.substr(0, at);
      unread_.erase(0, at + 1);
      return line;
    }
    const double left = end - NowSeconds();
    pollfd waited{output_fd_, POLLIN, 0};
    if (left <= 0 || ::poll(&waited, 1, static_cast<int>(left * 1000) + 1) == 0) {
      return absl::DeadlineExceededError(
          absl::StrCat(options_.command[0], " says nothing; its log: ", Log()));
    }
    char piece[256];
    const ssize_t count = ::read(output_fd_, piece, sizeof piece);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      return absl::UnavailableError(
          absl::StrCat(options_.command[0], " has ended; its log: ", Log()));
    }
    unread_.append(piece, static_cast<std::size_t>(count));
  }
}

void ChildProcess::Stop() {
  if (!IsRunning()) return;
  ::kill(pid_, SIGTERM);
  for (const double end = NowSeconds() + kStopSeconds; IsRunning() && NowSeconds() < end;) {
    WaitMillis(2);
  }
  if (!IsRunning()) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  has_ended_ = true;
}

std::string ChildProcess::Log() const {
  std::ifstream in(options_.log_file, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(in), {});
  if (text.size() > kLogBytesShown) text.erase(0, text.size() - kLogBytesShown);
  return text.empty() ? "(empty)" : text;
}

std::string ProgramFolder() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path().string();
}

std::string FindProgram(const std::string& name, const std::string& path) {
  for (const absl::string_view folder : absl::StrSplit(path, ':', absl::SkipEmpty())) {
    std::string file = absl::StrCat(folder, "/", name);
    if (::access(file.c_str(), X_OK) == 0) return file;
  }
  return std::string();
}

absl::StatusOr<std::unique_ptr<ScratchFolder>> ScratchFolder::Create() {
  std::string path = absl::StrCat("/tmp/cairn-bench-", ::getpid(), "-XXXXXX");
  if (::mkdtemp(path.data()) == nullptr) {
    return absl::UnavailableError(absl::StrCat("cannot make ", path, ": ", std::strerror(errno)));
  }
  return std::unique_ptr<ScratchFolder>(new ScratchFolder(std::move(path)));
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace cairn::bench
