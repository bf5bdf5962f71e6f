#include "kernels/sk/emu/machine.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "kernels/sk/sk.h"
#include "kernels/test/harness.h"

// The scheduler, barriers of a block, registers, addresses, and what reports say.

namespace cairn::test {
namespace {

// The order in which 8 warps pass a point: a schedule's finger print.
std::vector<std::uint32_t> OrderOfWarps(std::uint64_t seed) {
  std::vector<std::uint32_t> order;
  const auto kernel = [&] {
    for (int i = 0; i < 4; ++i) {
      if (sk::LaneIndex() == 0) order.push_back(sk::WarpIndex());
      sk::SyncWarp();
      sk::SyncBlock();
    }
  };
  SK_EXPECT_EQ(RunGrid({.threads = 256}, seed, kernel), "");
  return order;
}

SK_TEST(OneSeedIsOneSchedule) {
  std::vector<std::vector<std::uint32_t>> orders;
  for (const std::uint64_t seed : Seeds(16)) {
    orders.push_back(OrderOfWarps(seed));
    SK_EXPECT(orders.back() == OrderOfWarps(seed));
  }
  std::sort(orders.begin(), orders.end());
  const auto different = std::unique(orders.begin(), orders.end()) - orders.begin();
  SK_EXPECT(2 * static_cast<std::size_t>(different) > orders.size());
}

// Schedules are of many kinds: a warp of higher priority always first, or all alike ...
SK_TEST(WarpsComeByPriorityOrEvenly) {
  std::uint32_t steady = 0;
  for (std::uint64_t seed = 1; seed <= 32; ++seed) {
    const std::vector<std::uint32_t> order = OrderOfWarps(seed);  // four rounds of 8
    std::uint32_t places[8] = {};
    for (std::uint32_t i = 0; i < 8; ++i) places[order[i]] = i;
    // Whether the order of the first round is that of the others, but for a round's first: the one
    // who was the last at the barrier goes on.
    bool is_steady = true;
    for (std::size_t i = 10; i < order.size(); ++i) {
      if (i % 8 > 1) is_steady = is_steady && places[order[i]] > places[order[i - 1]];
    }
    steady += is_steady ? 1 : 0;
  }
  if (RunSettings().is_verbose) Print("  " + std::to_string(steady) + " of 32 by priority");
  SK_EXPECT(steady > 4 && steady < 28);
}

// ... lanes from any on, up or down; warps in one go, or changing at every chance.
SK_TEST(LanesComeInBothDirectionsAndWarpsRunAheadOrInterleave) {
  std::vector<bool> is_first(32, false);
  std::uint32_t ups = 0, downs = 0, apart = 0, mixed = 0;
  for (std::uint64_t seed = 1; seed <= 32; ++seed) {
    std::vector<std::uint32_t> threads;
    const auto kernel = [&] {
      threads.push_back(sk::ThreadIndex());
      sk::SyncBlock();
    };
    SK_EXPECT_EQ(RunGrid({.threads = 64}, seed, kernel), "");
    is_first[threads[0] % 32] = true;
    (threads[1] % 32 == (threads[0] + 1) % 32 ? ups : downs) += 1;
    std::uint32_t changes = 0;
    for (std::size_t i = 1; i < 64; ++i) changes += threads[i] / 32 != threads[i - 1] / 32 ? 1 : 0;
    (changes == 1 ? apart : mixed) += 1;
  }
  SK_EXPECT(std::count(is_first.begin(), is_first.end(), true) > 10);
  SK_EXPECT(ups > 4 && downs > 4);
  SK_EXPECT(apart > 4 && mixed > 2);
}

SK_TEST(EveryBlockRunsOnceInSomeOrder) {
  std::vector<std::uint32_t> order;
  const auto kernel = [&] {
    if (sk::ThreadIndex() != 0) return;
    SK_EXPECT_EQ(sk::BlockCountX() * sk::BlockCountY() * sk::BlockCountZ(), 60u);
    order.push_back((sk::BlockIndexZ() * 4 + sk::BlockIndexY()) * 3 + sk::BlockIndexX());
  };
  const sk::emu::Grid grid{.blocks_x = 3, .blocks_y = 4, .blocks_z = 5, .threads = 32};
  SK_EXPECT_EQ(RunGrid(grid, 1, kernel), "");
  SK_EXPECT(!std::is_sorted(order.begin(), order.end()));
  std::vector<std::uint32_t> all(60);
  std::iota(all.begin(), all.end(), 0u);
  std::sort(order.begin(), order.end());
  SK_EXPECT(order == all);
}

SK_TEST(NamedBarriersJoinWaitersAndArrivers) {
  const auto kernel = [] {
    auto* word = reinterpret_cast<std::uint32_t*>(sk::SharedMemory());
    // Warp 3 makes, warps 0 to 2 take; each side goes on when the other is done with the word.
    for (std::uint32_t i = 0; i < 5; ++i) {
      if (sk::WarpIndex() == 3) {
        if (sk::LaneIndex() == 0) *word = i;
        sk::ArriveNamed(1, 128);
        sk::SyncNamed(2, 128);
      } else {
        sk::SyncNamed(1, 128);
        SK_EXPECT_EQ(*word, i);
        sk::ArriveNamed(2, 128);
      }
    }
  };
  for (const std::uint64_t seed : Seeds(8)) {
    SK_EXPECT_EQ(RunGrid({.threads = 128, .shared_bytes = 4}, seed, kernel), "");
  }
}

SK_TEST(BarriersOfAnImpossibleSizeAreErrors) {
  SK_EXPECT_CONTAINS(RunGrid({.threads = 64}, 1, [] { sk::SyncNamed(1, 40); }),
                     "a barrier of 40 threads");
  SK_EXPECT_CONTAINS(RunGrid({.threads = 64}, 1, [] { sk::SyncNamed(1, 96); }),
                     "a barrier of 96 threads");
  SK_EXPECT_CONTAINS(RunGrid({.threads = 64}, 1, [] { sk::SyncNamed(16, 64); }), "there are 16");
  SK_EXPECT_CONTAINS(
      RunGrid({.threads = 64}, 1, [] { sk::ArriveNamed(1, sk::LaneIndex() < 16 ? 32 : 64); }),
      "others arrived at it");
  SK_EXPECT_CONTAINS(RunGrid({.threads = 64}, 1,
                             [] {
                               if (sk::WarpIndex() == 0) sk::ArriveNamed(1, 64);
                             }),
                     "32 of 64 threads have arrived");
}

SK_TEST(RegistersMoveOnlyAsHardwareWould) {
  const sk::emu::Grid grid{.threads = 256, .registers_per_thread = 128};
  const auto move = [](auto release, auto claim) {
    return [=] { sk::WarpIndex() < 4 ? release() : claim(); };
  };
  // 88 registers of a warp wait for 88 of another: legal, whoever comes first.
  for (const std::uint64_t seed : Seeds(8)) {
    SK_EXPECT_EQ(
        RunGrid(grid, seed,
                move([] { sk::ReleaseRegisters<40>(); }, [] { sk::ClaimRegisters<216>(); })),
        "");
  }
  SK_EXPECT_CONTAINS(
      RunGrid(grid, 1, move([] { sk::ReleaseRegisters<40>(); }, [] { sk::ClaimRegisters<224>(); })),
      "wait in ClaimRegisters");
  SK_EXPECT_CONTAINS(RunGrid(grid, 1, [] { sk::ReleaseRegisters<44>(); }), "a multiple of 8");
  SK_EXPECT_CONTAINS(RunGrid(grid, 1, [] { sk::ReleaseRegisters<16>(); }), "from 24 to 256");
  SK_EXPECT_CONTAINS(RunGrid(grid, 1, [] { sk::ReleaseRegisters<136>(); }), "other direction");
  SK_EXPECT_CONTAINS(RunGrid(grid, 1,
                             [] {
                               if (sk::WarpIndex() != 2) sk::ReleaseRegisters<40>();
                             }),
                     "one warpgroup did not do the same");
  SK_EXPECT_CONTAINS(RunGrid({.threads = 128}, 1, [] { sk::ReleaseRegisters<40>(); }),
                     "no registers_per_thread");
}

SK_TEST(TryWaitMayBePolled) {
  const auto kernel = [] {
    const sk::SharedAddress mbarrier = sk::ToShared(sk::SharedMemory());
    auto* word = reinterpret_cast<std::uint32_t*>(sk::SharedMemory() + 8);
    if (sk::ThreadIndex() == 0) sk::MbarrierInit(mbarrier, 32);
    sk::SyncBlock();
    if (sk::WarpIndex() == 0) {
      *word = 5;
      sk::MbarrierArrive(mbarrier);
    } else {
      while (!sk::MbarrierTryWait(mbarrier, 0)) sk::SyncWarp(1u << sk::LaneIndex());
      SK_EXPECT_EQ(*word, 5u);
    }
  };
  for (const std::uint64_t seed : Seeds(8)) {
    SK_EXPECT_EQ(RunGrid({.threads = 64, .shared_bytes = 16}, seed, kernel), "");
  }
}

SK_TEST(PollingForWhatNeverComesIsADeadlock) {
  const auto kernel = [] {
    const sk::SharedAddress mbarrier = sk::ToShared(sk::SharedMemory());
    if (sk::ThreadIndex() == 0) sk::MbarrierInit(mbarrier, 1);
    sk::SyncBlock();
    while (!sk::MbarrierTryWait(mbarrier, 0)) sk::SyncWarp();
  };
  SK_EXPECT_CONTAINS(RunGrid({.threads = 32, .shared_bytes = 8}, 1, kernel),
                     "phase 0, 1 of 1 arrivals and 0 bytes missing");
}

SK_TEST(SharedAddressesAreChecked) {
  const std::uint32_t words[4] = {1, 2, 3, 4};
  const auto copy_to = [&](std::uint32_t offset) {
    return RunGrid({.threads = 1, .shared_bytes = 64}, 1, [&] {
      sk::CopyAsync<16>(sk::ToShared(sk::SharedMemory()) + offset, words);
      sk::CommitCopies();
      sk::WaitCopies<0>();
    });
  };
  SK_EXPECT_EQ(copy_to(48), "");
  SK_EXPECT_CONTAINS(copy_to(64), "outside of 1024 to 1088");
  SK_EXPECT_CONTAINS(copy_to(56), "outside of");
  SK_EXPECT_CONTAINS(copy_to(8), "not a multiple of 16");
  SK_EXPECT_CONTAINS(RunGrid({.threads = 1, .shared_bytes = 64}, 1, [&] { sk::ToShared(words); }),
                     "not into shared memory");
}

SK_TEST(ZeroFillReadsOnlyWhatItIsTold) {
  const std::uint32_t words[4] = {1, 2, 3, 4};
  const auto kernel = [&] {
    auto* shared = reinterpret_cast<std::uint32_t*>(sk::SharedMemory());
    sk::CopyAsyncZeroFill<16>(sk::ToShared(shared), words, 8);
    sk::CopyAsyncZeroFill<16>(sk::ToShared(shared + 4), nullptr, 0);
    SK_EXPECT_EQ(shared[0], 0xffffffffu);  // on its way
    sk::CommitCopies();
    sk::WaitCopies<0>();
    SK_EXPECT_EQ(shared[0], 1u);
    SK_EXPECT_EQ(shared[1], 2u);
    for (int i = 2; i < 8; ++i) SK_EXPECT_EQ(shared[i], 0u);
  };
  SK_EXPECT_EQ(RunGrid({.threads = 1, .shared_bytes = 32}, 1, kernel), "");
}

SK_TEST(AStoreOverAnMbarrierIsNoticed) {
  const auto kernel = [] {
    auto* shared = reinterpret_cast<std::uint32_t*>(sk::SharedMemory());
    sk::MbarrierInit(sk::ToShared(shared), 1);
    shared[1] = 0;
    sk::MbarrierArrive(sk::ToShared(shared));
  };
  SK_EXPECT_CONTAINS(RunGrid({.threads = 1, .shared_bytes = 8}, 1, kernel),
                     "something was written over the mbarrier");
}

SK_TEST(UnorderedStoresUnderABulkLoadAreAnError) {
  alignas(16) static const std::uint32_t source[4] = {1, 2, 3, 4};
  const auto run = [](bool fences) {
    return RunGrid({.threads = 1, .shared_bytes = 32}, 1, [fences] {
      auto* shared = reinterpret_cast<std::uint32_t*>(sk::SharedMemory());
      const sk::SharedAddress mbarrier = sk::ToShared(shared + 4);
      sk::MbarrierInit(mbarrier, 1);
      sk::FenceMbarrierInit();
      shared[0] = 0;
      if (fences) sk::FenceProxyAsync();
      sk::MbarrierArriveExpect(mbarrier, 16);
      sk::BulkLoad(sk::ToShared(shared), source, 16, mbarrier);
      sk::MbarrierWait(mbarrier, 0);
      SK_EXPECT_EQ(shared[3], 4u);
      sk::MbarrierInvalidate(mbarrier);
    });
  };
  SK_EXPECT_EQ(run(true), "");
  SK_EXPECT_CONTAINS(run(false), "not ordered by FenceProxyAsync");
}

SK_TEST(ABlockMustNotEndBeforeItsBulkLoads) {
  alignas(16) static const std::uint32_t source[4] = {1, 2, 3, 4};
  const auto kernel = [] {
    const sk::SharedAddress shared = sk::ToShared(sk::SharedMemory());
    sk::MbarrierInit(shared + 16, 1);
    sk::FenceMbarrierInit();
    sk::MbarrierArriveExpect(shared + 16, 16);
    sk::BulkLoad(shared, source, 16, shared + 16);
  };
  SK_EXPECT_CONTAINS(RunGrid({.threads = 1, .shared_bytes = 32}, 2, kernel),
                     "1 bulk load into it are under way");
}

SK_TEST(LaunchesThatCannotBeAreRefused) {
  const auto nothing = [] {};
  SK_EXPECT_CONTAINS(RunGrid({.threads = 0}, 1, nothing), "1 to 1024");
  SK_EXPECT_CONTAINS(RunGrid({.threads = 1025}, 1, nothing), "1 to 1024");
  SK_EXPECT_CONTAINS(RunGrid({.threads = 32, .shared_bytes = 228 * 1024}, 1, nothing), "at most");
  SK_EXPECT_CONTAINS(RunGrid({.threads = 512, .registers_per_thread = 136}, 1, nothing), "65536");
  SK_EXPECT_CONTAINS(RunGrid({.blocks_x = 0, .threads = 32}, 1, nothing), "0 blocks");
}

SK_TEST(AtomicsReturnTheOldValue) {
  std::uint32_t sum = 0, most = 0;
  float total = 0;
  std::vector<std::uint32_t> tickets;
  const auto kernel = [&] {
    tickets.push_back(sk::AtomicAdd(&sum, 1u));
    sk::AtomicMax(&most, sk::BlockIndexX() * 32 + sk::ThreadIndex());
    sk::AtomicAdd(&total, 0.5f);
  };
  SK_EXPECT_EQ(RunGrid({.blocks_x = 4, .threads = 32}, 1, kernel), "");
  SK_EXPECT_EQ(sum, 128u);
  SK_EXPECT_EQ(most, 127u);
  SK_EXPECT_EQ(total, 64.0f);
  std::sort(tickets.begin(), tickets.end());
  for (std::uint32_t i = 0; i < tickets.size(); ++i) SK_EXPECT_EQ(tickets[i], i);
}

SK_TEST(SitesAreCountedByFileAndLine) {
  sk::emu::Machine machine({});
  const int line = __LINE__ + 1;
  SK_EXPECT_EQ(machine.Run({.blocks_x = 2, .threads = 64}, [] { sk::SyncBlock(); }), "");
  const std::vector<sk::emu::SiteUse> uses = machine.Sites();
  SK_EXPECT_EQ(uses.size(), 1u);
  SK_EXPECT_EQ(uses[0].site, "kernels/test/machine_test.cc:" + std::to_string(line));
  SK_EXPECT_EQ(uses[0].operation, "SyncBlock");
  SK_EXPECT_EQ(uses[0].count, 128u);
}

SK_TEST(AMutatedIndexIsOneOffAtItsSiteOnly) {
  const int line = __LINE__ + 3;
  std::uint32_t first = 0, second = 0;
  const auto kernel = [&] {
    first = sk::Index(7u);
    second = sk::Index(sk::ThreadIndex() + 9);
  };
  const std::string site = "machine_test.cc:" + std::to_string(line);
  const auto expect = [&](const sk::emu::Options& options, std::uint32_t wanted) {
    sk::emu::Machine machine(options);
    SK_EXPECT_EQ(machine.Run({.threads = 1}, kernel), "");
    SK_EXPECT_EQ(first, wanted);
    SK_EXPECT_EQ(second, 9u);
    SK_EXPECT_EQ(machine.Sites().size(), 2u);
    SK_EXPECT_EQ(machine.Sites()[0].operation, "Index");
  };
  expect({}, 7);
  expect({.up_site = site}, 8);
  expect({.down_site = site}, 6);
}

}  // namespace
}  // namespace cairn::test
