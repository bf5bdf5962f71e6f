#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/test/harness.h"

// usage: PROGRAM [--sites] [--verbose] [PART OF A TEST'S NAME...]
//   --sites          after the tests: every site of sk that they reached, one a line
//   SK_SEED=n        the first seed of every test (1)
//   SK_SEEDS=n       how many seeds schedule tests try (each test's own number)
//   SK_SKIP=site     the emulator ignores the operations at this site: some test should fail
//   SK_LESS=site     the emulator lowers the wait at this site by one: some test should fail
//   SK_UP=site       the index marked at this site is one too high: some test should fail
//   SK_DOWN=site     ... one too low

namespace {

std::string FromEnvironment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

int main(int argc, char** argv) {
  cairn::test::Settings& settings = cairn::test::RunSettings();
  settings.skip_site = FromEnvironment("SK_SKIP");
  settings.less_site = FromEnvironment("SK_LESS");
  settings.up_site = FromEnvironment("SK_UP");
  settings.down_site = FromEnvironment("SK_DOWN");
  if (const std::string seed = FromEnvironment("SK_SEED"); !seed.empty()) {
    settings.first_seed = std::strtoull(seed.c_str(), nullptr, 10);
  }
  if (const std::string seeds = FromEnvironment("SK_SEEDS"); !seeds.empty()) {
    settings.seeds = static_cast<std::uint32_t>(std::strtoul(seeds.c_str(), nullptr, 10));
  }
  bool lists_sites = false;
  std::vector<std::string> filters;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--sites") {
      lists_sites = true;
    } else if (argument == "--verbose") {
      settings.is_verbose = true;
    } else {
      filters.emplace_back(argument);
    }
  }
  const int failed = cairn::test::RunTests(filters);
  if (lists_sites) {
    for (const cairn::sk::emu::SiteUse& use : cairn::test::AllSites()) {
      cairn::test::Print("site " + use.site + " " + use.operation + " " +
                         std::to_string(use.count));
    }
  }
  return failed == 0 ? 0 : 1;
}
