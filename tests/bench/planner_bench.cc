// Speed of libs/planner at the size it is meant for: 10,000 families that all have requests,
// entries of 2,048 to 65,536 tokens. Observing is one call a request; of plans p50 and p99 are
// printed, asked between batches of observations, as the service has it. Numbers and what they
// mean: libs/planner/README.md.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "libs/base/check.h"
#include "libs/base/rng.h"
#include "libs/planner/planner.h"

namespace cairn::planner {
namespace {

constexpr std::uint64_t kFamilies = 10'000;
constexpr std::uint64_t kGrid = 64;

// Requests as they come: most families are small, a few are large; a request goes on from the last
// one of its family, or parts from it somewhere.
class Traffic {
 public:
  Observation Next() {
    const std::uint64_t family = 1 + std::min(rng_.Below(kFamilies), rng_.Below(kFamilies));
    Last& last = last_[family];
    Observation next{.family = family,
                     .entry = last.entry,
                     .entry_length = std::max<std::uint64_t>(last.length, 1),
                     .request_length = kGrid * (32 + rng_.Below(992)),
                     .request_entry = ++entries_};
    const std::uint64_t most = std::min(last.length, next.request_length);
    next.overlap_depth = rng_.Chance(2, 3) ? most : rng_.Below(most + 1);
    if (last.entry == 0) next.overlap_depth = 0;
    last = {.entry = next.request_entry, .length = next.request_length};
    return next;
  }
  PlanQuestion Question() {
    PlanQuestion question{
        .family = 1 + rng_.Below(kFamilies), .length = kGrid * (32 + rng_.Below(992)), .budget = 2};
    question.branches.push_back({.depth = kGrid * (1 + rng_.Below(30)), .claims = 3});
    return question;
  }

 private:
  struct Last {
    std::uint64_t entry = 0;
    std::uint64_t length = 0;
  };
  Rng rng_{7};
  std::vector<Last> last_ = std::vector<Last>(kFamilies + 1);
  std::uint64_t entries_ = 0;
};

std::unique_ptr<Planner> TaughtPlanner(Traffic& traffic) {
  auto planner = Planner::Create({});
  CAIRN_CHECK(planner.ok());
  for (int i = 0; i < 60'000; ++i) CAIRN_CHECK((*planner)->Observe(traffic.Next()).ok());
  return *std::move(planner);
}

void BM_Observe(benchmark::State& state) {
  Traffic traffic;
  const std::unique_ptr<Planner> planner = TaughtPlanner(traffic);
  for (auto _ : state) {
    state.PauseTiming();
    std::vector<Observation> batch;
    for (int i = 0; i < 1000; ++i) batch.push_back(traffic.Next());
    state.ResumeTiming();
    for (const Observation& observation : batch) CAIRN_CHECK(planner->Observe(observation).ok());
  }
  state.SetItemsProcessed(state.iterations() * 1000);
}
BENCHMARK(BM_Observe)->Unit(benchmark::kMillisecond);

void BM_PlanBetweenBatches(benchmark::State& state) {
  Traffic traffic;
  const std::unique_ptr<Planner> planner = TaughtPlanner(traffic);
  std::vector<double> took_us;
  for (auto _ : state) {
    state.PauseTiming();
    for (int i = 0; i < 100; ++i) CAIRN_CHECK(planner->Observe(traffic.Next()).ok());
    state.ResumeTiming();
    for (int i = 0; i < 10; ++i) {
      const PlanQuestion question = traffic.Question();
      const auto start = std::chrono::steady_clock::now();
      benchmark::DoNotOptimize(planner->Plan(question));
      const std::chrono::duration<double, std::micro> took =
          std::chrono::steady_clock::now() - start;
      took_us.push_back(took.count());
    }
  }
  std::sort(took_us.begin(), took_us.end());
  state.counters["p50_us"] = took_us[took_us.size() / 2];
  state.counters["p99_us"] = took_us[took_us.size() * 99 / 100];
}
BENCHMARK(BM_PlanBetweenBatches)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace cairn::planner

BENCHMARK_MAIN();
