#include "services/node/run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "libs/base/status_macros.h"

namespace cairn {
namespace {

absl::Status Unavailable(absl::string_view what, absl::string_view path) {
  return absl::UnavailableError(absl::StrCat(what, " ", path, ": ", std::strerror(errno)));
}

// The folder decides who may connect and, in dev mode, who gets the token: nobody else may change
// it.
absl::Status CheckFolder(const std::string& path) {
  struct stat folder {};
  if (::stat(path.c_str(), &folder) != 0) return Unavailable("cannot look at", path);
  if (!S_ISDIR(folder.st_mode)) {
    return absl::FailedPreconditionError(absl::StrCat(path, " is no folder"));
  }
  if (folder.st_uid != ::geteuid()) {
    return absl::FailedPreconditionError(absl::StrCat(path, " belongs to user ", folder.st_uid,
                                                      ", this node runs as ", ::geteuid()));
  }
  if ((folder.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, " may be written to by other users: chmod go-w it, or name another"));
  }
  return absl::OkStatus();
}

absl::Status WriteAll(int fd, absl::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return absl::UnavailableError(std::strerror(errno));
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return absl::OkStatus();
}

// " (pid 17)", or nothing while the holder has not written it yet.
std::string HolderOf(int lock_fd) {
  char text[32];
  const ssize_t got = ::pread(lock_fd, text, sizeof text, 0);
  int pid = 0;
  if (got <= 0 || !absl::SimpleAtoi(absl::string_view(text, static_cast<std::size_t>(got)), &pid)) {
    return "";
  }
  return absl::StrCat(" (pid ", pid, ")");
}

// The lock's descriptor, locked, with our pid in the file.
absl::StatusOr<int> Lock(const std::string& folder) {
  const std::string path = absl::StrCat(folder, "/lock");
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return Unavailable("cannot open", path);
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    absl::Status status = Unavailable("cannot lock", path);
    if (errno == EWOULDBLOCK) {
      status = absl::FailedPreconditionError(absl::StrCat(folder, " is in use by another node",
                                                          HolderOf(fd),
                                                          ": stop it, or name another run_dir"));
    }
    ::close(fd);
    return status;
  }
  absl::Status written = absl::OkStatus();
  if (::ftruncate(fd, 0) == 0) written = WriteAll(fd, absl::StrCat(::getpid(), "\n"));
  if (written.ok()) return fd;
  ::close(fd);
  return absl::UnavailableError(absl::StrCat("cannot write ", path, ": ", written.message()));
}

}  // namespace

absl::StatusOr<std::unique_ptr<RunFolder>> RunFolder::Open(const Options& options) {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::path(options.path).parent_path();
  if (!parent.empty()) std::filesystem::create_directories(parent, error);
  const mode_t mode = options.is_entered_by_all ? 0711 : 0700;
  if (::mkdir(options.path.c_str(), mode) == 0) {
    ::chmod(options.path.c_str(), mode);  // whatever the umask
  } else if (errno != EEXIST) {
    return Unavailable("cannot make", options.path);
  }
  CAIRN_RETURN_IF_ERROR(CheckFolder(options.path));
  CAIRN_ASSIGN_OR_RETURN(const int lock_fd, Lock(options.path));
  std::unique_ptr<RunFolder> folder(new RunFolder(options.path, lock_fd));
  // What a killed node left: nobody shall dial an address that is another's by now.
  for (const char* name : {"token", "grpc"}) ::unlink(folder->PathOf(name).c_str());
  return folder;
}

RunFolder::~RunFolder() {
  for (const std::string& name : written_) ::unlink(PathOf(name).c_str());
  ::close(lock_fd_);
}

std::string RunFolder::PathOf(absl::string_view name) const {
  return absl::StrCat(path_, "/", name);
}

absl::Status RunFolder::Write(absl::string_view name, absl::string_view text, Readers readers) {
  const std::string path = PathOf(name);
  const std::string draft = PathOf(absl::StrCat(".", name, ".new"));
  ::unlink(draft.c_str());
  const int fd = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return Unavailable("cannot write", draft);
  if (readers == Readers::kAll) ::fchmod(fd, 0644);
  const absl::Status written = WriteAll(fd, text);
  ::close(fd);
  if (written.ok() && ::rename(draft.c_str(), path.c_str()) == 0) {
    written_.emplace_back(name);
    return absl::OkStatus();
  }
  const absl::Status failed =
      written.ok()
          ? Unavailable("cannot name", path)
          : absl::UnavailableError(absl::StrCat("cannot write ", draft, ": ", written.message()));
  ::unlink(draft.c_str());
  return failed;
}

}  // namespace cairn
