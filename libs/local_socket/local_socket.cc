#include "libs/local_socket/local_socket.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "libs/base/check.h"
#include "libs/base/limits.h"
#include "libs/base/log.h"
#include "libs/base/status_macros.h"
#include "libs/local_socket/socket_channel.h"
#include "libs/local_socket/unix_address.h"

namespace cairn {
namespace {

constexpr int kAcceptsPerWake = 16;
constexpr absl::Duration kRetryAccept = absl::Milliseconds(100);  // when out of descriptors

absl::StatusOr<OwnedFd> NewSocket() {
  OwnedFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (socket.is_open()) return socket;
  return absl::ResourceExhaustedError(absl::StrCat("unix socket: ", std::strerror(errno)));
}

absl::StatusOr<OwnedFd> ConnectTo(const std::string& path) {
  absl::StatusOr<UnixAddress> address = UnixAddress::Of(path);
  if (!address.ok()) return absl::UnavailableError(address.status().message());
  absl::StatusOr<OwnedFd> socket = NewSocket();
  if (!socket.ok()) return socket;
  if (::connect(socket->get(), address->raw(), address->size()) == 0) return socket;
  const std::string text = absl::StrCat(path, ": ", std::strerror(errno));
  if (errno == EACCES || errno == EPERM) return absl::PermissionDeniedError(text);
  return absl::UnavailableError(text);
}

class SocketListener : public LocalListener {
 public:
  SocketListener(Loop& loop, SocketListenerOptions options)
      : loop_(loop), options_(std::move(options)) {}

  ~SocketListener() override {
    if (has_timer_) loop_.Cancel(timer_);
    if (!socket_.is_open()) return;
    loop_.Unwatch(socket_.get());
    struct stat now {};
    const bool is_ours =
        ::lstat(options_.path.c_str(), &now) == 0 && now.st_dev == device_ && now.st_ino == inode_;
    if (is_ours) ::unlink(options_.path.c_str());
  }

  absl::Status Start(absl::AnyInvocable<void(std::unique_ptr<LocalChannel>)> on_channel) override {
    CAIRN_CHECK(!socket_.is_open()) << "started twice";
    on_channel_ = std::move(on_channel);
    CAIRN_RETURN_IF_ERROR(Lock());
    CAIRN_ASSIGN_OR_RETURN(OwnedFd socket, NewSocket());
    CAIRN_RETURN_IF_ERROR(Bind(socket.get()));
    struct stat bound {};
    // Nobody can connect before listen, so the mode is in force before the first one does.
    if (::chmod(options_.path.c_str(), options_.serves_all_uids ? 0666 : 0600) != 0 ||
        ::lstat(options_.path.c_str(), &bound) != 0 ||
        ::listen(socket.get(), static_cast<int>(limits::kLocalChannelsPendingMax)) != 0) {
      return absl::FailedPreconditionError(absl::StrCat(options_.path, ": ", std::strerror(errno)));
    }
    device_ = bound.st_dev;
    inode_ = bound.st_ino;
    socket_ = std::move(socket);
    return Watch();
  }

 private:
  // One listener a path: the kernel drops the lock with its process, so a killed one never blocks.
  absl::Status Lock() {
    const std::string path = options_.path + ".lock";
    OwnedFd lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!lock.is_open()) {
      return absl::FailedPreconditionError(absl::StrCat(path, ": ", std::strerror(errno)));
    }
    if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
      return absl::AlreadyExistsError(
          absl::StrCat(options_.path, ": another process listens here (holds ", path, ")"));
    }
    lock_ = std::move(lock);
    return absl::OkStatus();
  }

  absl::Status Bind(int socket) {
    CAIRN_ASSIGN_OR_RETURN(const UnixAddress address, UnixAddress::Of(options_.path));
    if (::bind(socket, address.raw(), address.size()) == 0) return absl::OkStatus();
    if (errno == EADDRINUSE) {
      struct stat old {};
      if (::lstat(options_.path.c_str(), &old) == 0 && !S_ISSOCK(old.st_mode)) {
        return absl::AlreadyExistsError(
            absl::StrCat(options_.path, ": there is a file that is no socket"));
      }
      if (ConnectTo(options_.path).ok()) {  // somebody else's program, which takes no lock
        return absl::AlreadyExistsError(
            absl::StrCat(options_.path, ": another process listens here"));
      }
      ::unlink(options_.path.c_str());
      if (::bind(socket, address.raw(), address.size()) == 0) return absl::OkStatus();
    }
    return absl::FailedPreconditionError(
        absl::StrCat("cannot bind ", options_.path, ": ", std::strerror(errno)));
  }

  absl::Status Watch() {
    return loop_.WatchReadable(socket_.get(), [this] { OnReadable(); });
  }

  void OnReadable() {
    for (int i = 0; i < kAcceptsPerWake; ++i) {
      OwnedFd socket(::accept4(socket_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (!socket.is_open()) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) Rest();
        return;
      }
      on_channel_(std::make_unique<SocketChannel>(
          loop_, std::move(socket),
          SocketChannel::GrantLimits{.sent_max = limits::kLocalGrantsMax,
                                     .received_max = limits::kLocalGrantsToListenerMax}));
    }
  }

  // The socket stays readable while we are out of descriptors: look away for a while.
  void Rest() {
    static LogLimiter limiter(absl::Seconds(10));
    if (std::uint64_t held = 0; limiter.Admit(&held)) {
      LogEvent(LogLevel::kError, "accept_failed")
          .With("path", options_.path)
          .With("error", std::strerror(errno))
          .With("held_back", held);
    }
    loop_.Unwatch(socket_.get());
    has_timer_ = true;
    timer_ = loop_.RunAt(loop_.Now() + kRetryAccept, [this] {
      has_timer_ = false;
      if (absl::Status s = Watch(); !s.ok()) Rest();
    });
  }

  Loop& loop_;
  const SocketListenerOptions options_;
  absl::AnyInvocable<void(std::unique_ptr<LocalChannel>)> on_channel_;
  OwnedFd lock_;
  OwnedFd socket_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  TimerId timer_;
  bool has_timer_ = false;
};

class SocketDialer : public LocalDialer {
 public:
  SocketDialer(Loop& loop, std::string path) : loop_(loop), path_(std::move(path)) {}
  absl::StatusOr<std::unique_ptr<LocalChannel>> Dial() override {
    CAIRN_ASSIGN_OR_RETURN(OwnedFd socket, ConnectTo(path_));
    return std::make_unique<SocketChannel>(
        loop_, std::move(socket),
        SocketChannel::GrantLimits{.sent_max = limits::kLocalGrantsToListenerMax,
                                   .received_max = limits::kLocalGrantsMax});
  }

 private:
  Loop& loop_;
  const std::string path_;
};

}  // namespace

std::unique_ptr<LocalListener> NewSocketListener(Loop& loop, const SocketListenerOptions& options) {
  return std::make_unique<SocketListener>(loop, options);
}

std::unique_ptr<LocalDialer> NewSocketDialer(Loop& loop, const std::string& path) {
  return std::make_unique<SocketDialer>(loop, path);
}

}  // namespace cairn
