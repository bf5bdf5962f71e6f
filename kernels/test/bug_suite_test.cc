#include <algorithm>
#include <string>
#include <vector>

#include "kernels/test/bulk_pipeline.h"
#include "kernels/test/copy_pipeline.h"
#include "kernels/test/harness.h"
#include "kernels/test/proxy_chain.h"
#include "kernels/test/random_matrix.h"

// The seeded bugs: what the emulator is for. Each specimen kernel is right under every seed; each
// of its bugs must be caught, by an error of the emulator or by a wrong result, under
//   kAlways     every seed that is tried, or
//   kSometimes  at least one of the fixed seeds 1 to 16: the bug is a race, and some legal
//   schedules
//               of the hardware do forgive it.

namespace cairn::test {
namespace {

enum class Caught { kNever, kSometimes, kAlways };
#ifdef __SANITIZE_ADDRESS__
constexpr std::uint32_t kBugSeeds = 4;  // each run is ten times slower
#else
constexpr std::uint32_t kBugSeeds = 16;
#endif

std::vector<sk::emu::SiteUse> sites_seen;  // by the machine that ran last

void NoteSites(const sk::emu::Machine& machine) {
  sites_seen = machine.Sites();
  AddSites(sites_seen);
}

// ---- The specimens: "" or what was noticed ------------------------------------------------------

template <CopyBug kBug>
std::string RunCopyPipeline(const sk::emu::Options& options) {
  static const Matrix a = RandomMatrix(64, 256, 11), b = RandomMatrix(64, 256, 12);
  static const std::vector<double> expected = ProductOf(a, b);
  std::vector<float> c(64 * 64, -1.0f);
  const CopyPipelineParams params{a.bits.data(), b.bits.data(), c.data(), 256};
  sk::emu::Machine machine(options);
  const std::string error = machine.Run({.threads = kCopyThreads, .shared_bytes = kCopySharedBytes},
                                        [&] { CopyPipeline<kBug>(params); });
  NoteSites(machine);
  return error.empty() ? Differs(c, expected, 256) : error;
}

// The 64x64 tiles of a row-major matrix, side by side, in the k128 swizzle.
std::vector<std::uint16_t> SwizzledTiles(const Matrix& matrix) {
  std::vector<std::uint16_t> tiles(matrix.bits.size());
  for (std::uint32_t row = 0; row < 64; ++row) {
    for (std::uint32_t k = 0; k < matrix.columns; ++k) {
      const std::uint32_t place = sk::SwizzleAddress(row * 128 + k % 64 * 2, sk::Swizzle::k128);
      tiles[k / 64 * 4096 + place / 2] = matrix.at(row, k);
    }
  }
  return tiles;
}

template <BulkBug kBug>
std::string RunBulkPipeline(const sk::emu::Options& options) {
  constexpr std::uint32_t kSteps = 8;
  static const Matrix a = RandomMatrix(64, kSteps * 64, 21), b = RandomMatrix(64, kSteps * 64, 22);
  static const std::vector<double> expected = ProductOf(a, b);
  static const std::vector<std::uint16_t> tiles_a = SwizzledTiles(a);
  static const std::vector<std::uint16_t> tiles_b = SwizzledTiles(b);
  std::vector<float> c(64 * 64, -1.0f);
  const BulkPipelineParams params{tiles_a.data(), tiles_b.data(), c.data(), kSteps};
  sk::emu::Machine machine(options);
  const std::string error = machine.Run({.threads = kBulkThreads,
                                         .shared_bytes = kBulkSharedBytes,
                                         .registers_per_thread = kBulkRegisters},
                                        [&] { BulkPipeline<kBug>(params); });
  NoteSites(machine);
  return error.empty() ? Differs(c, expected, kSteps * 64) : error;
}

template <ProxyBug kBug, bool kRegisterA>
std::string RunProxyChain(const sk::emu::Options& options) {
  static const Matrix a = RandomMatrix(64, 64, 31), b = RandomMatrix(64, 64, 32);
  static const std::vector<double> expected = ProductOf(a, b);
  std::vector<std::uint16_t> d(64 * 64, 0x7fff);
  const ProxyChainParams params{a.bits.data(), b.bits.data(), d.data()};
  sk::emu::Machine machine(options);
  const std::string error =
      machine.Run({.threads = kProxyThreads, .shared_bytes = kProxySharedBytes},
                  [&] { ProxyChain<kBug, kRegisterA>(params); });
  NoteSites(machine);
  if (!error.empty()) return error;
  for (std::size_t i = 0; i < d.size(); ++i) {
    const double got = sk::soft::FromBf16(d[i]);
    if (!(std::fabs(got - expected[i]) <= 1e-4 + std::fabs(expected[i]) * 0x1p-8)) {
      return "value " + std::to_string(i) + " is " + std::to_string(got) + ", not " +
             std::to_string(expected[i]);
    }
  }
  return "";
}

// ---- The table ----------------------------------------------------------------------------------

using Runner = std::string (*)(const sk::emu::Options&);

struct Specimen {
  const char* name;
  Caught caught;
  Runner run;
  const char* says = "";  // a part of the message, at least once
};

#define SK_COPY(bug, caught, ...) \
  { "copy pipeline, " #bug, Caught::caught, RunCopyPipeline<CopyBug::bug>, __VA_ARGS__ }
#define SK_BULK(bug, caught, ...) \
  { "bulk pipeline, " #bug, Caught::caught, RunBulkPipeline<BulkBug::bug>, __VA_ARGS__ }
#define SK_PROXY(bug, registers, caught, ...) \
  { "proxy chain, " #bug, Caught::caught, RunProxyChain<ProxyBug::bug, registers>, __VA_ARGS__ }

const Specimen kSpecimens[] = {
    SK_COPY(kNoBarrier, kAlways),
    SK_COPY(kShallowWait, kAlways, "nan"),
    SK_COPY(kNoWait, kAlways, "nan"),
    SK_COPY(kEarlyReuse, kAlways),
    SK_COPY(kNoCommit, kAlways, "nan"),
    SK_COPY(kTailCommit, kAlways, "nan"),
    SK_COPY(kSkippedBarrier, kAlways, "deadlock"),

    SK_BULK(kFullParity, kAlways),
    SK_BULK(kEmptyParity, kAlways, "deadlock"),
    SK_BULK(kParityNeverFlips, kAlways),
    SK_BULK(kExpectLess, kAlways),
    SK_BULK(kExpectMore, kAlways, "deadlock"),
    SK_BULK(kNoExpect, kAlways),
    SK_BULK(kArrivalsMore, kAlways, "deadlock"),
    SK_BULK(kArrivalsLess, kSometimes),
    SK_BULK(kNoArrive, kAlways, "deadlock"),
    SK_BULK(kNoInitFence, kAlways, "async proxy"),
    SK_BULK(kNoInitBarrier, kSometimes, "no mbarrier"),
    SK_BULK(kNoWgmmaFence, kAlways, "no WgmmaFence"),
    SK_BULK(kNoWgmmaCommit, kAlways),
    SK_BULK(kNoWgmmaWait, kAlways, "never waited for"),
    SK_BULK(kShallowRelease, kSometimes),
    SK_BULK(kEarlyRelease, kSometimes),
    SK_BULK(kWarpLeftOut, kAlways, "one warpgroup"),

    SK_PROXY(kNoFence, false, kAlways, "nan"),
    SK_PROXY(kFenceBeforeWrite, false, kAlways),
    SK_PROXY(kFenceByOneWarp, false, kSometimes),
    SK_PROXY(kNoBarrier, false, kSometimes),
    SK_PROXY(kOperandRewritten, true, kAlways, "operand registers"),
    SK_PROXY(kOperandAfterFence, true, kAlways, "after the last WgmmaFence"),
    SK_PROXY(kResultRewritten, false, kAlways, "accumulators"),
    SK_PROXY(kResultReadEarly, false, kAlways, "nan"),
    SK_PROXY(kResultAfterFence, false, kAlways, "after the last WgmmaFence"),
    SK_PROXY(kFenceOnce, false, kAlways, "no WgmmaFence"),
    SK_PROXY(kTileOverwritten, true, kSometimes),
    SK_PROXY(kNoStoreFence, false, kAlways, "nan"),
    SK_PROXY(kNoStoreBarrier, false, kSometimes),
    SK_PROXY(kNoBulkWait, false, kAlways, "nothing has waited"),
    SK_PROXY(kNoBulkCommit, false, kAlways, "nothing has waited"),
    SK_PROXY(kStagingReused, false, kAlways),
    SK_PROXY(kWrongNamedCount, false, kAlways),
    SK_PROXY(kNoSyncBeforeRewrite, false, kSometimes),
};

const Specimen kRight[] = {
    SK_COPY(kNone, kNever),
    SK_BULK(kNone, kNever),
    SK_PROXY(kNone, false, kNever),
    SK_PROXY(kNone, true, kNever),
};

SK_TEST(RightKernelsPassUnderEverySeed) {
  for (const Specimen& specimen : kRight) {
    for (const std::uint64_t seed : Seeds(48)) {
      const std::string found = specimen.run(OptionsOf<sk::emu::Options>(seed));
      if (!found.empty()) Fail(__FILE__, __LINE__, std::string(specimen.name) + ": " + found);
    }
  }
}

SK_TEST(EverySeededBugIsCaught) {
  for (const Specimen& specimen : kSpecimens) {
    std::uint32_t caught = 0;
    bool said = false;
    std::string example;
    for (std::uint64_t seed = 1; seed <= kBugSeeds; ++seed) {
      sk::emu::Options options;
      options.seed = seed;
      const std::string found = specimen.run(options);
      caught += found.empty() ? 0 : 1;
      said = said || found.find(specimen.says) != std::string::npos;
      if (example.empty()) example = found;
    }
    const std::string line = std::string(specimen.name) + ": under " + std::to_string(caught) +
                             " of " + std::to_string(kBugSeeds) + " seeds";
    if (RunSettings().is_verbose) Print("  " + line + ", e.g. " + example);
    if (caught < (specimen.caught == Caught::kAlways ? kBugSeeds : 1))
      Fail(__FILE__, __LINE__, line);
    if (!said) Fail(__FILE__, __LINE__, line + "; never said: " + specimen.says + "; " + example);
  }
}

// ---- Mutations by site: what SK_SKIP and SK_LESS do ---------------------------------------------

// Operations whose absence no run of these kernels can show, each with its reason.
struct Redundant {
  const char* operation;
  const char* reason;
};
const Redundant kRedundant[] = {
    {"ClaimRegisters", "the emulator does not know how many registers a thread uses: ptxas does"},
};

bool IsRedundant(const std::string& operation) {
  return std::any_of(std::begin(kRedundant), std::end(kRedundant),
                     [&](const Redundant& each) { return each.operation == operation; });
}

bool IsWait(const std::string& operation) {
  return operation.find("Wait") != std::string::npos || operation == "SyncNamed";
}

std::vector<sk::emu::SiteUse> SitesOf(const Specimen& specimen) {
  sites_seen.clear();
  specimen.run({});
  return sites_seen;
}

// How many of the fixed seeds notice the mutation.
std::uint32_t CountCaught(const Specimen& specimen, const std::string& skip,
                          const std::string& less) {
  std::uint32_t caught = 0;
  for (std::uint64_t seed = 1; seed <= kBugSeeds; ++seed) {
    sk::emu::Options options;
    options.seed = seed;
    options.skip_site = skip;
    options.less_site = less;
    caught += specimen.run(options).empty() ? 0 : 1;
  }
  return caught;
}

SK_TEST(EverySiteOfTheSpecimensMatters) {
  for (const Specimen& specimen : kRight) {
    std::vector<sk::emu::SiteUse> sites = SitesOf(specimen);
    SK_EXPECT(sites.size() >= 6);
    for (const sk::emu::SiteUse& use : sites) {
      // An index that is moved may lead anywhere: mutate.py moves each in a process of its own.
      if (use.operation == "Index") continue;
      for (const bool is_less : {false, true}) {
        if (is_less && !IsWait(use.operation)) continue;
        const std::uint32_t caught =
            CountCaught(specimen, is_less ? "" : use.site, is_less ? use.site : "");
        const std::string line = std::string(specimen.name) + ", " + (is_less ? "less " : "skip ") +
                                 use.operation + " at " + use.site + ": " + std::to_string(caught);
        if (RunSettings().is_verbose) Print("  " + line);
        // A redundant operation that is caught after all does not belong in the list.
        if ((caught == 0) != IsRedundant(use.operation)) Fail(__FILE__, __LINE__, line);
      }
    }
  }
}

}  // namespace
}  // namespace cairn::test
