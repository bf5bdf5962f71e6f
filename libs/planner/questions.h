#ifndef CAIRN_LIBS_PLANNER_QUESTIONS_H_
#define CAIRN_LIBS_PLANNER_QUESTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// What a planner is told, asked and answers. Lengths and depths are tokens from the start of the
// prompt; as they come from outside they are wide, and the planner checks them.
namespace cairn::planner {

// A request that came: how far its tokens agree with the entry (a stored prefix, or what is
// remembered of one that was evicted) that it has most in common with.
struct Observation {
  std::uint64_t family = 0;  // prompts that share a beginning; 0: none known
  std::uint64_t entry = 0;   // ids are the caller's, one space a family
  std::uint64_t entry_length = 0;
  std::uint64_t overlap_depth = 0;  // where the token streams really part, in full blocks
  std::uint64_t request_length = 0;
  std::uint64_t request_entry = 0;  // the entry that the request became: an id of its own, not 0
  bool was_served = false;          // some state older than the entry served it
  bool is_censored = false;         // the depth is a lower bound only: teaches nothing
  double weight = 1;                // it stands for so many requests; (0, limits::kWeightMax]
};

// An entry that came and agreed with nothing.
struct Exposure {
  std::uint64_t family = 0;
  std::uint64_t entry = 0;
  std::uint64_t length = 0;
};

struct BranchAsked {
  std::uint64_t depth = 0;
  std::uint64_t claims = 0;  // requests that parted here so far, at least 1
};

// Where shall the states of an entry stand that is being prefilled now?
struct PlanQuestion {
  std::uint64_t family = 0;
  std::uint64_t length = 0;
  std::uint64_t resume_depth = 0;       // of the deepest state on its path; 0: none
  std::uint64_t shared_depth = 0;       // how deep it agrees with an earlier entry
  std::vector<std::uint64_t> existing;  // states that it has
  std::vector<BranchAsked> branches;    // without a state
  std::uint64_t budget = 0;             // new states at most
  std::uint64_t grid = 0;               // where states can stand; 0: whatever the planner's is
};

struct PlanAnswer {
  std::vector<std::uint64_t> positions;  // ascending
  double expected_recompute = 0;         // tokens over the entry's life, by the law
  std::string expert;
  std::string reason;  // one line, for people
};

struct ExpertReport {
  std::string name;
  std::uint64_t saved_tokens = 0;  // for this family, in the expert's own world
  std::uint64_t states = 0;
  double pooled_share = 0;  // of the ceiling, over all families, each heard for a while only
  bool is_leader = false;
};
struct DistanceCount {
  std::uint64_t first = 0;  // tokens before an entry's end: [first, end)
  std::uint64_t end = 0;
  double claims = 0;
  double positions = 0;  // exposed
};
struct FamilyReport {
  std::uint64_t family = 0;
  std::uint64_t requests = 0;
  std::uint64_t claims = 0;
  std::uint64_t served = 0;
  std::uint64_t censored = 0;
  std::uint64_t ceiling_tokens = 0;  // what dense states would have saved
  std::uint64_t thinned = 0;         // observations and exposures that were only counted
};
struct StrategyReport {
  std::string name;
  std::vector<std::uint64_t> positions;
  double expected_recompute = 0;
};
struct Explanation {
  FamilyReport family;
  std::vector<ExpertReport> experts;
  std::vector<DistanceCount> distances;    // the family's own
  std::vector<StrategyReport> strategies;  // the plan, each expert's, balanced, dense
  // Tokens by which the plan may be worse per claim than one for the true law, with 95 %; none
  // while there are too few claims to say anything.
  std::optional<double> radius_tokens;
};

}  // namespace cairn::planner
#endif  // CAIRN_LIBS_PLANNER_QUESTIONS_H_
