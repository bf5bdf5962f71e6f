#ifndef CAIRN_TESTS_UNIT_PLACEMENT_RPC_KEPT_PORT_H_
#define CAIRN_TESTS_UNIT_PLACEMENT_RPC_KEPT_PORT_H_

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace cairn {

// A port where nobody listens until a server of the test does: a socket that is bound, and does not
// listen, keeps it from all who ask for any port or connect.
class KeptPort {
 public:
  KeptPort() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const int one = 1;
    EXPECT_EQ(::setsockopt(fd_, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one), 0);
    sockaddr_in any{};
    any.sin_family = AF_INET;
    any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof any;
    EXPECT_EQ(::bind(fd_, reinterpret_cast<sockaddr*>(&any), size), 0);
    EXPECT_EQ(::getsockname(fd_, reinterpret_cast<sockaddr*>(&any), &size), 0);
    address_ = absl::StrCat("127.0.0.1:", ntohs(any.sin_port));
  }
  ~KeptPort() { ::close(fd_); }
  KeptPort(const KeptPort&) = delete;
  KeptPort& operator=(const KeptPort&) = delete;
  const std::string& address() const { return address_; }

 private:
  const int fd_;
  std::string address_;
};

}  // namespace cairn
#endif  // CAIRN_TESTS_UNIT_PLACEMENT_RPC_KEPT_PORT_H_
