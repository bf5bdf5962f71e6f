#ifndef CAIRN_TESTS_SIM_SIMULATION_H_
#define CAIRN_TESTS_SIM_SIMULATION_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "libs/node/options.h"
#include "tests/sim/rogue.h"
#include "tests/sim/sim_client.h"
#include "tests/sim/sim_node.h"
#include "tests/sim/sim_world.h"

namespace cairn::sim {

// One seed: a node and its clients in a world where things go wrong, until it is told to be quiet;
// then everything must come to its end. The same seed has the same history.
class Simulation {
 public:
  // `faults`: a bug to plant, which some seed is to find.
  Simulation(std::uint64_t seed, const TestFaults& faults);

  // Runs to the end, or to the first broken promise.
  void Run();
  const std::string& failure() const { return sim_.failure; }
  const Tally& tally() const { return sim_.tally; }

 private:
  static Scenario MakeWith(std::uint64_t seed, const TestFaults& faults);
  void Turn();
  void DisturbClients();
  void DisturbNode();
  void ComeToRest();
  void StopAll();
  template <class F>
  void Await(F is_done, absl::Duration limit, const char* what);

  SimWorld sim_;
  SimNode node_;
  std::vector<std::unique_ptr<SimClient>> clients_;
  Rogue rogue_;
  std::uint64_t turns_ = 0;
};

}  // namespace cairn::sim
#endif  // CAIRN_TESTS_SIM_SIMULATION_H_
