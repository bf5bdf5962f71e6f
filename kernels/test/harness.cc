#include "kernels/test/harness.h"

#include <cstdio>
#include <cstring>
#include <map>
#include <utility>

namespace cairn::test {
namespace {

struct Test {
  const char* name;
  void (*body)();
};

std::vector<Test>& Tests() {
  static std::vector<Test> tests;
  return tests;
}

std::map<std::pair<std::string, std::string>, std::uint64_t>& SiteCounts() {
  static std::map<std::pair<std::string, std::string>, std::uint64_t> counts;
  return counts;
}

const char* running_test = "";
int failures_of_test = 0;
constexpr int kFailuresShown = 10;

// Whether the emulator leaves something out or moves it, so that some test should fail.
bool IsMutated() {
  const Settings& settings = RunSettings();
  return !(settings.skip_site.empty() && settings.less_site.empty() && settings.up_site.empty() &&
           settings.down_site.empty());
}

}  // namespace

Settings& RunSettings() {
  static Settings settings;
  return settings;
}

std::vector<std::uint64_t> Seeds(std::uint32_t wanted) {
  const Settings& settings = RunSettings();
#ifdef __SANITIZE_ADDRESS__
  wanted = (wanted + 3) / 4;  // each run is ten times slower, and the schedules are the same
#endif
  std::vector<std::uint64_t> seeds(settings.seeds != 0 ? settings.seeds : wanted);
  for (std::size_t i = 0; i < seeds.size(); ++i) seeds[i] = settings.first_seed + i;
  return seeds;
}

std::string RunGrid(const sk::emu::Grid& grid, std::uint64_t seed,
                    const std::function<void()>& kernel) {
  sk::emu::Machine machine(OptionsOf<sk::emu::Options>(seed));
  std::string error = machine.Run(grid, kernel);
  AddSites(machine.Sites());
  return error;
}

void AddSites(const std::vector<sk::emu::SiteUse>& uses) {
  for (const sk::emu::SiteUse& use : uses) SiteCounts()[{use.site, use.operation}] += use.count;
}

std::vector<sk::emu::SiteUse> AllSites() {
  std::vector<sk::emu::SiteUse> uses;
  for (const auto& [key, count] : SiteCounts()) uses.push_back({key.first, key.second, count});
  return uses;
}

int AddTest(const char* name, void (*body)()) {
  Tests().push_back({name, body});
  return static_cast<int>(Tests().size());
}

void Print(const std::string& line) {
  std::printf("%s\n", line.c_str());  // tidy: allow(print) a test program's report
  std::fflush(stdout);
}

bool AreBitsEqual(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return false;
  return a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

void Fail(const char* file, int line, const std::string& what) {
  ++failures_of_test;
  if (failures_of_test > kFailuresShown) return;
  Print(std::string(file) + ":" + std::to_string(line) + ": " + running_test + ": " + what);
}

int RunTests(const std::vector<std::string>& filters) {
  int failed = 0, run = 0;
  for (const Test& test : Tests()) {
    bool is_wanted = filters.empty();
    for (const std::string& filter : filters) {
      is_wanted = is_wanted || std::string_view(test.name).find(filter) != std::string_view::npos;
    }
    if (!is_wanted) continue;
    running_test = test.name;
    failures_of_test = 0;
    ++run;
    test.body();
    Print((failures_of_test == 0 ? "ok      " : "FAILED  ") + std::string(test.name));
    failed += failures_of_test != 0 ? 1 : 0;
    if (failed != 0 && IsMutated()) break;  // noticed
  }
  Print(std::to_string(run) + " tests, " + std::to_string(failed) + " failed, seeds from " +
        std::to_string(RunSettings().first_seed) +
        " on (SK_SEED=" + std::to_string(RunSettings().first_seed) + ")");
  return run == 0 ? 1 : failed;
}

}  // namespace cairn::test
