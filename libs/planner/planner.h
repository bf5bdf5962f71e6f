#ifndef CAIRN_LIBS_PLANNER_PLANNER_H_
#define CAIRN_LIBS_PLANNER_PLANNER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "libs/placement/expert_panel.h"
#include "libs/placement/plan_query.h"
#include "libs/planner/family_book.h"
#include "libs/planner/questions.h"

namespace cairn::planner {

struct PlannerStats {
  std::uint64_t observations = 0;          // taken
  std::uint64_t exposures = 0;             // taken
  std::uint64_t observations_refused = 0;  // garbage
  std::uint64_t exposures_refused = 0;
  std::uint64_t observations_thinned = 0;  // sound, and only counted
  std::uint64_t exposures_thinned = 0;
  std::uint64_t thinning = 1;         // of so many runs one is taken, now
  std::uint64_t repeated = 0;         // of an entry that came before: counted once only
  std::uint64_t censored = 0;         // counted, and nothing learnt
  std::uint64_t entries_adopted = 0;  // met before anybody said that they came
  std::uint64_t entries = 0;          // remembered now
  std::uint64_t requests = 0;         // that the experts were tried on, since ever
  std::uint64_t restarts = 0;         // all entries forgotten, since there were entries_max
  std::uint64_t plans = 0;
  std::uint64_t plans_refused = 0;
  std::uint64_t families = 0;  // known now
  std::uint64_t families_evicted = 0;
};

// Planner is the placement service without its process: it learns from observations where prompts
// of each family part, and says where states shall stand (libs/placement says how).
//
// Invariants:
//   1. What it refuses changes nothing but a counter.
//   2. One family's observations move another family's plans by a bounded amount, and those of a
//      family with 256 requests of its own not at all (FamilyRates, FamilyBook).
//   3. Memory is bounded by the options: families and tables of laws in LRU, entries forgotten all
//      at once when there are entries_max. Laws and scores stay.
// Threads: callers that take turns; but Plan changes nothing that Snapshot, Explain and Families
// read, so one caller may plan while another is in those. Check reads options only. No clock, no
// IO.
class Planner {
 public:
  struct Options {
    std::uint32_t grid_tokens = 64;      // positions where states can stand; counted in these
    std::uint32_t states_per_entry = 2;  // budget in the experts' shadow worlds
    std::size_t families_max = 10'000;
    std::size_t entries_max = 1 << 16;
  };
  // INVALID_ARGUMENT begins with the option.
  static absl::Status Validate(const Options& options);
  static absl::StatusOr<std::unique_ptr<Planner>> Create(const Options& options);  // the same

  // INVALID_ARGUMENT names the field. Observing the same request_entry again is OK and ignored:
  // batches may be sent twice.
  absl::Status Observe(const Observation& observation);
  absl::Status Expose(const Exposure& exposure);
  // The same errors without looking at anything that was learnt, from any thread.
  absl::Status Check(const Observation& observation) const;
  absl::Status Check(const Exposure& exposure) const;

  // When more comes than can be learnt from: of `strength` runs of kRun observations of a family,
  // one is taken from now on and the others are only counted. 1, the start: all are taken; at most
  // limits::kThinningMax. Runs are whole because a request and the one that goes on from it are
  // near each other; each family has its runs at another time. What is taken does not weigh more
  // for it: laws that are sure of what they have not seen are worse (README.md).
  static constexpr std::uint64_t kRun = 64;
  void SetThinning(std::uint32_t strength);

  // Frees what entries that were forgotten have held: milliseconds, beside Plan if need be.
  void FreeForgotten() { forgotten_ = {}; }

  // In microseconds: 150 for 2,000 positions. INVALID_ARGUMENT names the field.
  absl::StatusOr<PlanAnswer> Plan(const PlanQuestion& question);
  absl::StatusOr<Explanation> Explain(const PlanQuestion& question) const;
  // The most recently used `limit` families.
  std::vector<FamilyReport> Families(std::size_t limit) const;
  PlannerStats Stats() const;

  // All that was learnt, as bytes; entries are left out. Load replaces everything, or nothing:
  // DATA_LOSS or FAILED_PRECONDITION, saying why, when that is no snapshot for these options.
  std::string Snapshot() const;
  absl::Status Load(absl::string_view snapshot);

 private:
  explicit Planner(const Options& options);
  absl::StatusOr<placement::PlanQuery> QueryOf(const PlanQuestion& question) const;
  absl::Status CheckLength(absl::string_view field, std::uint64_t length) const;
  absl::Status Learn(const Observation& observation);
  absl::Status Adopt(std::uint64_t family, std::uint64_t entry, std::uint64_t length,
                     std::uint32_t weight);
  bool IsThinned(std::uint64_t family);
  void TouchAsked();
  absl::StatusOr<placement::EntryTree::Entry> Arrive(std::uint64_t family,
                                                     placement::ExpertPanel::Arrival arrival);
  void MakeRoom(std::size_t entries);
  std::uint32_t BlocksOf(std::uint64_t tokens) const;     // full ones
  std::uint32_t PositionsOf(std::uint64_t tokens) const;  // a last one that is not full included
  // The positions of a plan that the entry can take, of too many the deepest.
  static std::vector<std::uint32_t> Taken(const placement::PlanQuery& query,
                                          std::vector<std::uint32_t> plan);
  double Recompute(const placement::PlanQuery& query, const std::vector<std::uint32_t>& plan) const;
  std::vector<std::uint64_t> TokensOf(const std::vector<std::uint32_t>& positions) const;
  StrategyReport StrategyOf(std::string name, const placement::PlanQuery& query,
                            std::vector<std::uint32_t> plan) const;
  std::string ReasonFor(std::uint64_t family, const placement::PlanQuery& query,
                        std::size_t planned) const;
  FamilyReport ReportOf(std::uint64_t id, const FamilyBook::Family& family) const;

  using EntryKey = std::pair<std::uint64_t, std::uint64_t>;  // family, id
  Options options_;
  std::unique_ptr<placement::ExpertPanel> panel_;
  FamilyBook families_;
  using Entries = absl::flat_hash_map<EntryKey, placement::EntryTree::Entry>;
  Entries entries_;
  struct Forgotten {
    Entries entries;
    placement::ExpertPanel::Forgotten panel;
  };
  Forgotten forgotten_;
  std::vector<std::uint64_t> asked_;  // families that Plan was asked for, not touched yet
  PlannerStats stats_;
};

}  // namespace cairn::planner
#endif  // CAIRN_LIBS_PLANNER_PLANNER_H_
