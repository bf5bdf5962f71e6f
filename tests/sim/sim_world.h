#ifndef CAIRN_TESTS_SIM_SIM_WORLD_H_
#define CAIRN_TESTS_SIM_SIM_WORLD_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "libs/base/ids.h"
#include "libs/local_loopback/local_hub.h"
#include "libs/loop_manual/manual_world.h"
#include "libs/memory_heap/heap_memory.h"
#include "libs/transport_loopback/loopback_network.h"
#include "tests/sim/flaky.h"
#include "tests/sim/scenario.h"
#include "tests/sim/universe.h"

namespace cairn::sim {

inline constexpr char kSocketPath[] = "/sim/node.sock";
inline constexpr char kDevSecret[] = "the-dev-token-of-the-simulation!";

// What one seed did, for the summary and the comparison of two runs of a seed.
struct Tally {
  std::uint64_t steps = 0;
  std::uint64_t reads = 0;         // blocks read and found right
  std::uint64_t reads_thrown = 0;  // the seqlock check said no
  std::uint64_t acquires = 0;
  std::uint64_t offers = 0;
  std::uint64_t stored = 0;
  std::uint64_t evictions = 0;
  std::uint64_t client_crashes = 0;
  std::uint64_t node_crashes = 0;
  std::uint64_t flips = 0;
  std::uint64_t quarantined = 0;
  std::uint64_t conflicts = 0;
  std::uint64_t overlaps = 0;  // prompts whose overlap was told
  friend bool operator==(const Tally&, const Tally&) = default;
};

// SimWorld is what all simulated processes of one seed share. The first broken promise is kept in
// `failure`; after it nothing more is judged.
struct SimWorld {
  SimWorld(std::uint64_t seed, const Scenario& made)
      : scenario(made),
        rng(Mix64(seed * 7919 + 1)),
        world({.seed = Mix64(seed * 7919 + 2)}),
        network(Mix64(seed * 7919 + 3), made.network),
        hub({.seed = Mix64(seed * 7919 + 4), .delay_max = made.network.delay_max}) {}

  void Fail(const std::string& what) {
    if (failure.empty()) {
      failure = absl::StrCat("at ", world.Now().nanos() / 1000, " us: ", what);
    }
  }
  bool has_failed() const { return !failure.empty(); }
  std::unique_ptr<Transport> NewTransport(Loop& loop, TransportReceiver& receiver) {
    return std::make_unique<FlakyTransport>(network.NewTransport(loop, receiver), rng.Next(),
                                            scenario.transport_refusals);
  }

  const Scenario scenario;
  Rng rng;
  ManualWorld world;
  LoopbackNetwork network;
  LocalHub hub;
  HeapMemorySource memory;
  Tally tally;
  std::string failure;
  // Slots whose bytes the driver has flipped: what is there is known to be wrong.
  std::set<std::tuple<BootId, Place, Generation>> flipped;
  // How many prompts of a tenant began with these entries, told to the node or not yet.
  std::map<std::pair<int, std::vector<int>>, int> prompts_that_begin;
};

}  // namespace cairn::sim
#endif  // CAIRN_TESTS_SIM_SIM_WORLD_H_
