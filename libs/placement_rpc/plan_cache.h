#ifndef CAIRN_LIBS_PLACEMENT_RPC_PLAN_CACHE_H_
#define CAIRN_LIBS_PLACEMENT_RPC_PLAN_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "libs/ports/plan_source.h"

namespace cairn {

// PlanCache keeps what the placement service last planned for prompts of a kind: a family, about so
// long, begun or not, parting from another or not. A plan is kept as distances from the prompt's
// end, which is how claims are spread (libs/placement), so that it fits prompts of other lengths;
// a state where two prompts parted stays at that point.
// Bounded: the least recently used goes. Threads: one at a time. Pure.
class PlanCache {
 public:
  explicit PlanCache(std::size_t plans_max) : plans_max_(plans_max) {}

  // `positions` are multiples of `grid`, as an answer to `question` has them.
  void Remember(const CheckpointQuestion& question, std::uint64_t grid,
                const std::vector<std::uint64_t>& positions);
  // Positions for `question`: ascending multiples of `grid` in (resume_depth, length]. None if no
  // such prompt has been planned.
  std::optional<std::vector<std::uint64_t>> Recall(const CheckpointQuestion& question,
                                                   std::uint64_t grid);
  std::size_t size() const { return plans_.size(); }

 private:
  // Family; length class (a power of two); is there something to resume from; did it part.
  using Kind = std::tuple<std::uint64_t, int, bool, bool>;
  struct Plan {
    Kind kind;
    std::vector<std::uint64_t> from_end;  // in grid steps
    bool is_at_branch = false;            // and one where the prompt parts
  };
  static Kind KindOf(const CheckpointQuestion& question);

  const std::size_t plans_max_;
  std::list<Plan> uses_;  // least recent first
  absl::flat_hash_map<Kind, std::list<Plan>::iterator> plans_;
};

// Evenly spaced: what is best when nothing is known. `states` at most, as Recall has them.
std::vector<std::uint64_t> BalancedPositions(const CheckpointQuestion& question, std::uint64_t grid,
                                             std::uint32_t states);

}  // namespace cairn
#endif  // CAIRN_LIBS_PLACEMENT_RPC_PLAN_CACHE_H_
