#ifndef CAIRN_TESTS_SIM_ROGUE_H_
#define CAIRN_TESTS_SIM_ROGUE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "tests/sim/sim_node.h"
#include "tests/sim/sim_world.h"
#include "tests/support/raw_peer.h"

namespace cairn::sim {

// Rogue is a process that knows the wire format and breaks its rules: a stranger without a token, a
// peer that stops half-way, or a session that says what no client would.
class Rogue {
 public:
  Rogue(SimWorld& sim, SimNode& node);
  ~Rogue() { Vanish(); }
  // Does one thing; now and then the process dies and another one comes.
  void Act();
  void Vanish();

 private:
  void Appear();
  void Misbehave();
  PinId SomePin();
  void OfferAndMisdeliver();

  SimWorld& sim_;
  SimNode& node_;
  Rng rng_;
  ManualLoop* loop_ = nullptr;
  std::unique_ptr<RawPeer> peer_;
  std::string bulk_;  // lent to the transport
  std::uint64_t requests_ = 0;
  std::uint64_t appeared_ = 0;
};

}  // namespace cairn::sim
#endif  // CAIRN_TESTS_SIM_ROGUE_H_
