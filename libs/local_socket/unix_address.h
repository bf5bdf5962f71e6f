#ifndef CAIRN_LIBS_LOCAL_SOCKET_UNIX_ADDRESS_H_
#define CAIRN_LIBS_LOCAL_SOCKET_UNIX_ADDRESS_H_

#include <sys/socket.h>
#include <sys/un.h>

#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace cairn {

// A descriptor, closed at the end.
class OwnedFd {
 public:
  OwnedFd() = default;
  explicit OwnedFd(int fd) : fd_(fd) {}
  ~OwnedFd();
  OwnedFd(OwnedFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  OwnedFd& operator=(OwnedFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

// UnixAddress names a socket file for bind and connect. A sockaddr holds 107 bytes of path; for a
// longer one it names the file through a descriptor of its folder, /proc/self/fd/N/name, which the
// kernel resolves like any path. Keep it alive until the call has been made.
class UnixAddress {
 public:
  // NOT_FOUND if the folder of a long path is missing, INVALID_ARGUMENT if the last part is too
  // long.
  static absl::StatusOr<UnixAddress> Of(const std::string& path);
  const sockaddr* raw() const { return reinterpret_cast<const sockaddr*>(&address_); }
  socklen_t size() const { return sizeof address_; }

 private:
  UnixAddress() = default;
  sockaddr_un address_{};
  OwnedFd folder_;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_LOCAL_SOCKET_UNIX_ADDRESS_H_
