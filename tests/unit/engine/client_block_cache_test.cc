#include "libs/engine/client_block_cache.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "libs/copier_manual/manual_copier.h"
#include "libs/loop_manual/manual_world.h"

namespace cairn {
namespace {

// Over a client that is never started: it has no session, so each call is answered at once.
class ClientBlockCacheTest : public ::testing::Test {
 protected:
  static ClientOptions Options() {
    ClientOptions options;
    options.tokens = [](auto) {};
    return options;
  }

  ManualWorld world_{{.seed = 1}};
  ManualLoop& loop_ = world_.AddLoop({.name = "worker"});
  ManualCopier copier_{loop_, {.seed = 5}};
  CacheClient client_{
      {.loop = loop_,
       .copier = copier_,
       .transports = [](auto, auto&) { return absl::UnavailableError("as bidden"); },
       .remote_address = "127.0.0.1:1"},
      Options()};
  ClientBlockCache cache_{{}, client_, loop_};
  std::vector<std::byte> bytes_ = std::vector<std::byte>(64);
};

TEST_F(ClientBlockCacheTest, AnOfferOfNothingIsDoneToo) {
  int done = 0;
  cache_.Offer({}, [&] { ++done; });
  EXPECT_EQ(done, 0);  // never inside the call
  EXPECT_TRUE(world_.RunUntil([&] { return done > 0; }, absl::Seconds(1)));
  EXPECT_EQ(client_.stats().blocks_offered, 0u);
}

TEST_F(ClientBlockCacheTest, AnOfferIsDoneOnceWhenItsLastBlockIs) {
  int done = 0;
  cache_.Offer({{.bytes = bytes_}, {.bytes = bytes_}}, [&] { ++done; });
  EXPECT_TRUE(
      world_.RunUntil([&] { return client_.stats().of(OfferResult::kOffline) == 2 && done > 0; },
                      absl::Seconds(1)));
  EXPECT_EQ(done, 1);
}

TEST_F(ClientBlockCacheTest, ALookupWithoutASessionMisses) {
  for (const std::size_t keys : {0, 3}) {
    bool is_done = false;
    cache_.Acquire({.keys = std::vector<Key>(keys)}, [&](AcquiredBlocks answer) {
      EXPECT_TRUE(answer.hits.empty());
      EXPECT_EQ(answer.lease, nullptr);
      is_done = true;
    });
    EXPECT_TRUE(world_.RunUntil([&] { return is_done; }, absl::Seconds(1)));
  }
}

TEST_F(ClientBlockCacheTest, WithoutASessionItTakesNoOffers) {
  EXPECT_FALSE(cache_.takes_offers());
}

}  // namespace
}  // namespace cairn
