// Steps that are graphs: how many there are, and that they do what single launches do.
#include "tests/unit/device_cuda/cuda_device_fixture.h"
#include "tests/unit/device_host/prefix_run.h"

namespace cairn {
namespace {

TEST_P(CudaDeviceWayTest, GraphsHaveTheBitsOfSingleLaunches) {
  const auto ids = Ids(5, 40);
  const auto with = Make({.uses_graphs = true});
  const auto without = Make({.uses_graphs = false});
  const std::vector<float> expected = PrefixLogits(*without, ids, 40);
  // Shapes that come again, and memory that has grown in between.
  for (const std::size_t rows : {1u, 20u, 1u, 3u}) {
    EXPECT_TRUE(AreBitsEqual(expected, PrefixLogits(*with, ids, rows))) << "chunks of " << rows;
  }
}

// However long the lists are that they attend, and whichever blocks they are in: here a graph that
// was captured for one split of keys does two.
TEST_F(CudaDeviceTest, DecodingStepsOfABatchSizeAreOneGraph) {
  Load(AttentionWay::kTilesInPlace);
  const auto device = Make({});
  const auto ids = Ids(3, 270);
  const std::vector<float> whole = PrefixLogits(*device, ids, 270);
  EXPECT_EQ(device->graphs_captured(), 0u);
  EXPECT_TRUE(AreBitsEqual(whole, PrefixLogits(*device, ids, 6)));  // room for all that follows
  const std::uint64_t captured = device->graphs_captured();
  EXPECT_TRUE(AreBitsEqual(whole, PrefixLogits(*device, ids, 1)));
  EXPECT_EQ(device->graphs_captured(), captured + 1);
  PrefixLogits(*device, Ids(6, 50), 5);
  PrefixLogits(*device, Ids(7, 60), 1);
  EXPECT_EQ(device->graphs_captured(), captured + 1);
}

// In steps that are graphs and in steps that are not.
TEST_F(CudaDeviceTest, TokensAreThoseOfTheHighestLogits) {
  Load(AttentionWay::kTilesInPlace);
  const auto device = Make({});
  ExpectTokensOfHighestLogits(*device, {Ids(1, 5), Ids(2, 3), Ids(3, 8), Ids(4, 2), Ids(5, 1)});
  EXPECT_GT(device->graphs_captured(), 0u);
  ExpectTokensOfHighestLogits(*device, {Ids(6, 20), Ids(7, 30), Ids(8, 9), Ids(9, 3), Ids(10, 2)});
  ExpectTokensOfHighestLogits(*device, {Ids(11, 6)});
}

}  // namespace
}  // namespace cairn
