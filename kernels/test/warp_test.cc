#include "kernels/sk/warp.h"

#include <set>
#include <vector>

#include "kernels/sk/sk.h"
#include "kernels/test/harness.h"

namespace cairn::test {
namespace {

std::uint32_t* SharedWords() { return reinterpret_cast<std::uint32_t*>(sk::SharedMemory()); }

SK_TEST(ShufflesBringTheValueOfTheNamedLane) {
  const auto kernel = [] {
    const std::uint32_t lane = sk::LaneIndex();
    SK_EXPECT_EQ(sk::ShuffleXor(lane * 3, 5), (lane ^ 5) * 3);
    SK_EXPECT_EQ(sk::ShuffleXor(0.5f * static_cast<float>(lane), 16),
                 0.5f * static_cast<float>(lane ^ 16));
    SK_EXPECT_EQ(sk::Shuffle(lane + 1, 31 - lane), 32 - lane);
    SK_EXPECT_EQ(sk::ShuffleUp(lane, 3), lane < 3 ? lane : lane - 3);
    SK_EXPECT_EQ(sk::ShuffleDown(lane, 3), lane > 28 ? lane : lane + 3);
  };
  for (const std::uint64_t seed : Seeds(4))
    SK_EXPECT_EQ(RunGrid({.threads = 64}, seed, kernel), "");
}

SK_TEST(VotesAndReductionsSeeAllLanesOfTheMask) {
  const auto kernel = [] {
    const std::uint32_t lane = sk::LaneIndex();
    SK_EXPECT_EQ(sk::Ballot(lane % 3 == 0), 0x49249249u);
    SK_EXPECT_EQ(sk::ReduceAdd(lane), 496u);
    SK_EXPECT_EQ(sk::ReduceMax(lane ^ 7), 31u);
    SK_EXPECT_EQ(sk::ReduceMin(lane + 4), 4u);
    std::uint32_t elected = sk::Ballot(sk::ElectOne());
    SK_EXPECT(elected != 0 && (elected & (elected - 1)) == 0);
    // Half warps meet on their own, in two branches of one program.
    const std::uint32_t half = lane < 16 ? 0xffffu : 0xffff0000u;
    SK_EXPECT_EQ(sk::ReduceAdd(1, half), 16u);
    SK_EXPECT_EQ(sk::Ballot(lane % 2 == 0, half), half & 0x55555555u);
  };
  for (const std::uint64_t seed : Seeds(4))
    SK_EXPECT_EQ(RunGrid({.threads = 96}, seed, kernel), "");
}

// A lane that reads what another one wrote needs SyncWarp: without it, some order shows.
SK_TEST(AMissingSyncWarpIsSeenByRandomLaneOrder) {
  const auto run = [](bool syncs, std::uint64_t seed) {
    std::uint32_t wrong = 0;
    const auto kernel = [&] {
      auto* words = reinterpret_cast<std::uint32_t*>(sk::SharedMemory());
      words[sk::LaneIndex()] = sk::LaneIndex();
      if (syncs) sk::SyncWarp();
      wrong += words[(sk::LaneIndex() + 1) % 32] != (sk::LaneIndex() + 1) % 32 ? 1 : 0;
    };
    SK_EXPECT_EQ(RunGrid({.threads = 32, .shared_bytes = 128}, seed, kernel), "");
    return wrong;
  };
  for (const std::uint64_t seed : Seeds(8)) {
    SK_EXPECT_EQ(run(true, seed), 0u);
    SK_EXPECT(run(false, seed) > 0);
  }
}

SK_TEST(LanesThatMeetInDifferentPlacesAreAnError) {
  const auto kernel = [] {
    if (sk::LaneIndex() < 16) {
      sk::Ballot(true);
    } else {
      sk::Ballot(false);  // another site: not the same instruction
    }
  };
  SK_EXPECT_CONTAINS(RunGrid({.threads = 32}, 1, kernel), "lanes that should meet are apart");
}

SK_TEST(AMaskThatDoesNotNameTheCallerIsAnError) {
  const auto kernel = [] { sk::SyncWarp(0xffff); };
  SK_EXPECT_CONTAINS(RunGrid({.threads = 32}, 1, kernel), "the mask does not name the lane");
}

SK_TEST(ALaneThatNeverComesIsADeadlock) {
  const auto kernel = [] {
    if (sk::LaneIndex() != 7) sk::SyncWarp();
  };
  const std::string error = RunGrid({.threads = 32}, 3, kernel);
  SK_EXPECT_CONTAINS(error, "deadlock in block 0,0,0, seed 3");
  SK_EXPECT_CONTAINS(error, "warp 0 (31 lanes) wait in SyncWarp at kernels/test/warp_test.cc:");
  SK_EXPECT_CONTAINS(error, "warp 0 (1 lane) have left the kernel");
}

// ldmatrix reads a lane's row when that lane arrives.
SK_TEST(AMissingSyncWarpShowsBeforeLoadMatrix) {
  const auto run = [](bool syncs, std::uint64_t seed) {
    std::uint32_t wrong = 0;
    const auto kernel = [&] {
      const std::uint32_t lane = sk::LaneIndex();
      SharedWords()[31 - lane] = 31 - lane;  // 4 words a row
      if (syncs) sk::SyncWarp();
      std::uint32_t pair[1];
      sk::LoadMatrix<1>(pair, sk::ToShared(SharedWords()) + lane % 8 * 16);
      wrong += pair[0] != lane ? 1 : 0;
    };
    SK_EXPECT_EQ(RunGrid({.threads = 32, .shared_bytes = 128}, seed, kernel), "");
    return wrong;
  };
  for (const std::uint64_t seed : Seeds(8)) {
    SK_EXPECT_EQ(run(true, seed), 0u);
    SK_EXPECT(run(false, seed) > 0);
  }
}

// stmatrix writes a lane's row when that lane goes on.
SK_TEST(AMissingSyncWarpShowsBehindStoreMatrix) {
  const auto run = [](bool syncs, std::uint64_t seed) {
    std::uint32_t wrong = 0;
    const auto kernel = [&] {
      const std::uint32_t lane = sk::LaneIndex();
      const std::uint32_t pair[1] = {lane};
      sk::StoreMatrix<1>(sk::ToShared(SharedWords()) + lane % 8 * 16, pair);
      if (syncs) sk::SyncWarp();
      wrong += SharedWords()[31 - lane] != 31 - lane ? 1 : 0;
    };
    SK_EXPECT_EQ(RunGrid({.threads = 32, .shared_bytes = 128}, seed, kernel), "");
    return wrong;
  };
  std::uint32_t shown = 0;
  for (const std::uint64_t seed : Seeds(8)) {
    SK_EXPECT_EQ(run(true, seed), 0u);
    shown += run(false, seed) > 0 ? 1 : 0;
  }
  SK_EXPECT(shown > 0);
}

SK_TEST(ALaneOutsideOfTheMaskGivesPoison) {
  const auto kernel = [] {
    if (sk::LaneIndex() >= 16) return;
    const std::uint32_t inside = sk::Shuffle(sk::LaneIndex() + 3, 5, 0xffff);
    const std::uint32_t outside = sk::Shuffle(sk::LaneIndex() + 3, 20, 0xffff);
    SK_EXPECT_EQ(inside, 8u);
    SK_EXPECT_EQ(outside, 0xffffffffu);
  };
  SK_EXPECT_EQ(RunGrid({.threads = 32}, 1, kernel), "");
}

SK_TEST(LanesOfDifferentMasksOrOperationsAreApart) {
  SK_EXPECT_CONTAINS(
      RunGrid({.threads = 32}, 1, [] { sk::Ballot(true, sk::LaneIndex() < 16 ? 0xffff : ~0u); }),
      "lanes that should meet are apart");
  SK_EXPECT_CONTAINS(RunGrid({.threads = 32}, 1,
                             [] {
                               if (sk::LaneIndex() < 16) {
                                 sk::SyncWarp();
                               } else {
                                 sk::Ballot(true);
                               }
                             }),
                     "lanes that should meet are apart");
}

SK_TEST(AnyLaneMayBeElected) {
  std::set<std::uint32_t> elected;
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    const auto kernel = [&] {
      if (sk::ElectOne()) elected.insert(sk::LaneIndex());
    };
    SK_EXPECT_EQ(RunGrid({.threads = 32}, seed, kernel), "");
  }
  SK_EXPECT(elected.size() > 4);
}

}  // namespace
}  // namespace cairn::test
