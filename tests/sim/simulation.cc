#include "tests/sim/simulation.h"

#include <algorithm>

namespace cairn::sim {

Scenario Simulation::MakeWith(std::uint64_t seed, const TestFaults& faults) {
  Rng rng(Mix64(seed));
  Scenario scenario = MakeScenario(rng);
  scenario.node.faults = faults;
  return scenario;
}

Simulation::Simulation(std::uint64_t seed, const TestFaults& faults)
    : sim_(seed, MakeWith(seed, faults)), node_(sim_), rogue_(sim_, node_) {
  for (std::size_t i = 0; i < sim_.scenario.clients.size(); ++i) {
    clients_.push_back(std::make_unique<SimClient>(sim_, node_, static_cast<int>(i)));
  }
}

template <class F>
void Simulation::Await(F is_done, absl::Duration limit, const char* what) {
  if (sim_.has_failed()) return;
  if (!sim_.world.RunUntil([&] { return is_done() || sim_.has_failed(); }, limit)) {
    sim_.Fail(absl::StrCat("it never came: ", what));
  }
}

void Simulation::Run() {
  // Which of them is first must not matter.
  const bool is_node_first = sim_.rng.Chance(2, 3);
  if (is_node_first) node_.Start();
  for (auto& client : clients_) client->Start();
  const Instant end = sim_.world.Now() + sim_.scenario.duration;
  while (sim_.world.Now() < end && !sim_.has_failed()) Turn();
  if (!sim_.has_failed()) ComeToRest();
  if (!sim_.has_failed()) StopAll();
  sim_.tally.steps = sim_.world.steps();
}

void Simulation::Turn() {
  sim_.world.RunFor(sim_.rng.Unit() * sim_.scenario.turn_max);
  if (!node_.is_up() && sim_.rng.Chance(1, 20)) node_.Start();
  DisturbClients();
  if (node_.is_up()) DisturbNode();
  if (++turns_ % 4 == 0 && node_.is_up()) node_.CheckContents();
}

void Simulation::DisturbClients() {
  const Scenario& s = sim_.scenario;
  SimClient& client = *clients_[sim_.rng.Below(clients_.size())];
  if (!client.is_up()) {
    if (sim_.rng.Chance(1, 10)) client.Start();
    return;
  }
  if (client.is_paused()) {
    if (sim_.rng.Chance(1, 8)) client.Resume();
  } else if (sim_.rng.Chance(s.client_pauses, 1000)) {
    client.Pause();
  }
  if (sim_.rng.Chance(s.breaks, 1000)) {
    sim_.rng.Chance(1, 2) ? sim_.network.BreakEndpoints(client.loop())
                          : sim_.hub.BreakChannels(client.loop());
  }
  if (sim_.rng.Chance(s.client_crashes, 1000)) {
    client.Crash();
    ++sim_.tally.client_crashes;
  }
}

void Simulation::DisturbNode() {
  const Scenario& s = sim_.scenario;
  if (sim_.rng.Chance(s.flips, 1000)) node_.FlipUnread();
  if (sim_.rng.Chance(s.admin_calls, 1000)) node_.CallAdmin();
  if (sim_.rng.Chance(s.rogue_acts, 1000)) rogue_.Act();
  if (sim_.rng.Chance(s.node_crashes, 1000)) {
    node_.Crash();
    ++sim_.tally.node_crashes;
  }
}

// Nothing more goes wrong and nothing new begins: all that is under way must end.
void Simulation::ComeToRest() {
  LoopbackFaults calm = sim_.scenario.network;
  calm.endpoint_failures_per_million = 0;
  calm.bulk_failures_per_million = 0;
  sim_.network.SetFaults(calm);
  rogue_.Vanish();
  if (!node_.is_up()) node_.Start();
  for (auto& client : clients_) {
    if (!client->is_up()) continue;
    if (client->is_paused()) client->Resume();
    client->Quiet();
  }
  const auto all_idle = [&] {
    return std::all_of(clients_.begin(), clients_.end(),
                       [](const auto& c) { return !c->is_up() || c->IsIdle(); });
  };
  Await(all_idle, absl::Milliseconds(500), "the end of every call and loan");
  if (!sim_.has_failed()) node_.CheckContents();
}

void Simulation::StopAll() {
  for (auto& client : clients_) {
    if (client->is_up()) client->Stop();
  }
  const auto all_stopped = [&] {
    return std::all_of(clients_.begin(), clients_.end(),
                       [](const auto& c) { return !c->is_up() || c->has_stopped(); });
  };
  Await(all_stopped, absl::Milliseconds(100), "the end of every client's gate");
  Await([&] { return node_.node().front().ReportSessions().empty(); }, absl::Milliseconds(50),
        "the end of every session at the node");
  Await([&] { return node_.admin_calls_open() == 0; }, absl::Milliseconds(100),
        "an admin's answer");
  sim_.world.RunFor(absl::Microseconds(300));
  if (sim_.has_failed()) return;
  node_.CheckContents();
  node_.CheckNothingIsKept();
  for (auto& client : clients_) client->Crash();
  bool is_stopped = false;
  node_.loop().Post([&] { node_.node().Stop([&] { is_stopped = true; }); });
  Await([&] { return is_stopped; }, absl::Milliseconds(100), "the end of the node's gate");
  node_.Crash();
}

}  // namespace cairn::sim
