#include "services/placement/placement_host.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <utility>

#include "libs/base/rng.h"
#include "libs/planner/limits.h"
#include "libs/store_memory/memory_store.h"
#include "services/placement/placement_convert.h"

namespace cairn {
namespace {

using planner::Observation;

std::vector<Observation> Requests(std::uint64_t family, std::uint64_t first, std::size_t count) {
  std::vector<Observation> requests;
  for (std::uint64_t i = 0; i < count; ++i) {
    requests.push_back({.family = family,
                        .entry = first + i,
                        .entry_length = 6400,
                        .overlap_depth = 3200,
                        .request_length = 6400,
                        .request_entry = first + i + 1});
  }
  return requests;
}

planner::PlanQuestion QuestionOf(std::uint64_t family) {
  return {.family = family, .length = 6400, .budget = 2};
}

std::unique_ptr<PlacementHost> Make(const planner::Planner::Options& options = {}) {
  return PlacementHost::Create(options, std::make_unique<MemoryStore>()).value();
}

TEST(PlacementHostTest, WhatWasToldIsLearntOnceSettledAsByThePlannerItself) {
  const auto host = Make();
  const auto planner = planner::Planner::Create({}).value();
  for (std::uint64_t family = 1; family < 6; ++family) {
    const std::vector<Observation> batch = Requests(family, 1, 100 * family);
    const PlacementHost::Told told = host->Observe(batch);
    EXPECT_EQ(told.taken, batch.size());
    for (const Observation& one : batch) ASSERT_TRUE(planner->Observe(one).ok());
  }
  host->Settle();
  const PlacementHost::Report report = host->Status();
  EXPECT_EQ(report.planner.observations, 1500u);
  EXPECT_EQ(report.planner.observations_thinned, 0u);
  EXPECT_EQ(report.lessons_dropped, 0u);
  for (std::uint64_t family = 0; family < 7; ++family) {
    EXPECT_EQ(host->Plan(QuestionOf(family))->positions,
              planner->Plan(QuestionOf(family))->positions);
  }
  EXPECT_EQ(host->Families(10).size(), 5u);
}

TEST(PlacementHostTest, GarbageIsRefusedAtOnceAndCountedWithWhatIsRefusedLater) {
  const auto host = Make();
  std::vector<Observation> batch = Requests(7, 1, 4);
  batch[1].overlap_depth = 6401;
  batch[2].weight = -1;
  batch[3].entry = 1;
  batch[3].entry_length = 64 * 99;  // entry 1 came with another length
  const PlacementHost::Told told = host->Observe(batch);
  EXPECT_EQ(told.taken, 2u);
  EXPECT_EQ(told.refused, 2u);
  EXPECT_EQ(told.first_refusal.find("overlap_depth:"), 0u) << told.first_refusal;
  EXPECT_EQ(host->Expose(std::vector<planner::Exposure>{{.family = 7}}).refused, 1u);
  host->Settle();
  const PlacementHost::Report report = host->Status();
  EXPECT_EQ(report.planner.observations, 1u);
  EXPECT_EQ(report.planner.observations_refused, 3u);
  EXPECT_EQ(report.planner.exposures_refused, 1u);
}

TEST(PlacementHostTest, MoreThanItCanKeepIsDroppedThinnedAndAllOfItCounted) {
  const auto host = Make();
  const std::size_t count = 3 * PlacementHost::kLessonsMax;
  const PlacementHost::Told told = host->Observe(Requests(7, 1, count));
  EXPECT_EQ(told.refused, 0u);
  EXPECT_LE(told.taken, PlacementHost::kLessonsMax);
  // From the first slice on, until ten calm seconds have passed: looked at before it is all learnt.
  while (host->Status().planner.thinning < planner::limits::kThinningMax) {
    std::this_thread::yield();
  }
  host->Settle();
  const PlacementHost::Report report = host->Status();
  EXPECT_EQ(report.lessons_dropped, count - told.taken);
  EXPECT_EQ(report.planner.observations + report.planner.observations_thinned, told.taken);
  EXPECT_GE(report.planner.observations_thinned, told.taken / 4 * 3);
  EXPECT_EQ(CountersOf(report).at("observations_thinned"), report.planner.observations_thinned);
  EXPECT_EQ(CountersOf(report).at("lessons_dropped"), report.lessons_dropped);
}

TEST(PlacementHostTest, OptionsThatAreWrongAreNamed) {
  EXPECT_FALSE(PlacementHost::Create({.families_max = 0}, std::make_unique<MemoryStore>()).ok());
}

// A store that shows what it was given.
class OpenStore : public GenerationStore {
 public:
  explicit OpenStore(std::vector<std::string>& values) : values_(values) {}
  absl::StatusOr<std::vector<std::uint64_t>> List() const override { return inner_.List(); }
  absl::StatusOr<std::string> Get(std::uint64_t generation) const override {
    return inner_.Get(generation);
  }
  absl::Status Put(std::uint64_t generation, absl::string_view value) override {
    values_.emplace_back(value);
    return inner_.Put(generation, value);
  }
  absl::Status Remove(std::uint64_t generation) override { return inner_.Remove(generation); }

 private:
  MemoryStore inner_;
  std::vector<std::string>& values_;
};

TEST(PlacementHostTest, SnapshotsTakenWhileItLearnsAndPlansAreWholeAndNeverAMixture) {
  std::vector<std::string> values;
  const auto host = PlacementHost::Create({}, std::make_unique<OpenStore>(values)).value();
  std::atomic<bool> is_over{false};
  std::thread planning([&] {
    Rng rng(1);
    while (!is_over.load()) ASSERT_TRUE(host->Plan(QuestionOf(rng.Below(40))).ok());
  });
  std::thread asking([&] {
    while (!is_over.load()) {
      ASSERT_TRUE(host->Explain(QuestionOf(3)).ok());
      host->Families(5);
      host->Status();
    }
  });
  for (std::uint64_t i = 0; i < 20; ++i) {
    for (std::uint64_t family = 1; family <= 200; ++family) {
      host->Observe(Requests(family, 1 + 3 * i, 3));
    }
    ASSERT_TRUE(host->Snapshot().ok());
  }
  host->Settle();
  ASSERT_TRUE(host->Snapshot().ok());
  is_over.store(true);
  planning.join();
  asking.join();
  ASSERT_EQ(values.size(), 21u);
  // Each family's requests are one panel's requests: the two were saved at the same moment.
  const auto planner = planner::Planner::Create({}).value();
  for (const std::string& value : values) {
    const absl::string_view snapshot = absl::string_view(value).substr(
        20, value.size() - 28);  // the log's own header and checksum
    ASSERT_TRUE(planner->Load(snapshot).ok());
    std::uint64_t requests = 0;
    for (const planner::FamilyReport& family : planner->Families(1000)) requests += family.requests;
    EXPECT_EQ(requests, planner->Stats().requests);
  }
  EXPECT_EQ(planner->Stats().requests, 200u * 61);  // each family's first entry is adopted
  EXPECT_EQ(host->SnapshotIfChanged()->generation, 0u);
}

}  // namespace
}  // namespace cairn
