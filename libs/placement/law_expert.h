#ifndef CAIRN_LIBS_PLACEMENT_LAW_EXPERT_H_
#define CAIRN_LIBS_PLACEMENT_LAW_EXPERT_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "libs/placement/adaptive_rates.h"
#include "libs/placement/branch_law.h"
#include "libs/placement/expert.h"
#include "libs/placement/family_rates.h"
#include "libs/placement/line_problem.h"
#include "libs/placement/rate_stack.h"

namespace cairn::placement {

// LawExpert plans by the law of claims: one exact solve (line_solver.h) over all positions below
// the resume point, each weighing the claims expected there over the entry's life, held states
// free.
//
// The law is by distance from the entry's END: pooled absolute depths of entries of different
// lengths hide it. It is a stack of rate tables, each the prior of the next: a fixed prior (most
// claims go on from the end, some from just before it, the rest anywhere), all entries, entries of
// one class, all entries of the family where it has one, and those of the class. A family that has
// taught the first two all that it may (FamilyRates) goes without them. It learns only from claims
// that a state below the entry's resume point would have served: those at or above it are served
// already, and feeding them in pulls every plan inwards. Points where requests have parted before
// weigh what BranchLaw expects there on top; claims at them are left out of the tables, so none
// counts twice.
class LawExpert : public Expert {
 public:
  struct Options {
    // All entries are alike; else they are told apart by the positions below their resume point
    // (powers of two), whether there is such a point, and whether they parted below it.
    bool is_pooled = false;
    // Positions far from the end are counted from the resume point: heads shared within documents.
    bool is_from_both_ends = false;
    // A state that is expected to save no more than this over its life, in blocks, is left out.
    double price = 0;
    // Tables of families and their classes; the least recently used one goes.
    std::uint32_t tables_max = 1 << 14;
  };
  LawExpert(std::string_view name, const Options& options);

  std::string_view name() const override { return name_; }
  void Observe(const Claim& claim) override;
  void Expose(const EntryShape& entry, std::uint32_t weight) override;
  std::vector<std::uint32_t> Plan(const PlanQuery& query) const override;
  // The same solve over one position a bin of distances, of which 500 positions are 24.
  std::vector<std::uint32_t> Sketch(const PlanQuery& query) const override;
  std::optional<LineProblem> Law(const PlanQuery& query) const override { return Line(query); }
  void Save(ByteWriter& out) const override;
  void Load(ByteReader& in) override;

  // Claims expected at `depth`, in (resume, end], of an entry over its life, branch points aside.
  double Rate(const EntryShape& entry, std::uint32_t depth) const;
  // The problem that Plan solves.
  LineProblem Line(const PlanQuery& query) const;
  // The problem that Sketch solves: stretches of positions that the law takes for alike, each as
  // one atom at its first position. States at those positions, at branch points and at held ones
  // save in it exactly what they save in Line, a constant aside.
  LineProblem CoarseLine(const PlanQuery& query) const;

 private:
  std::vector<std::uint32_t> Solve(const LineProblem& line, std::uint32_t states_max) const;
  // The tables that an entry's rate comes from.
  RateStack StackOf(const EntryShape& entry) const;
  double Rate(RateStack& stack, const EntryShape& entry, std::uint32_t depth) const;
  std::uint32_t ClassOf(const EntryShape& entry) const;
  std::uint32_t OwnClass(std::uint32_t key) const;  // the finest that a family has a table of
  // The last of the positions from `depth` on that CoarseLine takes together.
  std::uint32_t StretchEnd(const EntryShape& entry, std::uint32_t depth) const;
  // Where a depth is counted in the tables.
  std::uint32_t Coordinate(const EntryShape& entry, std::uint32_t depth) const;

  std::string_view name_;
  Options options_;
  AdaptiveRates all_;
  absl::flat_hash_map<std::uint32_t, AdaptiveRates> classes_;  // at most a few hundred keys
  FamilyRates families_;
  BranchLaw branches_;
};

}  // namespace cairn::placement
#endif  // CAIRN_LIBS_PLACEMENT_LAW_EXPERT_H_
