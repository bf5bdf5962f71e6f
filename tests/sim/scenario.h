#ifndef CAIRN_TESTS_SIM_SCENARIO_H_
#define CAIRN_TESTS_SIM_SCENARIO_H_

#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "libs/base/rng.h"
#include "libs/node/options.h"
#include "libs/transport_loopback/loopback_network.h"

namespace cairn::sim {

// One simulated client process.
struct ClientProfile {
  bool is_remote = false;
  int tenant = 0;
  int variant = 0;
  bool is_careless = false;     // sometimes writes to a block while it is on offer
  bool has_odd_blocks = false;  // claims another block size under the same root
  bool is_hybrid = false;       // asks for resume points
  absl::Duration think_max;     // between two of its requests
};

// How one seed's world is made, and what befalls it. Chances are in 1/1000 per turn of the driver.
struct Scenario {
  NodeOptions node;
  LoopbackFaults network;
  bool has_tokens = false;  // OpenSession's, else dev mode's
  std::vector<ClientProfile> clients;
  absl::Duration duration;
  absl::Duration turn_max;  // the driver acts after at most so long
  absl::Duration copier_delay_max;
  std::uint64_t copier_slice_bytes_max = 4096;
  std::uint32_t copier_refusals = 0;     // per 1000 jobs
  std::uint32_t transport_refusals = 0;  // per 1000 sends
  std::uint32_t client_crashes = 0;
  std::uint32_t node_crashes = 0;
  std::uint32_t client_pauses = 0;
  std::uint32_t breaks = 0;  // of endpoints or channels
  std::uint32_t flips = 0;
  std::uint32_t admin_calls = 0;
  std::uint32_t rogue_acts = 0;
};

Scenario MakeScenario(Rng& rng);

}  // namespace cairn::sim
#endif  // CAIRN_TESTS_SIM_SCENARIO_H_
