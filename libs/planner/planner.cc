#include "libs/planner/planner.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "libs/base/status_macros.h"
#include "libs/placement/default_experts.h"
#include "libs/placement/limits.h"
#include "libs/planner/limits.h"

namespace cairn::planner {
namespace {

constexpr std::size_t kEntriesReserved = 1 << 17;    // so that few observations wait for a rehash
constexpr std::uint32_t kSnapshotForm = 0x32535043;  // "CPS2": what Snapshot writes

absl::Status Bad(absl::string_view field, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(field, ": ", what));
}

absl::Status InRange(absl::string_view field, std::uint64_t value, std::uint64_t least,
                     std::uint64_t most) {
  if (value >= least && value <= most) return absl::OkStatus();
  return Bad(field, absl::StrCat("from ", least, " to ", most, ", not ", value));
}

std::unique_ptr<placement::ExpertPanel> NewPanel(std::size_t entries_max) {
  return placement::ExpertPanel::Create(placement::DefaultExperts(), entries_max).value();
}

}  // namespace

Planner::Planner(const Options& options)
    : options_(options),
      panel_(NewPanel(options.entries_max)),
      families_(options.families_max, panel_->experts()) {
  entries_.reserve(std::min(options.entries_max, kEntriesReserved));
}

absl::Status Planner::Validate(const Options& options) {
  CAIRN_RETURN_IF_ERROR(InRange("grid_tokens", options.grid_tokens, 1, limits::kGridTokensMax));
  CAIRN_RETURN_IF_ERROR(
      InRange("states_per_entry", options.states_per_entry, 1, placement::limits::kEntryStatesMax));
  CAIRN_RETURN_IF_ERROR(InRange("families_max", options.families_max, 1, limits::kFamiliesMax));
  return InRange("entries_max", options.entries_max, limits::kEntriesMin, limits::kEntriesMax);
}

absl::StatusOr<std::unique_ptr<Planner>> Planner::Create(const Options& options) {
  CAIRN_RETURN_IF_ERROR(Validate(options));
  return std::unique_ptr<Planner>(  // tidy: allow(new) the constructor is private
      new Planner(options));
}

std::uint32_t Planner::BlocksOf(std::uint64_t tokens) const {
  return static_cast<std::uint32_t>(tokens / options_.grid_tokens);
}

std::uint32_t Planner::PositionsOf(std::uint64_t tokens) const {
  return static_cast<std::uint32_t>((tokens + options_.grid_tokens - 1) / options_.grid_tokens);
}

absl::Status Planner::CheckLength(absl::string_view field, std::uint64_t length) const {
  return InRange(field, length, 1,
                 std::uint64_t{placement::limits::kEntryPositionsMax} * options_.grid_tokens);
}

absl::Status Planner::Check(const Observation& observation) const {
  if (observation.overlap_depth > 0) {
    CAIRN_RETURN_IF_ERROR(CheckLength("entry_length", observation.entry_length));
  }
  CAIRN_RETURN_IF_ERROR(CheckLength("request_length", observation.request_length));
  if (observation.overlap_depth > observation.entry_length ||
      observation.overlap_depth > observation.request_length) {
    return Bad("overlap_depth", absl::StrCat(observation.overlap_depth, " tokens of an entry of ",
                                             observation.entry_length, " and a request of ",
                                             observation.request_length));
  }
  if (!(observation.weight > 0 && observation.weight <= limits::kWeightMax)) {  // no NaN
    return Bad("weight",
               absl::StrCat("above 0, at most ", limits::kWeightMax, ", not ", observation.weight));
  }
  if (observation.request_entry == 0) return Bad("request_entry", "required");
  if (observation.overlap_depth > 0 && observation.entry == 0) return Bad("entry", "required");
  if (observation.entry == observation.request_entry) {
    return Bad("request_entry", "every request has an id of its own, not that of what it met");
  }
  return absl::OkStatus();
}

absl::Status Planner::Check(const Exposure& exposure) const {
  CAIRN_RETURN_IF_ERROR(CheckLength("length", exposure.length));
  return exposure.entry == 0 ? Bad("entry", "required") : absl::OkStatus();
}

void Planner::SetThinning(std::uint32_t strength) {
  stats_.thinning = std::clamp<std::uint64_t>(strength, 1, limits::kThinningMax);
}

bool Planner::IsThinned(std::uint64_t family) {
  FamilyBook::Family& own = families_.Touch(family);
  const std::uint64_t run = own.seen++ / kRun;
  constexpr std::uint64_t kSpread = 0x9E3779B97F4A7C15;  // 2^64 by the golden ratio (Knuth)
  if ((run + (family * kSpread >> 32)) % stats_.thinning == 0) return false;
  ++own.thinned;
  return true;
}

void Planner::TouchAsked() {
  for (const std::uint64_t family : asked_) {
    if (families_.Find(family) != nullptr) families_.Touch(family);
  }
  asked_.clear();
}

void Planner::MakeRoom(std::size_t entries) {
  if (panel_->entries() + entries <= options_.entries_max) return;
  forgotten_ = {.entries = std::exchange(entries_, {}), .panel = panel_->Restart()};
  entries_.reserve(std::min(options_.entries_max, kEntriesReserved));
  ++stats_.restarts;
}

absl::StatusOr<placement::EntryTree::Entry> Planner::Arrive(
    std::uint64_t family, placement::ExpertPanel::Arrival arrival) {
  arrival.family = family;
  arrival.states_max = options_.states_per_entry;
  CAIRN_ASSIGN_OR_RETURN(const placement::ExpertPanel::Outcome outcome, panel_->Arrive(arrival));
  families_.Count(family, arrival.shared, outcome.worlds, arrival.weight);
  families_.Touch(family).distances.Expose(arrival.end, arrival.weight);
  return outcome.entry;
}

absl::Status Planner::Adopt(std::uint64_t family, std::uint64_t entry, std::uint64_t length,
                            std::uint32_t weight) {
  CAIRN_ASSIGN_OR_RETURN(
      const placement::EntryTree::Entry stored,
      Arrive(family, {.length = PositionsOf(length), .end = BlocksOf(length), .weight = weight}));
  entries_[{family, entry}] = stored;
  return absl::OkStatus();
}

absl::Status Planner::Learn(const Observation& observation) {
  const std::uint64_t family = observation.family;
  double& credit = families_.Touch(family).credit;
  credit += observation.weight;
  const double times = std::floor(credit);
  credit -= times;
  if (times < 1) return absl::OkStatus();
  MakeRoom(2);
  placement::Arrival arrival{.length = PositionsOf(observation.request_length),
                             .end = BlocksOf(observation.request_length),
                             .weight = static_cast<std::uint32_t>(times)};
  const std::uint32_t agreed = BlocksOf(observation.overlap_depth);
  if (agreed > 0) {
    auto met = entries_.find({family, observation.entry});
    if (met == entries_.end()) {
      CAIRN_RETURN_IF_ERROR(
          Adopt(family, observation.entry, observation.entry_length, arrival.weight));
      ++stats_.entries_adopted;
      met = entries_.find({family, observation.entry});
    }
    arrival.matched = met->second;
    arrival.agreed = agreed;
    arrival.shared = std::min(agreed, BlocksOf(observation.request_length - 1));
  }
  CAIRN_ASSIGN_OR_RETURN(const placement::EntryTree::Entry entry, Arrive(family, arrival));
  entries_.try_emplace({family, observation.request_entry}, entry);
  FamilyBook::Family& own = families_.Touch(family);
  if (arrival.shared == 0) return absl::OkStatus();
  own.claims += arrival.weight;
  own.served += observation.was_served ? arrival.weight : 0;
  const std::uint32_t end = BlocksOf(observation.entry_length);
  own.distances.Claim(end - std::min(end, arrival.shared), arrival.weight);
  return absl::OkStatus();
}

absl::Status Planner::Observe(const Observation& observation) {
  TouchAsked();
  absl::Status status = Check(observation);
  if (status.ok() && entries_.contains({observation.family, observation.request_entry})) {
    ++stats_.repeated;
    return status;
  }
  if (status.ok() && observation.is_censored) {
    ++families_.Touch(observation.family).censored;
    ++stats_.censored;
    return status;
  }
  if (status.ok()) {
    // An entry is as long as when it came, whatever an observation says of it later.
    const auto known = entries_.find({observation.family, observation.entry});
    if (known != entries_.end() &&
        panel_->LengthOf(known->second) != PositionsOf(observation.entry_length)) {
      status = Bad("entry_length", absl::StrCat(observation.entry_length,
                                                " tokens, but the entry came with another length"));
    }
  }
  if (status.ok() && IsThinned(observation.family)) {
    ++stats_.observations_thinned;
    return status;
  }
  if (status.ok()) status = Learn(observation);
  ++(status.ok() ? stats_.observations : stats_.observations_refused);
  return status;
}

absl::Status Planner::Expose(const Exposure& exposure) {
  TouchAsked();
  absl::Status status = Check(exposure);
  if (status.ok() && entries_.contains({exposure.family, exposure.entry})) {
    ++stats_.repeated;
    return status;
  }
  if (status.ok() && IsThinned(exposure.family)) {
    ++stats_.exposures_thinned;
    return status;
  }
  if (status.ok()) {
    MakeRoom(1);
    status = Adopt(exposure.family, exposure.entry, exposure.length, 1);
  }
  ++(status.ok() ? stats_.exposures : stats_.exposures_refused);
  return status;
}

FamilyReport Planner::ReportOf(std::uint64_t id, const FamilyBook::Family& family) const {
  return {.family = id,
          .requests = family.requests,
          .claims = family.claims,
          .served = family.served,
          .censored = family.censored,
          .ceiling_tokens = family.ceiling * options_.grid_tokens,
          .thinned = family.thinned};
}

std::vector<FamilyReport> Planner::Families(std::size_t limit) const {
  std::vector<FamilyReport> found;
  families_.ForEach([&](std::uint64_t id, const FamilyBook::Family& family) {
    if (found.size() >= limit) return false;
    found.push_back(ReportOf(id, family));
    return true;
  });
  return found;
}

PlannerStats Planner::Stats() const {
  PlannerStats stats = stats_;
  stats.entries = panel_->entries();
  stats.requests = panel_->Requests();
  stats.families = families_.size();
  stats.families_evicted = families_.evicted();
  return stats;
}

std::string Planner::Snapshot() const {
  ByteWriter out;
  out.Put(kSnapshotForm);
  out.Put(options_.grid_tokens);
  panel_->Save(out);
  families_.Save(out);
  return std::move(out).Take();
}

absl::Status Planner::Load(absl::string_view snapshot) {
  if (snapshot.size() > limits::kSnapshotBytesMax) {
    return absl::DataLossError(absl::StrCat("snapshot of ", snapshot.size(), " bytes"));
  }
  ByteReader in(snapshot);
  if (in.Get<std::uint32_t>() != kSnapshotForm) {
    return absl::FailedPreconditionError("snapshot: of another version, or none");
  }
  if (const auto grid = in.Get<std::uint32_t>(); in.ok() && grid != options_.grid_tokens) {
    return absl::FailedPreconditionError(absl::StrCat(
        "snapshot: of a grid of ", grid, " tokens, this one has ", options_.grid_tokens));
  }
  std::unique_ptr<placement::ExpertPanel> panel = NewPanel(options_.entries_max);
  CAIRN_RETURN_IF_ERROR(panel->Load(in));
  FamilyBook families(options_.families_max, panel->experts());
  families.Load(in);
  if (!in.at_end()) return absl::DataLossError("snapshot: families damaged");
  panel_ = std::move(panel);
  families_ = std::move(families);
  entries_.clear();
  return absl::OkStatus();
}

}  // namespace cairn::planner
