// Speed of the placement service at the size it is meant for: 10,000 families that all have
// requests, entries of 2,048 to 65,536 tokens.
//
//   bench_planner                       what an observation and a plan cost, one after the other
//   BM_ObserveWhilePlanning/OFFERED     the service's host: batches of 1,000 observations offered
//   at
//                                       OFFERED a second for five seconds, and plans asked for from
//                                       another thread, 1,000 a second, each timed; 0 shows what
//                                       plans take of this machine when nothing is observed
//   BM_ObserveWhileSnapshotting         the same at 100,000 a second, with a snapshot each second
//   BM_WakeBesideASpinner               what the machine does by itself: how late a thread wakes
//   each
//                                       millisecond while another one is busy
// Numbers and what they mean: libs/planner/README.md.

#include <benchmark/benchmark.h>
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "libs/base/check.h"
#include "libs/base/rng.h"
#include "libs/planner/planner.h"
#include "libs/store_memory/memory_store.h"
#include "services/placement/placement_host.h"

namespace cairn::planner {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kFamilies = 10'000;
constexpr std::uint64_t kGrid = 64;
constexpr std::size_t kBatch = 1000;
constexpr std::size_t kTaught = 60'000;

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
  std::vector<Observation> Batch() {
    std::vector<Observation> batch;
    for (std::size_t i = 0; i < kBatch; ++i) batch.push_back(Next());
    return batch;
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

PlanQuestion Question(Rng& rng) {
  PlanQuestion question{
      .family = 1 + rng.Below(kFamilies), .length = kGrid * (32 + rng.Below(992)), .budget = 2};
  question.branches.push_back({.depth = kGrid * (1 + rng.Below(30)), .claims = 3});
  return question;
}

// Quantiles of what plans took, in microseconds.
void Report(std::vector<double>& took_us, benchmark::State& state) {
  std::sort(took_us.begin(), took_us.end());
  state.counters["plan_p50_us"] = took_us[took_us.size() / 2];
  state.counters["plan_p99_us"] = took_us[took_us.size() * 99 / 100];
  state.counters["plan_max_us"] = took_us.back();
}

std::unique_ptr<Planner> TaughtPlanner(Traffic& traffic) {
  auto planner = Planner::Create({});
  CAIRN_CHECK(planner.ok());
  for (std::size_t i = 0; i < kTaught; ++i) CAIRN_CHECK((*planner)->Observe(traffic.Next()).ok());
  return *std::move(planner);
}

void Observe(benchmark::State& state, std::uint32_t thinning) {
  Traffic traffic;
  const std::unique_ptr<Planner> planner = TaughtPlanner(traffic);
  planner->SetThinning(thinning);
  for (auto _ : state) {
    state.PauseTiming();
    const std::vector<Observation> batch = traffic.Batch();
    state.ResumeTiming();
    for (const Observation& observation : batch) CAIRN_CHECK(planner->Observe(observation).ok());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kBatch));
}
void BM_Observe(benchmark::State& state) { Observe(state, 1); }
void BM_ObserveThinnedBy16(benchmark::State& state) { Observe(state, 16); }
BENCHMARK(BM_Observe)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_ObserveThinnedBy16)->Unit(benchmark::kMillisecond);

void BM_PlanBetweenBatches(benchmark::State& state) {
  Traffic traffic;
  Rng rng(8);
  const std::unique_ptr<Planner> planner = TaughtPlanner(traffic);
  std::vector<double> took_us;
  for (auto _ : state) {
    state.PauseTiming();
    for (int i = 0; i < 100; ++i) CAIRN_CHECK(planner->Observe(traffic.Next()).ok());
    state.ResumeTiming();
    for (int i = 0; i < 10; ++i) {
      const PlanQuestion question = Question(rng);
      const auto start = Clock::now();
      benchmark::DoNotOptimize(planner->Plan(question));
      const std::chrono::duration<double, std::micro> took = Clock::now() - start;
      took_us.push_back(took.count());
    }
  }
  Report(took_us, state);
}
BENCHMARK(BM_PlanBetweenBatches)->Unit(benchmark::kMicrosecond);

// Bytes that malloc has handed out.
double BytesInUse() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<double>(info.uordblks + info.hblkhd);
}

// Offers batches evenly over `seconds`; one that is late is offered at once.
void Offer(PlacementHost& host, const std::vector<std::vector<Observation>>& batches,
           double a_second) {
  const auto start = Clock::now();
  for (std::size_t i = 0; i < batches.size(); ++i) {
    const auto due = std::chrono::duration_cast<Clock::duration>(
        std::chrono::duration<double>(static_cast<double>(i * kBatch) / a_second));
    std::this_thread::sleep_until(start + due);  // tidy: allow(sleep) keeps the offered rate
    CAIRN_CHECK(host.Observe(batches[i]).refused == 0);
  }
}

// Asks for 1,000 plans a second until told to stop.
std::vector<double> AskForPlans(PlacementHost& host, const std::atomic<bool>& is_over) {
  Rng rng(9);
  std::vector<double> took_us;
  while (!is_over.load()) {
    const PlanQuestion question = Question(rng);
    const auto start = Clock::now();
    benchmark::DoNotOptimize(host.Plan(question));
    const std::chrono::duration<double, std::micro> took = Clock::now() - start;
    took_us.push_back(took.count());
    const auto next = start + std::chrono::milliseconds(1);
    std::this_thread::sleep_until(next);  // tidy: allow(sleep) keeps the asked rate
  }
  return took_us;
}

void ObserveWhilePlanning(benchmark::State& state, double a_second, bool is_snapshotting) {
  constexpr int kSeconds = 5;
  Traffic traffic;
  const double bytes_before = BytesInUse();
  const auto host = PlacementHost::Create({}, std::make_unique<MemoryStore>()).value();
  for (std::size_t i = 0; i < kTaught; i += kBatch) {
    host->Observe(traffic.Batch());
    host->Settle();
  }
  const double bytes_taught = BytesInUse();
  std::vector<std::vector<Observation>> batches(
      static_cast<std::size_t>(a_second * kSeconds / kBatch));
  for (auto& batch : batches) batch = traffic.Batch();
  std::vector<double> took_us;
  std::uint64_t snapshots = 0;
  double seconds = 0;
  const PlannerStats before = host->Status().planner;
  for (auto _ : state) {
    std::atomic<bool> is_over{false};
    std::thread planning([&] { took_us = AskForPlans(*host, is_over); });
    std::thread saving([&] {
      for (auto next = Clock::now(); is_snapshotting && !is_over.load();) {
        snapshots += host->Snapshot().ok() ? 1 : 0;
        next += std::chrono::seconds(1);
        std::this_thread::sleep_until(next);  // tidy: allow(sleep) keeps the rate
      }
    });
    const auto start = Clock::now();
    Offer(*host, batches, a_second);
    const auto end = start + std::chrono::seconds(batches.empty() ? kSeconds : 0);
    std::this_thread::sleep_until(end);  // tidy: allow(sleep) nothing is offered
    host->Settle();
    seconds = std::chrono::duration<double>(Clock::now() - start).count();
    is_over.store(true);
    planning.join();
    saving.join();
  }
  const PlacementHost::Report after = host->Status();
  const auto taken = static_cast<double>(after.planner.observations - before.observations);
  const auto thinned =
      static_cast<double>(after.planner.observations_thinned - before.observations_thinned);
  Report(took_us, state);
  state.counters["observations_per_s"] = (taken + thinned) / seconds;
  state.counters["share_thinned"] = thinned / std::max(taken + thinned, 1.0);
  state.counters["dropped"] = static_cast<double>(after.lessons_dropped);
  state.counters["family_bytes"] = (bytes_taught - bytes_before) / kFamilies;
  state.counters["snapshots"] = static_cast<double>(snapshots);
}
void BM_WakeBesideASpinner(benchmark::State& state) {
  std::vector<double> late_us;
  for (auto _ : state) {
    std::atomic<bool> is_over{false};
    std::thread spinning([&] {
      while (!is_over.load()) benchmark::ClobberMemory();
    });
    for (int i = 0; i < 4000; ++i) {
      const auto due = Clock::now() + std::chrono::milliseconds(1);
      std::this_thread::sleep_until(due);  // tidy: allow(sleep) the measurement itself
      late_us.push_back(std::chrono::duration<double, std::micro>(Clock::now() - due).count());
    }
    is_over.store(true);
    spinning.join();
  }
  std::sort(late_us.begin(), late_us.end());
  state.counters["late_p50_us"] = late_us[late_us.size() / 2];
  state.counters["late_p99_us"] = late_us[late_us.size() * 99 / 100];
}
BENCHMARK(BM_WakeBesideASpinner)->Iterations(1)->UseRealTime()->Unit(benchmark::kMillisecond);

void BM_ObserveWhilePlanning(benchmark::State& state) {
  ObserveWhilePlanning(state, static_cast<double>(state.range(0)), false);
}
void BM_ObserveWhileSnapshotting(benchmark::State& state) {
  ObserveWhilePlanning(state, 100'000, true);
}
BENCHMARK(BM_ObserveWhilePlanning)
    ->Arg(0)
    ->Arg(10'000)
    ->Arg(100'000)
    ->Arg(400'000)
    ->Iterations(1)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(BM_ObserveWhileSnapshotting)->Iterations(1)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace cairn::planner

BENCHMARK_MAIN();
