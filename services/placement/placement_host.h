#ifndef CAIRN_SERVICES_PLACEMENT_PLACEMENT_HOST_H_
#define CAIRN_SERVICES_PLACEMENT_PLACEMENT_HOST_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "libs/base/mutex.h"
#include "libs/planner/planner.h"
#include "libs/planner/snapshot_log.h"
#include "libs/ports/generation_store.h"

namespace cairn {

// PlacementHost lets gRPC's threads take turns at one planner, and keeps its snapshots.
//
// A turn is a plan, or one batch's item: microseconds. Encoding a snapshot is a turn as well, some
// milliseconds a thousand families; writing it is none.
// Threads: any.
class PlacementHost {
 public:
  // Starts from the newest whole snapshot in the store, or empty. Errors are the options' and the
  // store's.
  static absl::StatusOr<std::unique_ptr<PlacementHost>> Create(
      const planner::Planner::Options& options, std::unique_ptr<GenerationStore> store);

  absl::Status Observe(const planner::Observation& observation);
  absl::Status Expose(const planner::Exposure& exposure);
  absl::StatusOr<planner::PlanAnswer> Plan(const planner::PlanQuestion& question);
  absl::StatusOr<planner::Explanation> Explain(const planner::PlanQuestion& question);
  std::vector<planner::FamilyReport> Families(std::size_t limit);

  struct Written {
    std::uint64_t generation = 0;
    std::uint64_t bytes = 0;
  };
  absl::StatusOr<Written> Snapshot();
  // The same if anything was learnt since the last one; else generation 0.
  absl::StatusOr<Written> SnapshotIfChanged();

  struct Report {
    planner::PlannerStats planner;
    std::uint64_t snapshots = 0;
    std::uint64_t snapshots_failed = 0;
    std::uint64_t generation = 0;
    std::uint64_t restored_generation = 0;
    std::string damage;
  };
  Report Status();

 private:
  PlacementHost(std::unique_ptr<planner::Planner> planner, std::unique_ptr<GenerationStore> store);
  absl::Status Restore();

  Mutex writing_;  // taken first
  Mutex mutex_;
  const std::unique_ptr<GenerationStore> store_;
  planner::SnapshotLog log_ CAIRN_GUARDED_BY(writing_);
  const std::unique_ptr<planner::Planner> planner_ CAIRN_GUARDED_BY(mutex_);
  std::uint64_t learnt_ CAIRN_GUARDED_BY(mutex_) = 0;  // calls that changed the planner
  std::uint64_t saved_ CAIRN_GUARDED_BY(mutex_) = 0;   // learnt_ of the last snapshot
  Report report_ CAIRN_GUARDED_BY(mutex_);
};

}  // namespace cairn
#endif  // CAIRN_SERVICES_PLACEMENT_PLACEMENT_HOST_H_
