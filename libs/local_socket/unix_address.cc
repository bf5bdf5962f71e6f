#include "libs/local_socket/unix_address.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace cairn {

OwnedFd::~OwnedFd() {
  if (fd_ >= 0) ::close(fd_);
}

absl::StatusOr<UnixAddress> UnixAddress::Of(const std::string& path) {
  UnixAddress address;
  address.address_.sun_family = AF_UNIX;
  std::string name = path;
  if (path.empty() || path.find('\0') != std::string::npos) {
    return absl::InvalidArgumentError("a socket's path is empty or has a zero byte");
  }
  if (path.size() >= sizeof address.address_.sun_path) {
    const std::size_t slash = path.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
    address.folder_ = OwnedFd(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!address.folder_.is_open()) {
      return absl::NotFoundError(absl::StrCat(folder, ": ", std::strerror(errno)));
    }
    name = absl::StrCat("/proc/self/fd/", address.folder_.get(), "/",
                        slash == std::string::npos ? path : path.substr(slash + 1));
  }
  if (name.size() >= sizeof address.address_.sun_path) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": the socket's name is too long"));
  }
  std::memcpy(address.address_.sun_path, name.data(), name.size());
  return address;
}

}  // namespace cairn
