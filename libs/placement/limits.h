#ifndef CAIRN_LIBS_PLACEMENT_LIMITS_H_
#define CAIRN_LIBS_PLACEMENT_LIMITS_H_

#include <cstddef>
#include <cstdint>

// Bounds of everything that placement takes from outside. Beyond one of them a call answers
// INVALID_ARGUMENT (nothing is clipped in silence), and memory is bounded by them.
namespace cairn::placement::limits {

// ---- the line (line_problem.h) ----
inline constexpr std::size_t kAtomsMax = std::size_t{1} << 24;
inline constexpr std::size_t kHeldMax = std::size_t{1} << 24;
inline constexpr std::int64_t kCostMax = std::int64_t{1} << 40;  // g(depth)
inline constexpr std::int64_t kTotalCostMax = std::int64_t{1}
                                              << 61;                // sum of weight x g, of weights
inline constexpr std::size_t kPlanCellsMax = std::size_t{1} << 26;  // K x M of a table: 256 MiB

// Products up to this need 64 bits only; beyond it the solver counts in 128, as exactly.
inline constexpr std::int64_t kNarrowMax = std::int64_t{1} << 60;

// ---- laws (overlap_histogram.h, claim_law.h) ----
inline constexpr double kWeightUnit = 1 << 20;  // a count of 1 as an integer weight
inline constexpr std::uint32_t kBinsMax = 1 << 18;
inline constexpr double kObservationWeightMax = 1 << 20;

// ---- entries and experts (entry_tree.h, law_expert.h, expert_panel.h) ----
inline constexpr std::uint32_t kEntryPositionsMax = 1
                                                    << 15;  // blocks: 2^24 tokens in blocks of 512
inline constexpr std::uint32_t kEntryStatesMax = 1024;      // new states of one plan
inline constexpr std::uint32_t kArrivalWeightMax = 16;
inline constexpr double kRateMax = 1024;                  // claims expected at one position
inline constexpr std::size_t kExpertsMax = 7;             // and the real world: 8 bits a state
inline constexpr std::size_t kFamilyTablesMax = 1 << 16;  // of one law, as bytes
inline constexpr std::size_t kExpertNameBytesMax = 64;
inline constexpr std::size_t kExpertBytesMax = 1 << 27;  // of one expert, as bytes

// ---- tries and budgets (trie_problem.h, byte_budget.h) ----
inline constexpr std::size_t kTrieNodesMax = 1 << 20;
inline constexpr std::size_t kTrieCellsMax = 1 << 20;  // (node, node above, states): 8 MiB
inline constexpr std::size_t kBudgetItemsMax = 1 << 20;
inline constexpr std::int64_t kBudgetBytesMax = std::int64_t{1} << 60;

static_assert(kRateMax * kWeightUnit * kEntryPositionsMax * kEntryPositionsMax <=
                  static_cast<double>(kTotalCostMax),
              "every entry's line is legal");
static_assert(std::size_t{kEntryPositionsMax} * kEntryStatesMax <= kPlanCellsMax,
              "every entry's line fits a table");
static_assert(kNarrowMax <= kTotalCostMax, "a narrow total is a legal one");

}  // namespace cairn::placement::limits
#endif  // CAIRN_LIBS_PLACEMENT_LIMITS_H_
