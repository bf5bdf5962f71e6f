// The arena behind a client's hits: one object as long as it is held, and a call when it is lost.
#include "libs/engine/client_block_cache.h"
#include "tests/unit/client/acquire_world.h"

namespace cairn {
namespace {

class ClientArenaTest : public AcquireWorld {
 protected:
  void SetUp() override {
    UpLocal();
    cache_ = std::make_unique<ClientBlockCache>(ClientBlockCache::Options{}, *client_, loop_);
    cache_->SetOnArenaLost([this] { ++told_; });
  }
  // One hit, in `slot`.
  AcquiredBlocks Hit(std::uint32_t slot) {
    std::optional<AcquiredBlocks> found;
    cache_->Acquire({.keys = Keys(1)}, [&](AcquiredBlocks blocks) { found = std::move(blocks); });
    const wire::Descriptor hit = node_->Fill(0, SlotAt(slot), 'a');
    Reply(Asked(), {hit});
    EXPECT_TRUE(world_.RunUntil([&] { return found.has_value(); }, absl::Seconds(5)));
    EXPECT_EQ(found->hits.size(), 1u);
    return *std::move(found);
  }
  void LoseSession() {
    CrashNode();
    EXPECT_TRUE(world_.RunUntil([&] { return !client_->has_session(); }, absl::Seconds(30)));
  }

  std::unique_ptr<ClientBlockCache> cache_;
  int told_ = 0;
};

TEST_F(ClientArenaTest, HitsOfOneSessionComeFromOneArena) {
  const AcquiredBlocks first = Hit(0), second = Hit(3);
  ASSERT_NE(first.arena, nullptr);
  EXPECT_EQ(first.arena, second.arena);
  EXPECT_FALSE(first.arena->is_lost());
  for (const AcquiredBlocks* blocks : {&first, &second}) {
    const std::byte* bytes = blocks->hits[0].block.bytes;
    int pieces_with_it = 0;
    for (const absl::Span<const std::byte> piece : first.arena->pieces()) {
      pieces_with_it += bytes >= piece.data() && bytes + kBlock <= piece.data() + piece.size();
    }
    EXPECT_EQ(pieces_with_it, 1);
  }
}

TEST_F(ClientArenaTest, ItsLossIsToldOnce) {
  const AcquiredBlocks found = Hit(0);
  LoseSession();
  EXPECT_EQ(told_, 1);
  EXPECT_TRUE(found.arena->is_lost());
  // The next node's is another one.
  NewNode();
  node_->Listen("");
  ASSERT_TRUE(RunUntilUp());
  seen_ = 0;
  const AcquiredBlocks next = Hit(1);
  EXPECT_NE(next.arena, found.arena);
  EXPECT_FALSE(next.arena->is_lost());
  LoseSession();
  EXPECT_EQ(told_, 2);
}

TEST_F(ClientArenaTest, NobodyIsToldWhoDoesNotWantToBe) {
  const AcquiredBlocks found = Hit(0);
  cache_->SetOnArenaLost(nullptr);
  LoseSession();
  EXPECT_EQ(told_, 0);
}

TEST_F(ClientArenaTest, ACacheThatIsGoneIsNotTold) {
  AcquiredBlocks found = Hit(0);
  cache_.reset();
  LoseSession();
  EXPECT_EQ(told_, 0);
  EXPECT_TRUE(found.arena->is_lost());
}

// What holds the view keeps the memory mapped; nothing else of it does.
TEST_F(ClientArenaTest, AViewThatIsHeldCanBeRead) {
  std::shared_ptr<const ArenaView> arena;
  const std::byte* bytes = nullptr;
  {
    AcquiredBlocks found = Hit(0);
    arena = found.arena;
    bytes = found.hits[0].block.bytes;
  }
  LoseSession();
  EXPECT_EQ(bytes[kBlock - 1], std::byte{'a'});
}

}  // namespace
}  // namespace cairn
