#include "tests/sim/scenario.h"

#include <string>

#include "libs/base/units.h"

namespace cairn::sim {
namespace {

absl::Duration Micros(Rng& rng, std::uint64_t low, std::uint64_t high) {
  return absl::Microseconds(static_cast<std::int64_t>(rng.Between(low, high)));
}

// Most worlds are roomy in most respects; here and there one is short of something.
std::uint32_t OneIn(Rng& rng, std::uint64_t times, std::uint32_t small, std::uint32_t usual) {
  return rng.Chance(1, times) ? small : usual;
}

NodeOptions MakeNode(Rng& rng) {
  NodeOptions node;
  node.shards = rng.Chance(1, 2) ? 1 : 4;
  node.segment_bytes = rng.Chance(1, 2) ? 64 * kKiB : 96 * kKiB;
  const std::uint64_t segments = node.shards * rng.Between(1, 3) + rng.Below(3);
  node.arena_bytes = segments * node.segment_bytes;
  node.remote_listen = "10.0.0.1:7000";
  node.sessions_max = OneIn(rng, 6, 3, 32);
  node.hello_pending_max = OneIn(rng, 5, 1, 8);
  node.hello_deadline = Micros(rng, 300, 3000);
  node.pool_bytes_max = 4 * kMiB;
  node.pin_age_max = Micros(rng, 300, 20000);
  node.remote_pin_age_max = Micros(rng, 200, 5000);
  node.pins_per_session_max = OneIn(rng, 4, 6, 256);
  node.offers_per_session_max = OneIn(rng, 5, 4, 256);
  node.loans_max = OneIn(rng, 5, 2 * node.shards, 256);
  node.sends_per_session_max = OneIn(rng, 3, 1, 8);
  node.fill_max = rng.Chance(1, 3) ? Micros(rng, 100, 1000) : absl::Seconds(1);
  node.overlap_blocks_max = OneIn(rng, 3, 1 << 10, 1 << 16);
  node.ceilings.acquires_in_flight = OneIn(rng, 6, 1, 64);
  node.ceilings.sends_queued = OneIn(rng, 5, 1, 256);
  node.ceilings.rehashes = OneIn(rng, 4, 1, 64);
  node.ceilings.open_offers = OneIn(rng, 8, 3, 1024);
  node.ceilings.pending_per_key = OneIn(rng, 6, 1, 16);
  node.ceilings.entries = OneIn(rng, 8, 4, 1 << 20);
  node.ceilings.holds = OneIn(rng, 8, 2, 1024);
  node.ceilings.roots = OneIn(rng, 4, 1 + rng.Below(3), 64);
  node.ceilings.admin_calls = OneIn(rng, 5, 1, 16);
  return node;
}

LoopbackFaults MakeNetwork(Rng& rng) {
  LoopbackFaults faults;
  faults.delay_max = Micros(rng, 2, rng.Chance(1, 4) ? 200 : 20);
  faults.close_delay_max = Micros(rng, 5, 500);
  faults.slice_bytes_max = 1024u << rng.Below(4);
  if (rng.Chance(1, 3)) faults.endpoint_failures_per_million = rng.Between(10, 2000);
  if (rng.Chance(1, 3)) faults.bulk_failures_per_million = rng.Between(100, 100000);
  return faults;
}

ClientProfile MakeClient(Rng& rng, bool has_disputes) {
  ClientProfile client;
  client.is_remote = rng.Chance(1, 3);
  client.tenant = rng.Chance(1, 4) ? 1 : 0;
  client.variant = has_disputes ? static_cast<int>(rng.Below(2)) : 0;
  client.is_careless = rng.Chance(1, 5);
  client.has_odd_blocks = rng.Chance(1, 12);
  client.is_hybrid = rng.Chance(1, 3);
  client.think_max = Micros(rng, 20, 400);
  return client;
}

}  // namespace

Scenario MakeScenario(Rng& rng) {
  Scenario s;
  s.node = MakeNode(rng);
  s.network = MakeNetwork(rng);
  s.has_tokens = rng.Chance(1, 4);
  const bool has_disputes = rng.Chance(1, 3);
  const std::uint64_t clients = rng.Between(2, 5);
  for (std::uint64_t i = 0; i < clients; ++i) s.clients.push_back(MakeClient(rng, has_disputes));
  s.duration = Micros(rng, 3000, 14000);
  s.turn_max = Micros(rng, 20, 80);
  s.copier_delay_max = Micros(rng, 2, 60);
  s.copier_slice_bytes_max = 4096u << rng.Below(2);
  s.copier_refusals = OneIn(rng, 4, 30, 0);
  s.transport_refusals = OneIn(rng, 4, 10, 0);
  s.client_crashes = OneIn(rng, 2, 12, 0);
  s.node_crashes = OneIn(rng, 3, 8, 0);
  s.client_pauses = OneIn(rng, 2, 40, 5);
  s.breaks = OneIn(rng, 3, 15, 0);
  s.flips = OneIn(rng, 3, 60, 0);
  s.admin_calls = OneIn(rng, 3, 60, 4);
  s.rogue_acts = OneIn(rng, 3, 80, 0);
  return s;
}

}  // namespace cairn::sim
