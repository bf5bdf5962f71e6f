#ifndef CAIRN_SERVICES_PLACEMENT_PLACEMENT_HOST_H_
#define CAIRN_SERVICES_PLACEMENT_PLACEMENT_HOST_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "libs/base/mutex.h"
#include "libs/planner/planner.h"
#include "libs/planner/snapshot_log.h"
#include "libs/ports/generation_store.h"
#include "services/placement/fair_mutex.h"
#include "services/placement/lesson_queue.h"

namespace cairn {

// PlacementHost shares one planner among gRPC's threads so that a plan hardly ever waits, and keeps
// its snapshots.
//
//   Observe, Expose ──► LessonQueue ──► one thread that learns        Plan
//                                        │ learning_ and planning_     │ planning_
//                                     planner ◄────────────────────────┘
//                                        │ learning_
//   Snapshot, Explain, Families ◄────────┘
//
// Who learns holds both locks, who plans the one, who only reads the other: so laws stand still
// while they are encoded or explained, however long that takes, and plans go on meanwhile. Between
// two observations the learning thread lets a plan in that waits: it waits for one observation.
//
// Observations are lossy-safe: when many wait they are thinned (ThinningRule), and beyond
// kLessonsMax dropped. Threads: any.
class PlacementHost {
 public:
  static constexpr std::size_t kLessonsMax = 16 * ThinningRule::kThinFrom;

  // Starts from the newest whole snapshot in the store, or empty. Errors are the options' and the
  // store's.
  static absl::StatusOr<std::unique_ptr<PlacementHost>> Create(
      const planner::Planner::Options& options, std::unique_ptr<GenerationStore> store);
  ~PlacementHost();  // learns what it was told first

  // What became of a batch. What contradicts only what was learnt (an entry's length) is found, and
  // counted, later.
  struct Told {
    std::uint64_t taken = 0;  // dropped ones are neither taken nor refused
    std::uint64_t refused = 0;
    std::string first_refusal;
  };
  // They return at once; Settle waits until what was told before is learnt.
  Told Observe(absl::Span<const planner::Observation> observations);
  Told Expose(absl::Span<const planner::Exposure> exposures);
  void Settle() { lessons_.Settle(); }

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
    std::uint64_t lessons_dropped = 0;
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
  void Learn();  // the learning thread
  template <class Thing>
  Told Tell(absl::Span<const Thing> things, std::atomic<std::uint64_t>& refused);

  Mutex writing_;  // taken first
  FairMutex learning_;
  FairMutex planning_;
  Mutex report_mutex_;  // taken last
  const std::unique_ptr<GenerationStore> store_;
  planner::SnapshotLog log_ CAIRN_GUARDED_BY(writing_);
  const std::unique_ptr<planner::Planner> planner_;  // by the locks as said above
  std::atomic<std::uint64_t> learnt_{0};             // lessons that changed the planner
  std::atomic<std::uint64_t> observations_refused_{0};
  std::atomic<std::uint64_t> exposures_refused_{0};
  std::uint64_t saved_ CAIRN_GUARDED_BY(writing_) = 0;  // learnt_ of the last snapshot
  Report report_ CAIRN_GUARDED_BY(report_mutex_);
  LessonQueue lessons_{kLessonsMax};
  std::thread learner_;  // last: it uses all of the above
};

}  // namespace cairn
#endif  // CAIRN_SERVICES_PLACEMENT_PLACEMENT_HOST_H_
