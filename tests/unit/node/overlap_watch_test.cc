#include "libs/node/overlap_watch.h"

#include <gtest/gtest.h>

#include "tests/unit/node/node_world.h"

namespace cairn {
namespace {

class RecordingSink : public OverlapSink {
 public:
  void Report(const Overlap& overlap) override { reported.push_back(overlap); }
  std::vector<Overlap> reported;
};

class OverlapWatchTest : public NodeWorld {
 protected:
  void StartWatchingNode() {
    overlaps_ = &sink_;
    StartNode();
  }
  // The prompt whose blocks have the keys first .. first + count - 1, and then `last`.
  wire::Acquire PromptOf(int first, int count, int last) {
    wire::Acquire acquire = AcquireOf(first, count);
    acquire.keys.push_back(KeyOf(last));
    acquire.kinds.push_back(EntryKind::kKvBlock);
    for (std::size_t i = 0; i < acquire.keys.size(); ++i) {
      acquire.ends.push_back(static_cast<std::uint32_t>(i + 1) * kBlockTokens);
    }
    acquire.prompt_tokens = acquire.ends.back();
    return acquire;
  }
  std::uint64_t OverlapsTold() { return NodeStatusNow().stats.front.overlaps; }

  RecordingSink sink_;
};
INSTANTIATE_TEST_SUITE_P(Shards, OverlapWatchTest, testing::Values(1, 4));

TEST_P(OverlapWatchTest, TellsWherePromptsPartWhateverIsStored) {
  StartWatchingNode();
  auto peer = LocalWithSession();
  const wire::Acquired first = Acquire(*peer.peer, PromptOf(0, 8, 100));
  EXPECT_NE(first.family, 0u);
  EXPECT_EQ(first.overlap_depth, 0u);
  auto other = LocalWithSession();
  const wire::Acquired second = Acquire(*other.peer, PromptOf(0, 8, 200));
  EXPECT_EQ(second.family, first.family);
  EXPECT_EQ(second.overlap_depth, 8 * kBlockTokens);
  EXPECT_TRUE(second.hits.empty());
  ASSERT_EQ(sink_.reported.size(), 2u);
  EXPECT_EQ(sink_.reported[0].depth, 0u);
  EXPECT_EQ(sink_.reported[1].family, first.family);
  EXPECT_EQ(sink_.reported[1].entry, sink_.reported[0].request_entry);
  EXPECT_EQ(sink_.reported[1].depth, 8 * kBlockTokens);
  EXPECT_EQ(sink_.reported[1].request_length, 9 * kBlockTokens);
  EXPECT_FALSE(sink_.reported[1].was_served) << "nothing was stored";
  EXPECT_EQ(OverlapsTold(), 2u);
  EXPECT_GT(NodeStatusNow().stats.front.overlap_blocks, 8u);
}

TEST_P(OverlapWatchTest, ServedMeansThatAllThatAgreesWasThere) {
  StartWatchingNode();
  auto peer = LocalWithSession();
  Acquire(*peer.peer, PromptOf(0, 6, 100));
  Store(*peer.peer, 0, 5);
  Acquire(*peer.peer, PromptOf(0, 6, 101));
  Store(*peer.peer, 5, 1);
  Acquire(*peer.peer, PromptOf(0, 6, 102));
  Acquire(*peer.peer, PromptOf(0, 6, 102));
  ASSERT_EQ(sink_.reported.size(), 4u);
  EXPECT_FALSE(sink_.reported[1].was_served) << "a block of it was missing";
  EXPECT_TRUE(sink_.reported[2].was_served);
  EXPECT_EQ(sink_.reported[3].depth, 7 * kBlockTokens);
  EXPECT_TRUE(sink_.reported[3].was_served) << "but for the last block, which nobody needs";
}

TEST_P(OverlapWatchTest, OtherAcquiresTeachNothing) {
  StartWatchingNode();
  auto peer = LocalWithSession();
  const wire::Acquired got = Acquire(*peer.peer, AcquireOf(0, 8));
  EXPECT_EQ(got.family, 0u);
  EXPECT_TRUE(sink_.reported.empty());
  EXPECT_EQ(OverlapsTold(), 0u);
}

TEST_P(OverlapWatchTest, StatesAreNoBlocksOfThePrompt) {
  StartWatchingNode();
  auto peer = LocalWithSession();
  wire::Acquire prompt = PromptOf(0, 4, 100);
  prompt.is_hybrid = true;
  prompt.resume_depth_max = prompt.prompt_tokens - 1;
  prompt.keys.push_back(KeyOf(500));
  prompt.kinds.push_back(EntryKind::kState);
  prompt.ends.push_back(2 * kBlockTokens);
  Acquire(*peer.peer, prompt);
  prompt.request = RequestId(9999);
  EXPECT_EQ(Acquire(*peer.peer, prompt).overlap_depth, 5 * kBlockTokens);
  ASSERT_EQ(sink_.reported.size(), 2u);
  EXPECT_FALSE(sink_.reported[1].is_censored);
}

TEST_P(OverlapWatchTest, BlocksThatWereNotAskedForMakeALowerBound) {
  StartWatchingNode();
  auto peer = LocalWithSession();
  wire::Acquire prompt = PromptOf(0, 4, 100);
  prompt.prompt_tokens += 10;
  Acquire(*peer.peer, prompt);
  prompt.request = RequestId(9999);
  Acquire(*peer.peer, prompt);
  ASSERT_EQ(sink_.reported.size(), 2u);
  EXPECT_TRUE(sink_.reported[1].is_censored);
}

TEST_P(OverlapWatchTest, ABlockThatComesAgainIsAskedForOnceAndEndsWhatTheKeysSay) {
  StartWatchingNode();
  auto peer = LocalWithSession();
  // A B A C and A B C have one list of keys: 0 to 7, 100. Only the ends tell them apart.
  wire::Acquire with_repeat = PromptOf(0, 8, 100);
  for (std::size_t i = 6; i < 9; ++i) with_repeat.ends[i] += 4 * kBlockTokens;
  with_repeat.prompt_tokens += 4 * kBlockTokens;
  Acquire(*peer.peer, with_repeat);
  const wire::Acquired plain = Acquire(*peer.peer, PromptOf(0, 8, 100));
  EXPECT_EQ(plain.overlap_depth, 6 * kBlockTokens);
  with_repeat.request = RequestId(9998);
  EXPECT_EQ(Acquire(*peer.peer, with_repeat).overlap_depth, 6 * kBlockTokens);
  ASSERT_EQ(sink_.reported.size(), 3u);
  EXPECT_FALSE(sink_.reported[1].is_censored);
  EXPECT_TRUE(sink_.reported[2].is_censored) << "how it goes on is not said";
}

TEST_P(OverlapWatchTest, OneBlockThatWasNotThereWasNotServed) {
  StartWatchingNode();
  auto peer = LocalWithSession();
  wire::Acquire prompt = AcquireOf(0, 1);
  prompt.ends = {kBlockTokens};
  prompt.prompt_tokens = kBlockTokens;
  Acquire(*peer.peer, prompt);
  prompt.request = RequestId(9997);
  Acquire(*peer.peer, prompt);
  ASSERT_EQ(sink_.reported.size(), 2u);
  EXPECT_EQ(sink_.reported[1].depth, kBlockTokens);
  EXPECT_FALSE(sink_.reported[1].was_served);
}

TEST_P(OverlapWatchTest, TenantsShareNothing) {
  StartWatchingNode();
  auto peer = LocalWithSession();
  RawPeer::Options options = PeerOptions();
  options.hello.salt = "another";
  auto other = Local(options);
  ASSERT_TRUE(Until([&] { return other->has_session(); }));
  const wire::Acquired one = Acquire(*peer.peer, PromptOf(0, 8, 100));
  const wire::Acquired two = Acquire(*other.peer, PromptOf(0, 8, 100));
  EXPECT_NE(one.family, two.family);
  EXPECT_EQ(two.overlap_depth, 0u);
}

TEST_P(OverlapWatchTest, WithoutASinkNothingIsSeen) {
  StartNode();
  auto peer = LocalWithSession();
  Acquire(*peer.peer, PromptOf(0, 8, 100));
  const wire::Acquired got = Acquire(*peer.peer, PromptOf(0, 8, 100));
  EXPECT_EQ(got.family, 0u);
  EXPECT_EQ(got.overlap_depth, 0u);
}

}  // namespace
}  // namespace cairn
