#include "services/node/counters.h"

#include <cstddef>
#include <iterator>

#include "absl/strings/str_cat.h"

namespace cairn {
namespace {

template <class Stats>
struct Counter {
  const char* name;
  std::uint64_t Stats::*field;
};

constexpr Counter<FrontStats> kFront[] = {
    {"sessions", &FrontStats::sessions},
    {"sessions_opened", &FrontStats::sessions_opened},
    {"sessions_ended", &FrontStats::sessions_ended},
    {"hello_pending", &FrontStats::hello_pending},
    {"messages", &FrontStats::messages},
    {"messages_malformed", &FrontStats::messages_malformed},
    {"acquires", &FrontStats::acquires},
    {"acquires_late", &FrontStats::acquires_late},
    {"acquires_refused", &FrontStats::acquires_refused},
    {"keys_capped", &FrontStats::keys_capped},
    {"overlaps", &FrontStats::overlaps},
    {"overlap_blocks", &FrontStats::overlap_blocks},
    {"pulls", &FrontStats::pulls},
    {"pulls_failed", &FrontStats::pulls_failed},
    {"pulled_bytes", &FrontStats::pulled_bytes},
    {"sends", &FrontStats::sends},
    {"sends_queued", &FrontStats::sends_queued},
    {"offers_refused", &FrontStats::offers_refused},
    {"offers_overdue", &FrontStats::offers_overdue},
    {"landings", &FrontStats::landings},
    {"landings_refused", &FrontStats::landings_refused},
    {"tokens", &FrontStats::tokens},
};
static_assert(sizeof(FrontStats) == (std::size(kFront) + kHelloRefusals) * sizeof(std::uint64_t),
              "a counter of FrontStats has no name");

constexpr Counter<ShardStats> kShards[] = {
    {"hits", &ShardStats::hits},
    {"misses", &ShardStats::misses},
    {"keys_refused", &ShardStats::keys_refused},
    {"pins", &ShardStats::pins},
    {"pins_aged", &ShardStats::pins_aged},
    {"holds", &ShardStats::holds},
    {"stale", &ShardStats::stale},
    {"suspects", &ShardStats::suspects},
    {"suspects_refuted", &ShardStats::suspects_refuted},
    {"quarantined", &ShardStats::quarantined},
    {"offers", &ShardStats::offers},
    {"offers_known", &ShardStats::offers_known},
    {"stored", &ShardStats::stored},
    {"stored_bytes", &ShardStats::stored_bytes},
    {"put_torn", &ShardStats::put_torn},
    {"puts_failed", &ShardStats::puts_failed},
    {"conflicts", &ShardStats::conflicts},
    {"no_room", &ShardStats::no_room},
    {"offers_limited", &ShardStats::offers_limited},
    {"pending", &ShardStats::pending},
    {"pending_asked", &ShardStats::pending_asked},
    {"loans", &ShardStats::loans},
    {"loans_overdue", &ShardStats::loans_overdue},
    {"entries", &ShardStats::entries},
    {"evictions", &ShardStats::evictions},
    {"segments_resized", &ShardStats::segments_resized},
    {"evicted_by_admin", &ShardStats::evicted_by_admin},
    {"verified", &ShardStats::verified},
    {"segments", &ShardStats::segments},
    {"segments_unassigned", &ShardStats::segments_unassigned},
};
static_assert(offsetof(ShardStats, slots) == std::size(kShards) * sizeof(std::uint64_t),
              "a counter of ShardStats has no name");

constexpr Counter<UcxStats> kTransports[] = {
    {"messages_sent", &UcxStats::messages_sent},
    {"messages_received", &UcxStats::messages_received},
    {"bulks_sent", &UcxStats::bulks_sent},
    {"bulks_received", &UcxStats::bulks_received},
    {"bulk_bytes_sent", &UcxStats::bulk_bytes_sent},
    {"bulk_bytes_received", &UcxStats::bulk_bytes_received},
    {"bulks_refused", &UcxStats::bulks_refused},
    {"strangers_dropped", &UcxStats::strangers_dropped},
    {"malformed_dropped", &UcxStats::malformed_dropped},
    {"endpoints_failed", &UcxStats::endpoints_failed},
};
static_assert(sizeof(UcxStats) == std::size(kTransports) * sizeof(std::uint64_t),
              "a counter of UcxStats has no name");

constexpr Counter<OverlapSenderStats> kPlacement[] = {
    {"sent", &OverlapSenderStats::sent},
    {"refused", &OverlapSenderStats::refused},
    {"dropped", &OverlapSenderStats::dropped},
    {"queued", &OverlapSenderStats::queued},
};
static_assert(sizeof(OverlapSenderStats) == std::size(kPlacement) * sizeof(std::uint64_t),
              "a counter of OverlapSenderStats has no name");

const char* NameOf(SlotState state) {
  switch (state) {
    case SlotState::kFree:
      return "free";
    case SlotState::kFilling:
      return "filling";
    case SlotState::kReady:
      return "ready";
    case SlotState::kEvicting:
      return "evicting";
    case SlotState::kQuarantined:
      return "quarantined";
  }
  return "";
}

}  // namespace

void Add(const UcxStats& one, UcxStats* sum) {
  for (const auto& counter : kTransports) sum->*counter.field += one.*counter.field;
}

std::map<std::string, std::uint64_t> CountersOf(const ProcessStats& stats) {
  const auto& [front, shards] = stats.node;
  std::map<std::string, std::uint64_t> out;
  for (const auto& counter : kFront) out[counter.name] = front.*counter.field;
  for (const auto& counter : kShards) out[counter.name] = shards.*counter.field;
  for (const auto& counter : kTransports) {
    out[absl::StrCat("transport.", counter.name)] = stats.adapters.transports.*counter.field;
  }
  for (const auto& counter : kPlacement) {
    out[absl::StrCat("placement.", counter.name)] = stats.adapters.placement.*counter.field;
  }
  for (std::size_t i = 0; i < kHelloRefusals; ++i) {
    const char* const why = HelloRefusalName(static_cast<HelloRefusal>(i));
    out[absl::StrCat("hello_refused.", why)] = front.hello_refused[i];
  }
  for (std::size_t i = 0; i < kSlotStates; ++i) {
    const char* const state = NameOf(static_cast<SlotState>(i));
    out[absl::StrCat("slots.", state)] = shards.slots[i].slots;
    out[absl::StrCat("slot_bytes.", state)] = shards.slots[i].bytes;
  }
  return out;
}

}  // namespace cairn
