#include "services/placement/placement_host.h"

#include <chrono>
#include <utility>

#include "libs/base/log.h"
#include "libs/base/status_macros.h"

namespace cairn {
namespace {

// Lessons between two looks at what waits; a plan gets in between any two of them.
constexpr std::size_t kSlice = 64;

Instant Now() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return Instant::FromNanos(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

}  // namespace

PlacementHost::PlacementHost(std::unique_ptr<planner::Planner> planner,
                             std::unique_ptr<GenerationStore> store)
    : store_(std::move(store)), log_(*store_), planner_(std::move(planner)) {}

PlacementHost::~PlacementHost() {
  lessons_.Close();
  if (learner_.joinable()) learner_.join();
}

absl::StatusOr<std::unique_ptr<PlacementHost>> PlacementHost::Create(
    const planner::Planner::Options& options, std::unique_ptr<GenerationStore> store) {
  CAIRN_ASSIGN_OR_RETURN(std::unique_ptr<planner::Planner> planner,
                         planner::Planner::Create(options));
  std::unique_ptr<PlacementHost> host(  // tidy: allow(new) the constructor is private
      new PlacementHost(std::move(planner), std::move(store)));
  CAIRN_RETURN_IF_ERROR(host->Restore());
  host->learner_ = std::thread([host = host.get()] { host->Learn(); });
  return host;
}

// Before there are threads.
absl::Status PlacementHost::Restore() {
  MutexLock writing(writing_);
  CAIRN_ASSIGN_OR_RETURN(
      const planner::SnapshotLog::Opened opened,
      log_.Open([this](absl::string_view snapshot) { return planner_->Load(snapshot); }));
  const LogLevel level = opened.skipped.empty() ? LogLevel::kInfo : LogLevel::kWarning;
  LogEvent(level, "snapshot_restored")
      .With("generation", opened.generation)
      .With("from", opened.generation == 0 ? "empty" : "whole")
      .With("damage", opened.skipped)
      .With("families", planner_->Stats().families);
  MutexLock lock(report_mutex_);
  report_.generation = opened.generation;
  report_.restored_generation = opened.generation;
  report_.damage = opened.skipped;
  return absl::OkStatus();
}

template <class Thing>
PlacementHost::Told PlacementHost::Tell(absl::Span<const Thing> things,
                                        std::atomic<std::uint64_t>& refused) {
  Told told;
  std::vector<Lesson> lessons;
  lessons.reserve(things.size());
  for (const Thing& thing : things) {
    const absl::Status status = planner_->Check(thing);
    if (status.ok()) {
      lessons.emplace_back(thing);
      continue;
    }
    if (told.refused++ == 0) told.first_refusal = std::string(status.message());
  }
  refused.fetch_add(told.refused, std::memory_order_relaxed);
  told.taken = lessons_.Add(std::move(lessons));
  return told;
}

PlacementHost::Told PlacementHost::Observe(absl::Span<const planner::Observation> observations) {
  return Tell(observations, observations_refused_);
}

PlacementHost::Told PlacementHost::Expose(absl::Span<const planner::Exposure> exposures) {
  return Tell(exposures, exposures_refused_);
}

void PlacementHost::Learn() {
  ThinningRule rule;
  std::vector<Lesson> slice;
  for (;;) {
    const std::size_t waiting = lessons_.Take(kSlice, slice);
    if (slice.empty()) return;
    const std::uint32_t strength = rule.Strength(waiting, Now());
    FairLock learning(learning_);
    std::uint64_t learnt = 0;
    planning_.Lock();
    planner_->SetThinning(strength);
    for (const Lesson& lesson : slice) {
      if (planning_.IsWanted()) {
        planning_.Unlock();
        planning_.Lock();
      }
      const auto* const observation = std::get_if<planner::Observation>(&lesson);
      const absl::Status status = observation != nullptr
                                      ? planner_->Observe(*observation)
                                      : planner_->Expose(std::get<planner::Exposure>(lesson));
      learnt += status.ok() ? 1 : 0;
    }
    planning_.Unlock();
    planner_->FreeForgotten();
    learnt_.fetch_add(learnt);
  }
}

absl::StatusOr<planner::PlanAnswer> PlacementHost::Plan(const planner::PlanQuestion& question) {
  FairLock planning(planning_);
  return planner_->Plan(question);
}

absl::StatusOr<planner::Explanation> PlacementHost::Explain(const planner::PlanQuestion& question) {
  FairLock learning(learning_);
  return planner_->Explain(question);
}

std::vector<planner::FamilyReport> PlacementHost::Families(std::size_t limit) {
  FairLock learning(learning_);
  return planner_->Families(limit);
}

absl::StatusOr<PlacementHost::Written> PlacementHost::Snapshot() {
  MutexLock writing(writing_);
  std::string snapshot;
  std::uint64_t learnt = 0;
  {
    FairLock learning(learning_);
    snapshot = planner_->Snapshot();
    learnt = learnt_.load();
  }
  const absl::StatusOr<std::uint64_t> generation = log_.Write(snapshot);
  MutexLock lock(report_mutex_);
  ++(generation.ok() ? report_.snapshots : report_.snapshots_failed);
  if (!generation.ok()) return generation.status();
  report_.generation = *generation;
  saved_ = learnt;
  return Written{.generation = *generation, .bytes = snapshot.size()};
}

absl::StatusOr<PlacementHost::Written> PlacementHost::SnapshotIfChanged() {
  {
    MutexLock writing(writing_);
    if (learnt_.load() == saved_) return Written{};
  }
  return Snapshot();
}

PlacementHost::Report PlacementHost::Status() {
  planner::PlannerStats stats;
  {
    FairLock planning(planning_);
    stats = planner_->Stats();
  }
  stats.observations_refused += observations_refused_.load(std::memory_order_relaxed);
  stats.exposures_refused += exposures_refused_.load(std::memory_order_relaxed);
  MutexLock lock(report_mutex_);
  Report report = report_;
  report.planner = stats;
  report.lessons_dropped = lessons_.dropped();
  return report;
}

}  // namespace cairn
