#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "kernels/sk/number_soft.h"
#include "kernels/sk/sk.h"
#include "kernels/test/harness.h"

// What the README says that the emulator does to a kernel, rule by rule, as far as no test of the
// scheduler (machine_test.cc) or of whole kernels (bug_suite_test.cc) holds it to that.

namespace cairn::test {
namespace {

std::uint32_t* Words() { return reinterpret_cast<std::uint32_t*>(sk::SharedMemory()); }

// ---- Memory and cp.async ------------------------------------------------------------------------

SK_TEST(SharedMemoryIsPoisonInEveryBlock) {
  const auto kernel = [] {
    for (std::uint32_t i = 0; i < 16; ++i) SK_EXPECT_EQ(Words()[i], 0xffffffffu);
    std::fill_n(Words(), 16, 0u);
  };
  SK_EXPECT_EQ(RunGrid({.blocks_x = 4, .threads = 1, .shared_bytes = 64}, 1, kernel), "");
}

SK_TEST(ACopysSourceIsReadWhenItArrives) {
  alignas(16) std::uint32_t source[4] = {1, 2, 3, 4};
  const auto kernel = [&] {
    sk::CopyAsync<16>(sk::ToShared(Words()), source);
    sk::CommitCopies();
    source[1] = 7;  // too soon
    sk::WaitCopies<0>();
    SK_EXPECT_EQ(Words()[0], 1u);
    SK_EXPECT_EQ(Words()[1], 7u);
  };
  SK_EXPECT_EQ(RunGrid({.threads = 1, .shared_bytes = 16}, 1, kernel), "");
}

SK_TEST(CopiesOfAGroupArriveInAnyOrder) {
  alignas(16) static const std::uint32_t sources[2][4] = {{1}, {2}};
  std::set<std::uint32_t> seen;
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    const auto kernel = [&] {
      const sk::SharedAddress target = sk::ToShared(Words());
      sk::CopyAsync<16>(target, sources[0]);
      sk::CopyAsync<16>(target, sources[1]);
      sk::CommitCopies();
      sk::WaitCopies<0>();
      seen.insert(Words()[0]);
    };
    SK_EXPECT_EQ(RunGrid({.threads = 1, .shared_bytes = 16}, seed, kernel), "");
  }
  SK_EXPECT(seen == (std::set<std::uint32_t>{1, 2}));
}

SK_TEST(ACopysSizeAndSourceAreChecked) {
  alignas(16) static const std::uint32_t source[8] = {};
  const auto says = [](auto kernel, const char* what) {
    SK_EXPECT_CONTAINS(
        RunGrid({.threads = 1, .shared_bytes = 128}, 1, [=] { kernel(sk::ToShared(Words())); }),
        what);
  };
  const auto* const odd = reinterpret_cast<const std::byte*>(source) + 8;
  says([=](sk::SharedAddress to) { sk::CopyAsync<16>(to, odd); }, "not a multiple of 16");
  says([](sk::SharedAddress to) { sk::CopyAsyncZeroFill<8>(to, source, 12); },
       "12 source bytes of 8");
  static std::uint32_t target[8] = {};
  says([](sk::SharedAddress to) { sk::BulkStore(target, to, 24); }, "size (24)");
  says([](sk::SharedAddress to) { sk::BulkStore(target + 1, to, 16); }, "target must be multiples");
  const auto load = [=](const void* from, std::uint32_t bytes) {
    return [=](sk::SharedAddress to) {
      sk::MbarrierInit(to + 64, 1);
      sk::FenceMbarrierInit();
      sk::BulkLoad(to, from, bytes, to + 64);
    };
  };
  says(load(source, 24), "size (24)");
  says(load(source, 0), "size (0)");
  says(load(odd, 16), "source must be multiples");
}

SK_TEST(PiecesThatAreNotAlignedAreErrors) {
  SK_EXPECT_CONTAINS(
      RunGrid({.threads = 1, .shared_bytes = 64}, 1, [] { sk::Load16(Words() + 1); }),
      "a pointer is not a multiple of 16");
  SK_EXPECT_CONTAINS(
      RunGrid({.threads = 1, .shared_bytes = 64}, 1, [] { sk::Store16(Words() + 2, {}); }),
      "a pointer is not a multiple of 16");
}

// ---- Proxies and bulk copies --------------------------------------------------------------------

SK_TEST(WhatCopyAsyncBroughtReachesTheAsyncProxyByAFence) {
  alignas(16) static const std::uint32_t source[4] = {1, 2, 3, 4};
  for (const bool fences : {true, false}) {
    alignas(16) std::uint32_t target[4] = {};
    const auto kernel = [&] {
      const sk::SharedAddress shared = sk::ToShared(Words());
      sk::CopyAsync<16>(shared, source);
      sk::CommitCopies();
      sk::WaitCopies<0>();
      if (fences) sk::FenceProxyAsync();
      sk::BulkStore(target, shared, 16);
      sk::CommitBulk();
      sk::WaitBulk<0>();
    };
    SK_EXPECT_EQ(RunGrid({.threads = 1, .shared_bytes = 16}, 1, kernel), "");
    SK_EXPECT_EQ(target[3], fences ? 4u : 0xffffffffu);
  }
}

SK_TEST(ABulkStoresTargetIsPoisonUntilItIsWaitedFor) {
  alignas(16) std::uint32_t target[4] = {};
  const auto kernel = [&] {
    std::fill_n(Words(), 4, 5u);
    sk::FenceProxyAsync();
    sk::BulkStore(target, sk::ToShared(Words()), 16);
    sk::CommitBulk();
    SK_EXPECT_EQ(target[0], 0xffffffffu);
    sk::WaitBulkRead<0>();
    SK_EXPECT_EQ(target[0], 0xffffffffu);  // its source was read: no more than that
    std::fill_n(Words(), 4, 6u);
    sk::FenceProxyAsync();
    sk::WaitBulk<0>();
    SK_EXPECT_EQ(target[0], 5u);
  };
  SK_EXPECT_EQ(RunGrid({.threads = 1, .shared_bytes = 16}, 1, kernel), "");
}

SK_TEST(BulkStoresArriveInAnyOrder) {
  std::set<std::uint32_t> seen;
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    alignas(16) std::uint32_t target[4] = {};
    const auto kernel = [&] {
      for (std::uint32_t i = 0; i < 8; ++i) Words()[i] = i / 4;
      sk::FenceProxyAsync();
      sk::BulkStore(target, sk::ToShared(Words()), 16);
      sk::BulkStore(target, sk::ToShared(Words() + 4), 16);
      sk::CommitBulk();
      sk::WaitBulk<0>();
    };
    SK_EXPECT_EQ(RunGrid({.threads = 1, .shared_bytes = 32}, seed, kernel), "");
    seen.insert(target[0]);
  }
  SK_EXPECT(seen == (std::set<std::uint32_t>{0, 1}));
}

// Its target is poison in both proxies from the issue on, until it arrives: at the wait or before.
SK_TEST(ABulkLoadArrivesAtAnyTimeUpToTheWait) {
  alignas(16) static const std::uint32_t source[4] = {7, 7, 7, 7};
  std::set<std::uint32_t> generic, async;
  for (std::uint64_t seed = 1; seed <= 64; ++seed) {
    alignas(16) std::uint32_t target[4] = {};
    const auto kernel = [&] {
      const sk::SharedAddress shared = sk::ToShared(Words()), mbarrier = shared + 16;
      std::fill_n(Words(), 4, 3u);
      sk::MbarrierInit(mbarrier, 1);
      sk::FenceProxyAsync();  // of the mbarrier, too
      sk::MbarrierArriveExpect(mbarrier, 16);
      sk::BulkLoad(shared, source, 16, mbarrier);
      for (int i = 0; i < 64; ++i) sk::WaitCopies<0>();  // time passes
      generic.insert(Words()[0]);
      sk::BulkStore(target, shared, 16);
      sk::CommitBulk();
      sk::WaitBulkRead<0>();
      sk::MbarrierWait(mbarrier, 0);
      SK_EXPECT_EQ(Words()[0], 7u);
    };
    SK_EXPECT_EQ(RunGrid({.threads = 1, .shared_bytes = 32}, seed, kernel), "");
    async.insert(target[0]);
  }
  SK_EXPECT(generic == (std::set<std::uint32_t>{7, 0xffffffff}));
  SK_EXPECT(async == (std::set<std::uint32_t>{7, 0xffffffff}));
}

SK_TEST(BulkLoadsMustNotMeet) {
  alignas(16) static const std::uint32_t source[8] = {};
  const auto kernel = [] {
    const sk::SharedAddress shared = sk::ToShared(Words()), mbarrier = shared + 48;
    sk::MbarrierInit(mbarrier, 1);
    sk::FenceMbarrierInit();
    sk::MbarrierArriveExpect(mbarrier, 64);
    sk::BulkLoad(shared, source, 32, mbarrier);
    sk::BulkLoad(shared + 16, source, 32, mbarrier);
  };
  // Unless the first has arrived by then.
  std::uint32_t refused = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const std::string error = RunGrid({.threads = 1, .shared_bytes = 64}, seed, kernel);
    refused += error.find("into the same bytes is under way") != std::string::npos ? 1 : 0;
  }
  SK_EXPECT(refused > 0);
}

// ---- mbarriers ----------------------------------------------------------------------------------

SK_TEST(WhoSleepsThroughAPhaseMissesIt) {
  // Warp 1 ends two phases: warp 0 looks at the mbarrier in between, or waits for ever, whether it
  // slept or had not come yet.
  const auto run = [](int before, int between, std::uint64_t seed) {
    return RunGrid({.threads = 64, .shared_bytes = 8}, seed, [=] {
      const sk::SharedAddress mbarrier = sk::ToShared(Words());
      if (sk::ThreadIndex() == 0) sk::MbarrierInit(mbarrier, 1);
      sk::SyncBlock();
      if (sk::LaneIndex() != 0) return;
      if (sk::WarpIndex() == 0) {
        sk::MbarrierWait(mbarrier, 0);
      } else {
        for (int i = 0; i < before; ++i) sk::WaitCopies<0>();  // others may run here
        sk::MbarrierArrive(mbarrier);
        for (int i = 0; i < between; ++i) sk::WaitCopies<0>();
        sk::MbarrierArrive(mbarrier);
      }
    });
  };
  std::uint32_t missed = 0, missed_with_time = 0;
  for (std::uint64_t seed = 1; seed <= 32; ++seed) {
    const auto misses = [](const std::string& error) {
      return error.find("wait in MbarrierWait") != std::string::npos ? 1 : 0;
    };
    missed += misses(run(64, 0, seed));
    missed_with_time += misses(run(0, 64, seed));
  }
  SK_EXPECT(missed >= 28);
  SK_EXPECT(missed_with_time > 0 && missed_with_time < 28);
}

SK_TEST(MbarriersCountNoMoreThanTheyWereMadeFor) {
  const auto run = [](auto kernel) {
    return RunGrid({.threads = 1, .shared_bytes = 16}, 1, [=] {
      const sk::SharedAddress mbarrier = sk::ToShared(Words());
      sk::MbarrierInit(mbarrier, 2);
      kernel(mbarrier);
    });
  };
  SK_EXPECT_CONTAINS(run([](sk::SharedAddress mbarrier) { sk::MbarrierInit(mbarrier, 1); }),
                     "there is an mbarrier already");
  SK_EXPECT_CONTAINS(run([](sk::SharedAddress mbarrier) { sk::MbarrierInit(mbarrier + 8, 0); }),
                     "0 arrivals");
  SK_EXPECT_CONTAINS(run([](sk::SharedAddress mbarrier) { sk::MbarrierArrive(mbarrier + 8); }),
                     "there is no mbarrier");
  SK_EXPECT_CONTAINS(
      run([](sk::SharedAddress mbarrier) { sk::MbarrierArriveExpect(mbarrier, 1 << 20); }),
      "2^20 - 1 bytes at most");
  // Both arrivals are made, and bytes are missing: a third is one too many.
  SK_EXPECT_CONTAINS(run([](sk::SharedAddress mbarrier) {
                       sk::MbarrierArriveExpect(mbarrier, 16);
                       sk::MbarrierArrive(mbarrier);
                       sk::MbarrierArrive(mbarrier);
                     }),
                     "one arrival more than the 2");
}

// ---- Barriers and blocks ------------------------------------------------------------------------

SK_TEST(AThreadThatHasLeftNeverArrivesAtTheBlocksBarrier) {
  const auto kernel = [] {
    if (sk::WarpIndex() == 1) return;
    sk::SyncBlock();
  };
  const std::string error = RunGrid({.threads = 96}, 5, kernel);
  SK_EXPECT_CONTAINS(error, "deadlock in block 0,0,0, seed 5");
  SK_EXPECT_CONTAINS(error, "wait in SyncBlock");
  SK_EXPECT_CONTAINS(error, "warp 1 (32 lanes) have left the kernel");
  SK_EXPECT_CONTAINS(error, "barrier 0: 64 of 96 threads have arrived");
}

SK_TEST(BlocksThatWaitForEachOtherAreADeadlock) {
  std::uint32_t is_here[2] = {};
  const auto kernel = [&] {
    sk::AtomicExchange(is_here + sk::BlockIndexX(), 1u);
    while (sk::AtomicAdd(is_here + 1 - sk::BlockIndexX(), 0u) == 0) sk::Pause();
  };
  SK_EXPECT_CONTAINS(RunGrid({.blocks_x = 2, .threads = 1}, 1, kernel), "wait in Pause");
}

// ---- wgmma --------------------------------------------------------------------------------------

// Between issue and wait a product reads its tile at any time: one that is filled meanwhile may be
// too late, and one that is overwritten too early.
SK_TEST(AProductReadsItsTilesAtOnceOrAtTheWait) {
  std::uint32_t early = 0, late = 0;
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    const auto kernel = [&] {
      auto* values = reinterpret_cast<std::uint16_t*>(sk::SharedMemory());
      const auto fill = [&](float x) {
        std::fill_n(values, 1280, sk::soft::RoundBf16(x));
        sk::FenceProxyAsync();
        sk::SyncBlock();
      };
      fill(1.0f);
      const sk::MatrixDescriptor a =
          sk::Describe({.start = sk::ToShared(values), .leading_bytes = 128, .stride_bytes = 256});
      float d[4] = {};
      sk::WgmmaFence();
      sk::Wgmma<8, sk::InputType::kBf16, sk::Major::kK, sk::Major::kK>(d, a, a, true);
      sk::WgmmaCommit();
      fill(2.0f);
      sk::WgmmaWait<0>();
      SK_EXPECT(d[0] >= 16.0f && d[0] <= 64.0f);
      early += d[0] == 16.0f ? 1 : 0;
      late += d[0] == 64.0f ? 1 : 0;
    };
    SK_EXPECT_EQ(RunGrid({.threads = 128, .shared_bytes = 2560}, seed, kernel), "");
  }
  SK_EXPECT(early > 0 && late > 0);
}

SK_TEST(AWarpgroupIs128ThreadsOfOneMind) {
  const auto multiply = [](std::uint32_t threads, std::uint32_t apart, bool overlaps) {
    return RunGrid({.threads = threads, .shared_bytes = 8192}, 1, [=] {
      std::fill_n(Words(), 2048, 0u);
      sk::FenceProxyAsync();
      sk::SyncBlock();
      const sk::MatrixDescriptor a =
          sk::Describe({.start = sk::ToShared(Words()), .leading_bytes = 128, .stride_bytes = 256});
      const std::uint32_t shift = sk::LaneIndex() == 7 ? apart : 0;
      float d[8] = {};
      sk::WgmmaFence();
      sk::Wgmma<8, sk::InputType::kBf16, sk::Major::kK, sk::Major::kK>(
          *reinterpret_cast<float(*)[4]>(d), a, sk::Advance(a, shift), true);
      if (overlaps) {
        sk::Wgmma<8, sk::InputType::kBf16, sk::Major::kK, sk::Major::kK>(
            *reinterpret_cast<float(*)[4]>(d + 2), a, a, true);
      }
      sk::WgmmaCommit();
      sk::WgmmaWait<0>();
      for (int i = 0; i < 4; ++i) SK_EXPECT_EQ(d[i], 0.0f);
    });
  };
  SK_EXPECT_EQ(multiply(128, 0, false), "");
  SK_EXPECT_CONTAINS(multiply(96, 0, false), "a warpgroup is 128 threads");
  SK_EXPECT_CONTAINS(multiply(128, 16, false), "the lanes of a warp give different operands");
  SK_EXPECT_CONTAINS(multiply(128, 0, true), "accumulators are part of others");
}

}  // namespace
}  // namespace cairn::test
