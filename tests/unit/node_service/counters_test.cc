#include "services/node/counters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <set>

namespace cairn {
namespace {

TEST(CountersTest, EveryFieldHasItsOwnName) {
  // Each u64 of all structs gets another value: all of them must come out, each under one name.
  ProcessStats stats;
  std::uint64_t next = 1;
  const auto number = [&next](void* from, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; i += sizeof next, ++next) {
      std::memcpy(static_cast<char*>(from) + i, &next, sizeof next);
    }
  };
  number(&stats.node.front, sizeof stats.node.front);
  number(&stats.node.shards, sizeof stats.node.shards);
  number(&stats.adapters, sizeof stats.adapters);
  std::set<std::uint64_t> seen;
  for (const auto& [name, value] : CountersOf(stats)) {
    EXPECT_TRUE(seen.insert(value).second) << name;
    EXPECT_NE(value, 0U) << name;
  }
  EXPECT_EQ(seen.size(), next - 1);
}

TEST(CountersTest, NamesThatOthersRelyOnAreThere) {
  ProcessStats stats;
  stats.node.shards.hits = 7;
  stats.node.front.hello_refused[static_cast<std::size_t>(HelloRefusal::kBadToken)] = 3;
  stats.adapters.transports.strangers_dropped = 9;
  stats.node.shards.slots[static_cast<std::size_t>(SlotState::kReady)] = {.slots = 5, .bytes = 640};
  const auto counters = CountersOf(stats);
  for (const char* name :
       {"misses", "stale", "put_torn", "conflicts", "quarantined", "evictions", "pins", "loans",
        "sessions", "slots.quarantined", "slot_bytes.free", "transport.malformed_dropped"}) {
    EXPECT_TRUE(counters.contains(name)) << name;
  }
  EXPECT_EQ(counters.at("hits"), 7U);
  EXPECT_EQ(counters.at("transport.strangers_dropped"), 9U);
  EXPECT_EQ(counters.at("hello_refused.bad_token"), 3U);
  EXPECT_EQ(counters.at("slots.ready"), 5U);
  EXPECT_EQ(counters.at("slot_bytes.ready"), 640U);
}

}  // namespace
}  // namespace cairn
