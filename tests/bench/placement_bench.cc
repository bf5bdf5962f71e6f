// Speed of libs/placement's solvers: exact tables, the value and the plan by a price per state, and
// the paper's O(N^2 M) recurrence for comparison (on fewer depths). K = depths that occur, M = new
// states. Numbers and what they mean: libs/placement/README.md.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "libs/base/rng.h"
#include "libs/placement/large_line.h"
#include "libs/placement/law_expert.h"
#include "libs/placement/line_problem.h"
#include "libs/placement/line_solver.h"
#include "libs/placement/line_table.h"

namespace cairn::placement {
namespace {

// Claims as they come in practice: gaps between depths, counts that vary a thousandfold.
LineProblem RandomClaims(std::uint32_t depths) {
  Rng rng(depths);
  LineProblem problem;
  std::uint32_t depth = 0;
  for (std::uint32_t i = 0; i < depths; ++i) {
    depth += 1 + static_cast<std::uint32_t>(rng.Below(16));
    const auto weight = static_cast<std::int64_t>(1 + rng.Below(1 << 20) / (1 + rng.Below(1000)));
    problem.atoms.push_back({.depth = depth, .cost = depth, .weight = weight});
  }
  return problem;
}

// The recurrence as published, over all pairs of depths, on summed weights.
std::int64_t CostByRecurrence(const LineProblem& problem, std::uint32_t states_max) {
  const std::size_t k = problem.atoms.size();
  std::vector<std::int64_t> weight(k + 1, 0);
  std::vector<std::int64_t> cost(k + 1, 0);
  for (std::size_t i = 0; i < k; ++i) {
    weight[i + 1] = weight[i] + problem.atoms[i].weight;
    cost[i + 1] = cost[i] + problem.atoms[i].weight * problem.atoms[i].cost;
  }
  std::vector<std::int64_t> row = cost;
  std::vector<std::int64_t> next(k + 1, 0);
  for (std::uint32_t m = 1; m <= states_max; ++m) {
    for (std::size_t j = 1; j <= k; ++j) {
      std::int64_t least = row[j];
      for (std::size_t s = 1; s <= j; ++s) {
        const std::int64_t stretch =
            cost[j] - cost[s - 1] - problem.atoms[s - 1].cost * (weight[j] - weight[s - 1]);
        least = std::min(least, row[s - 1] + stretch);
      }
      next[j] = least;
    }
    row.swap(next);
  }
  return row[k];
}

void BM_Recurrence(benchmark::State& state) {
  const LineProblem problem = RandomClaims(static_cast<std::uint32_t>(state.range(0)));
  for (auto _ : state) {
    benchmark::DoNotOptimize(CostByRecurrence(problem, static_cast<std::uint32_t>(state.range(1))));
  }
}

void BM_SolveLine(benchmark::State& state) {
  const LineProblem problem = RandomClaims(static_cast<std::uint32_t>(state.range(0)));
  for (auto _ : state) {
    benchmark::DoNotOptimize(SolveLine(problem, static_cast<std::uint32_t>(state.range(1)))->cost);
  }
  state.counters["back_pointer_MB"] =
      4e-6 * static_cast<double>(state.range(0)) * static_cast<double>(state.range(1));
}

void BM_LargeLineCost(benchmark::State& state) {
  const LineProblem problem = RandomClaims(static_cast<std::uint32_t>(state.range(0)));
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        LargeLineCost(problem, static_cast<std::uint32_t>(state.range(1))).value());
  }
}

void BM_SolveLargeLine(benchmark::State& state) {
  const LineProblem problem = RandomClaims(static_cast<std::uint32_t>(state.range(0)));
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        SolveLargeLine(problem, static_cast<std::uint32_t>(state.range(1)))->cost);
  }
}

// One plan of a prefix from a table that was solved once for all lengths.
void BM_PlanFromTable(benchmark::State& state) {
  const LineProblem problem = RandomClaims(static_cast<std::uint32_t>(state.range(0)));
  const auto states = static_cast<std::uint32_t>(state.range(1));
  const auto table = LineTable::Create(problem, states).value();
  const LineAtom& middle = problem.atoms[problem.atoms.size() / 2];
  for (auto _ : state) {
    benchmark::DoNotOptimize(table->PlanAt(middle.depth, middle.cost, states)->cost);
  }
}

// A plan as the service makes it: the law of an entry of so many blocks, then the exact solve; or,
// for a world that is only scored, the solve over a position a bin.
void PlanByLaw(benchmark::State& state, bool is_sketched) {
  LawExpert expert("law", {});
  Rng rng(1);
  for (int i = 0; i < 10000; ++i) {
    const EntryShape shape{.end = 1 + static_cast<std::uint32_t>(rng.Below(256))};
    expert.Expose(shape, 1);
    expert.Observe({.entry = shape, .depth = 1 + static_cast<std::uint32_t>(rng.Below(shape.end))});
  }
  PlanQuery query{.shape = {.end = static_cast<std::uint32_t>(state.range(0))},
                  .states_max = static_cast<std::uint32_t>(state.range(1))};
  for (auto _ : state) {
    benchmark::DoNotOptimize((is_sketched ? expert.Sketch(query) : expert.Plan(query)).size());
  }
}
void BM_PlanByLaw(benchmark::State& state) { PlanByLaw(state, false); }
void BM_SketchByLaw(benchmark::State& state) { PlanByLaw(state, true); }

BENCHMARK(BM_Recurrence)->Args({1024, 64})->Args({2048, 64})->Unit(benchmark::kMillisecond);
BENCHMARK(BM_SolveLine)
    ->Args({1024, 64})
    ->Args({2048, 64})
    ->Args({8192, 64})
    ->Args({131072, 256})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(BM_LargeLineCost)->Args({8192, 64})->Args({131072, 256})->Unit(benchmark::kMillisecond);
BENCHMARK(BM_SolveLargeLine)->Args({8192, 64})->Args({131072, 256})->Unit(benchmark::kMillisecond);
BENCHMARK(BM_PlanFromTable)->Args({8192, 64})->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_PlanByLaw)
    ->Args({64, 4})
    ->Args({256, 4})
    ->Args({2048, 4})
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_SketchByLaw)
    ->Args({64, 4})
    ->Args({256, 4})
    ->Args({2048, 4})
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace cairn::placement

BENCHMARK_MAIN();
