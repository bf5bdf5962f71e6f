#ifndef CAIRN_TESTS_UNIT_PLANNER_FEEDER_H_
#define CAIRN_TESTS_UNIT_PLANNER_FEEDER_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "libs/planner/planner.h"

// Planners that are told of requests of 40 positions of 64 tokens.
namespace cairn::planner {

inline std::unique_ptr<Planner> Make(Planner::Options options = {}) {
  return Planner::Create(options).value();
}

class Feeder {
 public:
  explicit Feeder(Planner& planner, double weight = 1) : planner_(planner), weight_(weight) {}

  // They agree with their family's first entry down to `depth` positions.
  absl::Status Send(std::uint64_t family, std::uint64_t depth, int requests) {
    if (!planner_.Expose({.family = family, .entry = 1, .length = 40 * 64}).ok()) return Refused();
    for (int i = 0; i < requests; ++i) {
      const absl::Status status = planner_.Observe(Request(family, 1, depth));
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }
  // Each agrees down to `depth` with the one before.
  absl::Status SendChain(std::uint64_t family, std::uint64_t depth, int requests) {
    for (int i = 0; i < requests; ++i) {
      const absl::Status status = planner_.Observe(Request(family, next_, depth));
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

 private:
  static absl::Status Refused() { return absl::InternalError("exposure refused"); }
  Observation Request(std::uint64_t family, std::uint64_t entry, std::uint64_t depth) {
    return {.family = family,
            .entry = entry,
            .entry_length = 40 * 64,
            .overlap_depth = depth * 64,
            .request_length = 40 * 64,
            .request_entry = ++next_,
            .weight = weight_};
  }
  Planner& planner_;
  double weight_;
  std::uint64_t next_ = 1;
};

inline PlanQuestion QuestionOf(std::uint64_t family, std::uint64_t budget) {
  return {.family = family, .length = 40 * 64, .budget = budget};
}

// Requests that part at a new point each time: a law of distance, and no branch points.
inline absl::Status SendPairs(Planner& planner, std::uint64_t family, std::uint64_t depth,
                              int pairs, std::uint64_t& id) {
  for (int i = 0; i < pairs; ++i) {
    const std::uint64_t entry = ++id;
    absl::Status status = planner.Expose({.family = family, .entry = entry, .length = 40 * 64});
    if (!status.ok()) return status;
    status = planner.Observe({.family = family,
                              .entry = entry,
                              .entry_length = 40 * 64,
                              .overlap_depth = depth * 64,
                              .request_length = 40 * 64,
                              .request_entry = ++id});
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace cairn::planner
#endif  // CAIRN_TESTS_UNIT_PLANNER_FEEDER_H_
