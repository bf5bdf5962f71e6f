#include "libs/placement/expert_panel.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "libs/base/status_macros.h"
#include "libs/placement/limits.h"

namespace cairn::placement {
namespace {

// Room made at once, so that no request waits for thousands of entries to be moved.
constexpr std::size_t kEntriesReserved = 1 << 17;
constexpr std::uint32_t kSavedForm = 0x32465043;  // "CPF2": what Save writes, and its version

void PutScore(ByteWriter& out, const ExpertPanel::Score& score) {
  out.Put(score.saved);
  out.Put(score.states);
}

void GetScore(ByteReader& in, ExpertPanel::Score& score) {
  score.saved = in.Get<std::uint64_t>();
  score.states = in.Get<std::uint64_t>();
}

}  // namespace

ExpertPanel::ExpertPanel(std::vector<std::unique_ptr<Expert>> experts, std::size_t entries_max)
    : entries_max_(entries_max) {
  for (std::unique_ptr<Expert>& expert : experts) {
    Member member{.expert = std::move(expert), .score = {}, .shapes = {}};
    member.score.expert = member.expert->name();
    experts_.push_back(std::move(member));
  }
  Reserve();
}

absl::StatusOr<std::unique_ptr<ExpertPanel>> ExpertPanel::Create(
    std::vector<std::unique_ptr<Expert>> experts, std::size_t entries_max) {
  if (experts.empty() || experts.size() > limits::kExpertsMax) {
    return absl::InvalidArgumentError(
        absl::StrCat(experts.size(), " experts; 1..", limits::kExpertsMax, " are taken"));
  }
  if (entries_max == 0) return absl::InvalidArgumentError("expert panel: entries_max is 0");
  return std::unique_ptr<ExpertPanel>(  // tidy: allow(new) the constructor is private
      new ExpertPanel(std::move(experts), entries_max));
}

absl::Status ExpertPanel::Validate(const Arrival& arrival) const {
  if (arrival.length > limits::kEntryPositionsMax || arrival.end > arrival.length ||
      arrival.states_max > limits::kEntryStatesMax || arrival.weight == 0 ||
      arrival.weight > limits::kArrivalWeightMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("a request of ", arrival.length, " blocks, ", arrival.end,
                     " of them full, with ", arrival.states_max, " states, weighing ",
                     arrival.weight, ": beyond the limits, or more full blocks than blocks"));
  }
  if (arrival.shared > arrival.agreed || arrival.agreed > arrival.length ||
      (arrival.shared > 0 && arrival.shared >= arrival.length)) {
    return absl::InvalidArgumentError(absl::StrCat("a request of ", arrival.length,
                                                   " blocks that agrees for ", arrival.agreed,
                                                   " and can use ", arrival.shared));
  }
  if (!arrival.matched.has_value()) {
    if (arrival.agreed == 0) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("a request agrees with no entry for ", arrival.agreed, " blocks"));
  }
  if (*arrival.matched >= tree_.size() || tree_.LengthOf(*arrival.matched) < arrival.agreed) {
    return absl::InvalidArgumentError(absl::StrCat("a request agrees with entry ", *arrival.matched,
                                                   " for ", arrival.agreed,
                                                   " blocks, which it does not have"));
  }
  return absl::OkStatus();
}

void ExpertPanel::ObserveAll(const Arrival& arrival) {
  if (arrival.shared == 0) return;
  const EntryTree::Entry matched = *arrival.matched;
  const std::uint32_t end = ends_[matched];
  const BranchPoint node =
      tree_.AddClaim(matched, arrival.shared, end - std::min(end, arrival.shared));
  for (Member& member : experts_) {
    member.expert->Observe({.entry = member.shapes[matched],
                            .depth = arrival.shared,
                            .node_claims = node.claims,
                            .node_parted_before_end = node.parted_before_end,
                            .weight = arrival.weight});
  }
}

absl::StatusOr<ExpertPanel::Outcome> ExpertPanel::Arrive(const Arrival& arrival) {
  CAIRN_RETURN_IF_ERROR(Validate(arrival));
  if (tree_.size() >= entries_max_) {
    return absl::ResourceExhaustedError(absl::StrCat(entries_max_, " entries are stored"));
  }
  requests_ += arrival.weight;
  ceiling_ += std::uint64_t{arrival.shared} * arrival.weight;
  ObserveAll(arrival);
  Outcome outcome{.entry = 0, .worlds = {}};
  std::vector<PlanQuery> queries;
  for (EntryTree::World world = 0; world < experts_.size(); ++world) {
    queries.push_back(QueryIn(tree_, world, arrival));
  }
  outcome.entry = tree_.Add(arrival.matched, arrival.agreed, arrival.length);
  ends_.push_back(arrival.end);
  for (EntryTree::World world = 0; world < experts_.size(); ++world) {
    Member& member = experts_[world];
    const PlanQuery& query = queries[world];
    const auto placed = static_cast<std::uint32_t>(
        PutPlan(tree_, world, outcome.entry, query, member.expert->Sketch(query)).size());
    member.score.saved += std::uint64_t{query.shape.resume} * arrival.weight;
    member.score.states += placed;
    outcome.worlds.push_back({.resumed = query.shape.resume, .placed = placed});
    member.expert->Expose(query.shape, arrival.weight);
    member.shapes.push_back(query.shape);
  }
  return outcome;
}

ExpertPanel::Forgotten ExpertPanel::Restart() {
  Forgotten forgotten;
  forgotten.tree = std::exchange(tree_, EntryTree());
  ends_.clear();
  for (Member& member : experts_) {
    forgotten.shapes.push_back(std::exchange(member.shapes, {}));
  }
  Reserve();
  return forgotten;
}

void ExpertPanel::Reserve() {
  const std::size_t entries = std::min(entries_max_, kEntriesReserved);
  tree_.Reserve(entries);
  ends_.reserve(entries);
  for (Member& member : experts_) member.shapes.reserve(entries);
}

void ExpertPanel::Save(ByteWriter& out) const {
  out.Put(kSavedForm);
  out.Put(static_cast<std::uint32_t>(experts_.size()));
  for (const Member& member : experts_) {
    out.PutLengthPrefixed(
        absl::string_view(member.score.expert.data(), member.score.expert.size()));
    PutScore(out, member.score);
    ByteWriter learnt;
    member.expert->Save(learnt);
    out.PutLengthPrefixed(std::move(learnt).Take());
  }
  out.Put(ceiling_);
  out.Put(requests_);
}

absl::Status ExpertPanel::Load(ByteReader& in) {
  if (in.Get<std::uint32_t>() != kSavedForm) {
    return absl::FailedPreconditionError("saved experts: of another version");
  }
  if (in.Get<std::uint32_t>() != experts_.size()) {
    return absl::FailedPreconditionError("saved experts: another number of them");
  }
  for (Member& member : experts_) {
    const absl::string_view name = in.GetLengthPrefixed(limits::kExpertNameBytesMax);
    if (in.ok() &&
        name != absl::string_view(member.score.expert.data(), member.score.expert.size())) {
      return absl::FailedPreconditionError("saved experts: others than those that run");
    }
    GetScore(in, member.score);
    ByteReader learnt(in.GetLengthPrefixed(limits::kExpertBytesMax));
    member.expert->Load(learnt);
    if (!learnt.at_end()) in.MarkBad();
  }
  ceiling_ = in.Get<std::uint64_t>();
  requests_ = in.Get<std::uint64_t>();
  return in.ok() ? absl::OkStatus() : absl::DataLossError("saved experts: damaged");
}

std::size_t ExpertPanel::Leader() const {
  std::size_t leader = 0;
  for (std::size_t i = 1; i < experts_.size(); ++i) {
    if (experts_[i].score.saved > experts_[leader].score.saved) leader = i;
  }
  return leader;
}

ExpertPanel::Score ExpertPanel::ScoreOf(std::size_t expert) const { return experts_[expert].score; }

}  // namespace cairn::placement
