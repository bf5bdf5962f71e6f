#include "tests/sim/sim_node.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "libs/base/check.h"

namespace cairn::sim {

void SimNode::Start() {
  CAIRN_CHECK(node_ == nullptr);
  ++starts_;
  const absl::Duration offset = absl::Seconds(static_cast<std::int64_t>(100 * starts_));
  NodeOptions options = sim_.scenario.node;
  if (!sim_.scenario.has_tokens) options.dev_token = kDevSecret;
  loops_ = {&sim_.world.AddLoop({.name = "node", .clock_offset = offset})};
  NodePorts ports{.loop = *loops_[0],
                  .memory = sim_.memory,
                  .shards = {},
                  .local_listener = sim_.hub.NewListener(*loops_[0], kSocketPath, {}),
                  .make_transport =
                      [this](LaneKind, TransportReceiver& receiver) {
                        return absl::StatusOr<std::unique_ptr<Transport>>(
                            sim_.NewTransport(*loops_[0], receiver));
                      },
                  .overlaps = this};
  for (std::uint32_t i = 0; i < options.shards; ++i) {
    if (options.shards > 1) {
      loops_.push_back(&sim_.world.AddLoop({.name = "shard", .clock_offset = offset}));
    }
    ManualLoop& loop = *loops_.back();
    copiers_.push_back(std::make_unique<ManualCopier>(
        loop, ManualCopier::Options{.seed = sim_.rng.Next(),
                                    .slice_bytes_max = sim_.scenario.copier_slice_bytes_max,
                                    .delay_max = sim_.scenario.copier_delay_max}));
    flaky_copiers_.push_back(std::make_unique<FlakyCopier>(*copiers_.back(), sim_.rng.Next(),
                                                           sim_.scenario.copier_refusals));
    ports.shards.push_back({loop, *flaky_copiers_.back()});
  }
  absl::StatusOr<std::unique_ptr<Node>> made = Node::Create(options, std::move(ports));
  CAIRN_CHECK(made.ok()) << made.status().ToString();
  node_ = *std::move(made);
  const absl::Status started = node_->Start();
  CAIRN_CHECK(started.ok()) << started.ToString();
}

void SimNode::Report(const Overlap& overlap) {
  ++sim_.tally.overlaps;
  const bool is_sound = overlap.family != 0 && overlap.request_entry != 0 &&
                        overlap.depth <= std::min(overlap.request_length, overlap.entry_length) &&
                        (overlap.depth > 0) == (overlap.entry != 0);
  if (!is_sound) sim_.Fail("an overlap whose numbers contradict each other");
}

void SimNode::Crash() {
  if (node_ == nullptr) return;
  const ShardStats stats = Stats();
  sim_.tally.stored += stats.stored;
  sim_.tally.evictions += stats.evictions;
  sim_.tally.quarantined += stats.quarantined;
  sim_.tally.conflicts += stats.conflicts;
  sim_.network.Crash(*loops_[0]);
  sim_.hub.Crash(*loops_[0]);
  for (ManualLoop* loop : loops_) loop->Crash();
  node_.reset();
  flaky_copiers_.clear();
  copiers_.clear();
  loops_.clear();
  admin_calls_open_ = 0;
  list_cursor_.clear();
}

ShardStats SimNode::Stats() const {
  ShardStats sum;
  for (const auto& shard : node_->front().shards()) sum += shard->Snapshot();
  return sum;
}

void SimNode::CheckContents() {
  const Universe& universe = Universe::Get();
  const Arena& arena = node_->front().arena();
  std::uint64_t seen = 0;
  for (const auto& shard : node_->front().shards()) {
    for (const EntryReport& e : shard->admin().List(0, 1000, std::nullopt).entries) {
      ++seen;
      const KnownRoot* root = node_->front().identities().Find(e.id.root);
      const int entry = universe.Find(e.id.key);
      if (root == nullptr || entry < 0) continue;  // a stranger's, or its root is forgotten
      if (sim_.flipped.contains({arena.boot(), e.place, e.generation})) continue;
      int tenant = 0;
      while (tenant < kTenants && Universe::RootOfTenant(tenant) != root->root) ++tenant;
      if (tenant == kTenants) continue;
      const std::uint64_t offset = shard->OffsetOf(e.place);
      if (!universe.IsRight(arena.bytes(e.place.segment).subspan(offset, e.bytes), entry, tenant)) {
        sim_.Fail(absl::StrCat("promise 1 or 2: entry ", entry, " of tenant ", tenant,
                               " can be found with wrong bytes"));
      }
    }
  }
  const ShardStats stats = Stats();
  const auto& ready = stats.slots[static_cast<std::size_t>(SlotState::kReady)];
  if (seen != stats.entries || seen != ready.slots) {
    sim_.Fail(absl::StrCat("accounts: ", seen, " entries listed, ", stats.entries, " counted, ",
                           ready.slots, " slots ready"));
  }
}

void SimNode::CheckNothingIsKept() {
  const ShardStats s = Stats();
  const FrontStats f = node_->front().Snapshot();
  const auto slots = [&](SlotState state) {
    return s.slots[static_cast<std::size_t>(state)].slots;
  };
  const std::pair<const char*, std::uint64_t> kept[] = {
      {"pins", s.pins},
      {"holds", s.holds},
      {"pending offers", s.pending},
      {"loans", s.loans},
      {"overdue loans", s.loans_overdue},
      {"filling slots", slots(SlotState::kFilling)},
      {"evicting slots", slots(SlotState::kEvicting)},
      {"quarantined slots", slots(SlotState::kQuarantined)},
      {"sessions", f.sessions},
      {"session records", node_->front().ReportSessions().size()},
      {"hand-shakes", f.hello_pending},
      {"sends", f.sends},
      {"queued sends", f.sends_queued},
      {"landings", f.landings},
      {"loans of the network", sim_.network.loans()},
      {"admin calls", admin_calls_open_},
  };
  std::string leaks;
  for (const auto& [what, count] : kept) {
    if (count != 0) absl::StrAppend(&leaks, leaks.empty() ? "" : ", ", count, " ", what);
  }
  if (!leaks.empty()) sim_.Fail(absl::StrCat("leak when all is quiet: ", leaks));
}

bool SimNode::FlipUnread() {
  const Arena& arena = node_->front().arena();
  for (const auto& shard : node_->front().shards()) {
    for (const EntryReport& e : shard->admin().List(0, 1000, std::nullopt).entries) {
      if (e.uses > 0 || e.is_held) continue;
      const std::uint64_t at = shard->OffsetOf(e.place) + sim_.rng.Below(e.bytes);
      arena.bytes(e.place.segment)[at] ^=
          std::byte{static_cast<unsigned char>(1u << sim_.rng.Below(8))};
      sim_.flipped.insert({arena.boot(), e.place, e.generation});
      ++sim_.tally.flips;
      return true;
    }
  }
  return false;
}

template <class T>
AdminDone<T> SimNode::Expect() {
  ++admin_calls_open_;
  return [this, start = starts_](absl::StatusOr<T> result) {
    CAIRN_CHECK(start == starts_) << "an answer from a node that is dead";
    --admin_calls_open_;
    if constexpr (std::is_same_v<T, EntryList>) {
      list_cursor_ = result.ok() ? result->next_cursor : "";
    }
  };
}

void SimNode::CallAdmin() {
  const Universe& universe = Universe::Get();
  const auto random_key = [&] {
    return universe.entries()[sim_.rng.Below(universe.entries().size())].key;
  };
  RootChoice root;
  if (sim_.rng.Chance(1, 2))
    root.root = Universe::RootOfTenant(static_cast<int>(sim_.rng.Below(2)));
  NodeAdmin& admin = node_->admin();
  switch (sim_.rng.Below(8)) {
    case 0:
      admin.Status(Expect<NodeStatus>());
      break;
    case 1:
      admin.List(root, list_cursor_, sim_.rng.Between(1, 5), Expect<EntryList>());
      break;
    case 2:
      admin.Describe(random_key(), root, Expect<std::vector<NamedEntry>>());
      break;
    case 3:
      admin.Verify({.root = root, .is_all = true}, Expect<VerifyReport>());
      break;
    case 4:
      admin.Verify({.keys = {random_key(), random_key()}}, Expect<VerifyReport>());
      break;
    case 5:
      admin.Evict({.keys = {random_key(), random_key()}}, Expect<EvictReport>());
      break;
    case 6: {
      if (sim_.rng.Chance(1, 4)) admin.Evict({.root = root, .is_all = true}, Expect<EvictReport>());
      break;
    }
    default: {
      root.root = Universe::RootOfTenant(0);
      admin.Explain(root, {random_key(), random_key()}, Expect<Explanation>());
      break;
    }
  }
}

}  // namespace cairn::sim
