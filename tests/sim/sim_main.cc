// The seeded simulation: test_sim --seeds=N --first=K [--jobs=J] [--planted] [--twice].
// A failing seed prints itself and the line that replays it.

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "libs/base/log.h"
#include "libs/base/mark.h"
#include "libs/base/mutex.h"
#include "tests/sim/marks.h"
#include "tests/sim/simulation.h"

namespace cairn::sim {
namespace {

struct Arguments {
  std::uint64_t seeds = 200;
  std::uint64_t first = 1;
  std::uint64_t jobs = 1;
  std::uint64_t planted_seeds = 400;
  bool planted = false;  // proves that planted bugs are found, instead
  bool twice = false;    // runs each seed twice and compares
  bool marks = true;     // all marks must be hit (too few seeds cannot)
};

class NoLog final : public LogSink {
 public:
  void Write(absl::string_view) override {}
};

bool Parse(int argc, char** argv, Arguments& out) {
  for (int i = 1; i < argc; ++i) {
    const absl::string_view arg = argv[i];
    const auto number = [&](absl::string_view prefix, std::uint64_t& value) {
      return absl::StartsWith(arg, prefix) && absl::SimpleAtoi(arg.substr(prefix.size()), &value);
    };
    if (number("--seeds=", out.seeds) || number("--first=", out.first) ||
        number("--jobs=", out.jobs) || number("--planted_seeds=", out.planted_seeds)) {
      continue;
    }
    if (arg == "--planted") {
      out.planted = true;
    } else if (arg == "--twice") {
      out.twice = true;
    } else if (arg == "--no_marks") {
      out.marks = false;
    } else {
      std::fprintf(stderr,
                   "usage: test_sim [--seeds=N] [--first=K] [--jobs=J] [--planted] "
                   "[--planted_seeds=N] [--twice] [--no_marks]\n");
      return false;
    }
  }
  return true;
}

// What failed under `seed`; empty: all promises held.
std::string RunSeed(std::uint64_t seed, const TestFaults& faults, Tally* tally) {
  Simulation simulation(seed, faults);
  simulation.Run();
  *tally = simulation.tally();
  return simulation.failure();
}

void Add(const Tally& part, Tally& sum) {
  sum.steps += part.steps;
  sum.reads += part.reads;
  sum.reads_thrown += part.reads_thrown;
  sum.acquires += part.acquires;
  sum.offers += part.offers;
  sum.stored += part.stored;
  sum.evictions += part.evictions;
  sum.client_crashes += part.client_crashes;
  sum.node_crashes += part.node_crashes;
  sum.flips += part.flips;
  sum.quarantined += part.quarantined;
  sum.conflicts += part.conflicts;
}

std::vector<std::uint64_t> RegressionSeeds() {
  std::vector<std::uint64_t> seeds;
  std::ifstream in("tests/sim/regression_seeds.txt");
  for (std::string line; std::getline(in, line);) {
    std::uint64_t seed = 0;
    const std::string number = line.substr(0, line.find_first_of(" #"));
    if (absl::SimpleAtoi(number, &seed)) seeds.push_back(seed);
  }
  return seeds;
}

class Runner {
 public:
  explicit Runner(const Arguments& arguments) : arguments_(arguments) {
    seeds_ = RegressionSeeds();
    for (std::uint64_t i = 0; i < arguments.seeds; ++i) seeds_.push_back(arguments.first + i);
  }
  bool Run() {
    const absl::Time start = absl::Now();
    std::vector<std::thread> threads;
    for (std::uint64_t i = 1; i < arguments_.jobs; ++i) threads.emplace_back([this] { Work(); });
    Work();
    for (std::thread& thread : threads) thread.join();
    const double seconds = absl::ToDoubleSeconds(absl::Now() - start);
    MutexLock lock(mutex_);
    const Tally& sum = sum_;
    std::printf("sim: %zu seeds in %.1f s (%.0f/s), %llu steps\n", seeds_.size(), seconds,
                static_cast<double>(seeds_.size()) / seconds, Ull(sum.steps));
    std::printf("  %llu acquires, %llu offers, %llu stored, %llu evicted\n", Ull(sum.acquires),
                Ull(sum.offers), Ull(sum.stored), Ull(sum.evictions));
    std::printf("  %llu blocks read right, %llu thrown away\n", Ull(sum.reads),
                Ull(sum.reads_thrown));
    std::printf("  %llu client and %llu node crashes, %llu bits flipped, %llu quarantined, ",
                Ull(sum.client_crashes), Ull(sum.node_crashes), Ull(sum.flips),
                Ull(sum.quarantined));
    std::printf("%llu conflicts\n", Ull(sum.conflicts));
    return !has_failed_;
  }

 private:
  static unsigned long long Ull(std::uint64_t v) { return v; }
  void Work() {
    while (!has_failed_) {
      const std::size_t i = next_.fetch_add(1);
      if (i >= seeds_.size()) return;
      Judge(seeds_[i]);
    }
  }
  void Judge(std::uint64_t seed) {
    Tally tally;
    std::string failure = RunSeed(seed, {}, &tally);
    if (arguments_.twice && failure.empty()) {
      Tally again;
      failure = RunSeed(seed, {}, &again);
      if (failure.empty() && !(again == tally)) failure = "two runs of this seed differ";
    }
    MutexLock lock(mutex_);
    Add(tally, sum_);
    if (failure.empty()) return;
    has_failed_ = true;
    std::printf("FAILED seed %llu: %s\n  replay: test_sim --seeds=1 --first=%llu --no_marks\n",
                Ull(seed), failure.c_str(), Ull(seed));
  }

  const Arguments arguments_;
  std::vector<std::uint64_t> seeds_;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> has_failed_{false};
  Mutex mutex_;
  Tally sum_ CAIRN_GUARDED_BY(mutex_);
};

bool AllMarksAreHit() {
  std::map<std::string, std::uint64_t> hits;
  for (const MarkCount& mark : MarkCounts()) hits[mark.name] = mark.hits;
  std::map<std::string, const char*> elsewhere;
  for (const MarkElsewhere& mark : MarksElsewhere()) elsewhere[mark.mark] = mark.test;
  const std::vector<std::string> marks = MarksInSources();
  if (marks.empty()) std::printf("marks: no sources here, not checked\n");
  bool all = true;
  std::pair<std::uint64_t, std::string> rarest = {UINT64_MAX, ""};
  for (const std::string& mark : marks) {
    if (hits[mark] > 0) {
      rarest = std::min(rarest, {hits[mark], mark});
    } else if (!elsewhere.contains(mark) || !std::ifstream(elsewhere[mark]).good()) {
      std::printf("FAILED: no seed reached the branch marked %s\n", mark.c_str());
      all = false;
    }
  }
  std::printf("marks: %zu, the rarest was reached %llu times (%s)\n", marks.size(),
              static_cast<unsigned long long>(rarest.first), rarest.second.c_str());
  return all;
}

// True if some seed finds the bug. In a process of its own: a bug may also end in a CAIRN_CHECK.
bool IsFound(const char* name, const TestFaults& faults, std::uint64_t seeds) {
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    std::fclose(stderr);
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      Tally tally;
      const std::string failure = RunSeed(seed, faults, &tally);
      if (failure.empty()) continue;
      std::printf("planted %s: found by seed %llu: %s\n", name,
                  static_cast<unsigned long long>(seed), failure.c_str());
      std::fflush(stdout);
      ::_exit(1);
    }
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) std::printf("planted %s: found by a check of the code\n", name);
  const bool is_found = WIFSIGNALED(status) || WEXITSTATUS(status) != 0;
  if (!is_found) std::printf("FAILED: planted %s was not found\n", name);
  return is_found;
}

bool PlantedBugsAreFound(std::uint64_t seeds) {
  const std::pair<const char*, TestFaults> bugs[] = {
      {"skip_generation_bump", {.skip_generation_bump = true}},
      {"publish_before_verify", {.publish_before_verify = true}},
      {"skip_put_check", {.skip_put_check = true}},
      {"release_landing_at_deadline", {.release_landing_at_deadline = true}},
      {"forget_pins_of_session", {.forget_pins_of_session = true}},
  };
  bool all = true;
  for (const auto& [name, faults] : bugs) all = IsFound(name, faults, seeds) && all;
  return all;
}

int Main(int argc, char** argv) {
  Arguments arguments;
  if (!Parse(argc, argv, arguments)) return 2;
  static NoLog no_log;
  if (arguments.seeds > 1 || arguments.planted) SetLogSink(&no_log);
  if (arguments.planted) return PlantedBugsAreFound(arguments.planted_seeds) ? 0 : 1;
  bool ok = Runner(arguments).Run();
  if (ok && arguments.marks) ok = AllMarksAreHit();
  return ok ? 0 : 1;
}

}  // namespace
}  // namespace cairn::sim

int main(int argc, char** argv) { return cairn::sim::Main(argc, argv); }
