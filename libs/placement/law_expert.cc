#include "libs/placement/law_expert.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>

#include "libs/base/check.h"
#include "libs/placement/limits.h"
#include "libs/placement/line_solver.h"

namespace cairn::placement {
namespace {

// The prior: claims per entry at its end; half as many spread before it, halving with each block;
// and a few anywhere. It only has to be of the right shape, and to leave no position at nothing:
// budget that the law has no use for is then spread, not wasted.
constexpr double kPriorAtEnd = 0.2;
constexpr double kPriorBeforeEnd = 0.1;
constexpr double kPriorAnywhere = 0.05;
constexpr double kPriorExposures = 20;            // of the fixed prior, in all entries' table
constexpr double kPoolExposures = 10;             // of each table in the next one
constexpr std::uint32_t kNearEnd = 8;             // positions counted from the end in any case
constexpr std::uint32_t kClassesMax = 4 * 33;     // ClassOf: four of each bit width of 32 bits
constexpr std::uint32_t kAnyClass = kClassesMax;  // of a family's table of all its entries

double Prior(std::uint32_t distance, std::uint32_t positions) {
  // Halved 62 times it is nothing beside kPriorAnywhere.
  const double before = distance < 63 ? kPriorBeforeEnd / (std::uint64_t{1} << distance) : 0;
  return (distance == 0 ? kPriorAtEnd : 0) + before + kPriorAnywhere / positions;
}

// Rounded to nearest; a rate is never negative.
std::int64_t WeightOf(double rate) {
  return static_cast<std::int64_t>(std::min(rate, limits::kRateMax) * limits::kWeightUnit + 0.5);
}

}  // namespace

LawExpert::LawExpert(std::string_view name, const Options& options)
    : name_(name), options_(options), families_(options.tables_max) {}

std::uint32_t LawExpert::ClassOf(const EntryShape& entry) const {
  if (options_.is_pooled) return 0;
  const std::uint32_t below = entry.end - std::min(entry.end, entry.resume);
  return static_cast<std::uint32_t>(std::bit_width(below)) * 4 + (entry.resume > 0 ? 1 : 0) +
         (entry.shared > entry.resume ? 2 : 0);
}

void LawExpert::Observe(const Claim& claim) {
  const EntryShape& entry = claim.entry;
  const std::uint32_t key = ClassOf(entry);
  if (families_.MayTeach(entry.family, OwnClass(key))) {
    branches_.Observe(claim.node_claims, claim.node_parted_before_end, claim.weight);
  }
  const std::uint32_t depth = std::min(claim.depth, entry.end);
  if (depth <= entry.resume) return;
  if (depth <= entry.shared && claim.node_claims > 0) return;  // a known branch point
  const std::uint32_t place = Coordinate(entry, depth);
  if (families_.Claim(entry.family, kAnyClass, place, claim.weight)) {
    all_.Claim(place, claim.weight);
    classes_[key].Claim(place, claim.weight);
  }
  if (!options_.is_pooled) families_.Claim(entry.family, key, place, claim.weight);
}

void LawExpert::Expose(const EntryShape& entry, std::uint32_t weight) {
  if (entry.end <= entry.resume) return;
  const std::uint32_t positions = entry.end - entry.resume;
  const std::uint32_t key = ClassOf(entry);
  if (families_.Expose(entry.family, kAnyClass, positions, weight)) {
    all_.Expose(positions, weight);
    classes_[key].Expose(positions, weight);
  }
  if (!options_.is_pooled) families_.Expose(entry.family, key, positions, weight);
}

std::uint32_t LawExpert::OwnClass(std::uint32_t key) const {
  return options_.is_pooled ? kAnyClass : key;
}

std::uint32_t LawExpert::Coordinate(const EntryShape& entry, std::uint32_t depth) const {
  const std::uint32_t distance = entry.end - depth;
  if (!options_.is_from_both_ends || distance < kNearEnd) return distance;
  return kNearEnd + (depth - entry.resume - 1);
}

RateStack LawExpert::StackOf(const EntryShape& entry) const {
  RateStack stack;
  const std::uint32_t key = ClassOf(entry);
  if (!families_.IsEstablished(entry.family, kAnyClass)) {
    stack.Add(all_.settled(), kPriorExposures);
    const auto of_class = classes_.find(key);
    if (of_class != classes_.end()) stack.Add(of_class->second.settled(), kPoolExposures);
  }
  const auto add_own = [&](std::uint32_t entry_class) {
    const AdaptiveRates* const own = families_.Find(entry.family, entry_class);
    if (own != nullptr) stack.Add(own->settled(), kPoolExposures);
  };
  add_own(kAnyClass);
  if (!options_.is_pooled) add_own(key);
  return stack;
}

double LawExpert::Rate(RateStack& stack, const EntryShape& entry, std::uint32_t depth) const {
  return stack.Rate(Coordinate(entry, depth), Prior(entry.end - depth, entry.end - entry.resume));
}

double LawExpert::Rate(const EntryShape& entry, std::uint32_t depth) const {
  RateStack stack = StackOf(entry);
  return Rate(stack, entry, depth);
}

LineProblem LawExpert::Line(const PlanQuery& query) const {
  const EntryShape& entry = query.shape;
  LineProblem line{.atoms = {}, .held = {}, .base_cost = entry.resume};
  line.atoms.reserve(entry.end - std::min(entry.end, entry.resume));
  RateStack stack = StackOf(entry);
  std::size_t next = 0;
  for (std::uint32_t depth = entry.resume + 1; depth <= entry.end; ++depth) {
    double weight = Rate(stack, entry, depth);
    for (; next < query.branches.size() && query.branches[next].depth <= depth; ++next) {
      const BranchPoint& branch = query.branches[next];
      if (branch.depth == depth) {
        weight += branches_.Expected(branch.claims, branch.parted_before_end);
      }
    }
    line.atoms.push_back({.depth = depth, .cost = depth, .weight = WeightOf(weight)});
  }
  for (const std::uint32_t depth : query.held) {
    if (depth > entry.resume) line.held.push_back({.depth = depth, .cost = depth});
  }
  return line;
}

std::uint32_t LawExpert::StretchEnd(const EntryShape& entry, std::uint32_t depth) const {
  if (entry.end - depth < kNearEnd) return depth;
  const std::uint32_t place = Coordinate(entry, depth);
  const std::uint32_t bin = DistanceBin(place);
  const std::uint32_t more = options_.is_from_both_ends ? DistanceBinStart(bin + 1) - 1 - place
                                                        : place - DistanceBinStart(bin);
  return depth + std::min(more, entry.end - kNearEnd - depth);
}

LineProblem LawExpert::CoarseLine(const PlanQuery& query) const {
  const EntryShape& entry = query.shape;
  LineProblem line{.atoms = {}, .held = {}, .base_cost = entry.resume};
  line.atoms.reserve(128);
  RateStack stack = StackOf(entry);
  std::size_t branch = 0;
  std::size_t held = 0;
  for (std::uint32_t depth = entry.resume + 1; depth <= entry.end;) {
    double weight = 0;
    for (; branch < query.branches.size() && query.branches[branch].depth <= depth; ++branch) {
      const BranchPoint& point = query.branches[branch];
      if (point.depth == depth) weight += branches_.Expected(point.claims, point.parted_before_end);
    }
    while (held < query.held.size() && query.held[held] <= depth) ++held;
    std::uint32_t last = std::min(entry.end, StretchEnd(entry, depth));
    if (branch < query.branches.size()) last = std::min(last, query.branches[branch].depth - 1);
    if (held < query.held.size()) last = std::min(last, query.held[held] - 1);
    weight += Rate(stack, entry, depth) * (last - depth + 1);
    line.atoms.push_back({.depth = depth, .cost = depth, .weight = WeightOf(weight)});
    depth = last + 1;
  }
  for (const std::uint32_t depth : query.held) {
    if (depth > entry.resume) line.held.push_back({.depth = depth, .cost = depth});
  }
  return line;
}

void LawExpert::Save(ByteWriter& out) const {
  std::vector<std::uint32_t> keys;
  for (const auto& [key, rates] : classes_) keys.push_back(key);
  std::sort(keys.begin(), keys.end());  // equal laws, equal bytes
  all_.Save(out);
  out.Put(static_cast<std::uint32_t>(keys.size()));
  for (const std::uint32_t key : keys) {
    out.Put(key);
    classes_.find(key)->second.Save(out);
  }
  branches_.Save(out);
  families_.Save(out);
}

void LawExpert::Load(ByteReader& in) {
  all_.Load(in);
  classes_.clear();
  std::uint32_t left = in.GetCount(kClassesMax, sizeof(std::uint32_t));
  for (; left > 0 && in.ok(); --left) {
    const std::uint32_t key = in.Get<std::uint32_t>();
    if (key >= kClassesMax || classes_.contains(key)) in.MarkBad();
    if (in.ok()) classes_[key].Load(in);
  }
  branches_.Load(in);
  families_.Load(in);
}

std::vector<std::uint32_t> LawExpert::Solve(const LineProblem& line,
                                            std::uint32_t states_max) const {
  const absl::StatusOr<LinePlan> plan =
      SolveLine(line, states_max, std::llround(options_.price * limits::kWeightUnit));
  CAIRN_CHECK(plan.ok()) << plan.status().ToString();
  return plan->depths;
}

std::vector<std::uint32_t> LawExpert::Plan(const PlanQuery& query) const {
  if (query.shape.end <= query.shape.resume || query.states_max == 0) return {};
  return Solve(Line(query), query.states_max);
}

std::vector<std::uint32_t> LawExpert::Sketch(const PlanQuery& query) const {
  if (query.shape.end <= query.shape.resume || query.states_max == 0) return {};
  return Solve(CoarseLine(query), query.states_max);
}

}  // namespace cairn::placement
