#ifndef CAIRN_LIBS_RPC_HOST_PORT_H_
#define CAIRN_LIBS_RPC_HOST_PORT_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cairn {

// A numeric address: "127.0.0.1:7001", "[::1]:7001". Names are refused: what is bound, and whether
// it is loopback, must not depend on a resolver.
struct HostPort {
  std::string host;  // without brackets
  std::uint16_t port = 0;

  bool is_loopback() const;
  bool is_ipv6() const { return host.find(':') != std::string::npos; }
  std::string ToString() const;
};

// INVALID_ARGUMENT saying what an address looks like.
absl::StatusOr<HostPort> ParseHostPort(absl::string_view text);

}  // namespace cairn
#endif  // CAIRN_LIBS_RPC_HOST_PORT_H_
