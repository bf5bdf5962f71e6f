#include "libs/node/stats.h"

#include "libs/base/check.h"

namespace cairn {

ShardStats& ShardStats::operator+=(const ShardStats& o) {
  // Every member but `slots` is one u64, so that a new counter cannot be forgotten here.
  constexpr std::size_t kNumbers = offsetof(ShardStats, slots) / sizeof(std::uint64_t);
  static_assert(offsetof(ShardStats, slots) % sizeof(std::uint64_t) == 0);
  auto* mine = reinterpret_cast<std::uint64_t*>(this);
  const auto* others = reinterpret_cast<const std::uint64_t*>(&o);
  for (std::size_t i = 0; i < kNumbers; ++i) mine[i] += others[i];
  for (std::size_t i = 0; i < slots.size(); ++i) {
    slots[i].slots += o.slots[i].slots;
    slots[i].bytes += o.slots[i].bytes;
  }
  return *this;
}

const char* HelloRefusalName(HelloRefusal why) {
  switch (why) {
    case HelloRefusal::kBadVersion:
      return "bad_version";
    case HelloRefusal::kBadToken:
      return "bad_token";
    case HelloRefusal::kBadIdentity:
      return "bad_identity";
    case HelloRefusal::kFull:
      return "full";
    case HelloRefusal::kStopping:
      return "stopping";
    case HelloRefusal::kOtherUser:
      return "other_user";
    case HelloRefusal::kBadPool:
      return "bad_pool";
    case HelloRefusal::kDeadline:
      return "deadline";
    case HelloRefusal::kMalformed:
      return "malformed";
    case HelloRefusal::kTransport:
      return "transport";
  }
  CAIRN_CHECK(false) << static_cast<int>(why);
  return "";
}

}  // namespace cairn
