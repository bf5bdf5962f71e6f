#include "libs/rpc/host_port.h"

#include <arpa/inet.h>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace cairn {

bool HostPort::is_loopback() const {
  in_addr v4{};
  if (::inet_pton(AF_INET, host.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24) == 127;
  in6_addr v6{};
  return ::inet_pton(AF_INET6, host.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

std::string HostPort::ToString() const {
  return is_ipv6() ? absl::StrCat("[", host, "]:", port) : absl::StrCat(host, ":", port);
}

absl::StatusOr<HostPort> ParseHostPort(absl::string_view text) {
  const auto bad = [&] {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", absl::CEscape(text.substr(0, 80)),
                     "\" is no numeric address such as 127.0.0.1:7001 or [::1]:7001"));
  };
  const std::size_t colon = text.rfind(':');
  if (colon == absl::string_view::npos) return bad();
  absl::string_view host = text.substr(0, colon);
  const absl::string_view port = text.substr(colon + 1);
  const bool is_bracketed = absl::ConsumePrefix(&host, "[") && absl::ConsumeSuffix(&host, "]");
  HostPort out{.host = std::string(host), .port = 0};
  in_addr v4{};
  in6_addr v6{};
  const bool is_numeric = is_bracketed ? ::inet_pton(AF_INET6, out.host.c_str(), &v6) == 1
                                       : ::inet_pton(AF_INET, out.host.c_str(), &v4) == 1;
  std::uint32_t number = 0;
  if (!is_numeric || !absl::SimpleAtoi(port, &number) || number > 65535) return bad();
  out.port = static_cast<std::uint16_t>(number);
  return out;
}

}  // namespace cairn
