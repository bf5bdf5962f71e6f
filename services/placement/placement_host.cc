#include "services/placement/placement_host.h"

#include <utility>

#include "libs/base/log.h"
#include "libs/base/status_macros.h"

namespace cairn {

PlacementHost::PlacementHost(std::unique_ptr<planner::Planner> planner,
                             std::unique_ptr<GenerationStore> store)
    : store_(std::move(store)), log_(*store_), planner_(std::move(planner)) {}

absl::StatusOr<std::unique_ptr<PlacementHost>> PlacementHost::Create(
    const planner::Planner::Options& options, std::unique_ptr<GenerationStore> store) {
  CAIRN_ASSIGN_OR_RETURN(std::unique_ptr<planner::Planner> planner,
                         planner::Planner::Create(options));
  std::unique_ptr<PlacementHost> host(  // tidy: allow(new) the constructor is private
      new PlacementHost(std::move(planner), std::move(store)));
  CAIRN_RETURN_IF_ERROR(host->Restore());
  return host;
}

absl::Status PlacementHost::Restore() {
  MutexLock writing(writing_);
  MutexLock lock(mutex_);
  CAIRN_ASSIGN_OR_RETURN(const planner::SnapshotLog::Opened opened,
                         log_.Open([this](absl::string_view snapshot) CAIRN_NO_THREAD_SAFETY {
                           return planner_->Load(snapshot);
                         }));
  report_.generation = opened.generation;
  report_.restored_generation = opened.generation;
  report_.damage = opened.skipped;
  const LogLevel level = report_.damage.empty() ? LogLevel::kInfo : LogLevel::kWarning;
  LogEvent(level, "snapshot_restored")
      .With("generation", opened.generation)
      .With("from", opened.generation == 0 ? "empty" : "whole")
      .With("damage", report_.damage)
      .With("families", planner_->Stats().families);
  return absl::OkStatus();
}

absl::Status PlacementHost::Observe(const planner::Observation& observation) {
  MutexLock lock(mutex_);
  const absl::Status status = planner_->Observe(observation);
  if (status.ok()) ++learnt_;
  return status;
}

absl::Status PlacementHost::Expose(const planner::Exposure& exposure) {
  MutexLock lock(mutex_);
  const absl::Status status = planner_->Expose(exposure);
  if (status.ok()) ++learnt_;
  return status;
}

absl::StatusOr<planner::PlanAnswer> PlacementHost::Plan(const planner::PlanQuestion& question) {
  MutexLock lock(mutex_);
  return planner_->Plan(question);
}

absl::StatusOr<planner::Explanation> PlacementHost::Explain(const planner::PlanQuestion& question) {
  MutexLock lock(mutex_);
  return planner_->Explain(question);
}

std::vector<planner::FamilyReport> PlacementHost::Families(std::size_t limit) {
  MutexLock lock(mutex_);
  return planner_->Families(limit);
}

absl::StatusOr<PlacementHost::Written> PlacementHost::Snapshot() {
  MutexLock writing(writing_);
  std::string snapshot;
  std::uint64_t learnt = 0;
  {
    MutexLock lock(mutex_);
    snapshot = planner_->Snapshot();
    learnt = learnt_;
  }
  const absl::StatusOr<std::uint64_t> generation = log_.Write(snapshot);
  MutexLock lock(mutex_);
  ++(generation.ok() ? report_.snapshots : report_.snapshots_failed);
  if (!generation.ok()) return generation.status();
  report_.generation = *generation;
  saved_ = learnt;
  return Written{.generation = *generation, .bytes = snapshot.size()};
}

absl::StatusOr<PlacementHost::Written> PlacementHost::SnapshotIfChanged() {
  {
    MutexLock lock(mutex_);
    if (learnt_ == saved_) return Written{};
  }
  return Snapshot();
}

PlacementHost::Report PlacementHost::Status() {
  MutexLock lock(mutex_);
  report_.planner = planner_->Stats();
  return report_;
}

}  // namespace cairn
