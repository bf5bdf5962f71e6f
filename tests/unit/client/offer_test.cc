#include "libs/client/offer_calls.h"

#include <cstring>
#include <map>

#include "libs/base/limits.h"
#include "tests/unit/client/client_world.h"

namespace cairn {
namespace {

class OfferTest : public ClientWorld {
 protected:
  OfferBlock BlockAt(std::size_t i) {
    const absl::Span<std::byte> bytes = pool_->bytes().subspan(i * kBlock, kBlock);
    std::memset(bytes.data(), static_cast<int>('a' + i), bytes.size());
    OfferBlock block;
    block.key = TestDigest(static_cast<std::uint8_t>(i));
    if (i > 0) block.parent = TestDigest(static_cast<std::uint8_t>(i - 1));
    block.bytes = bytes;
    block.checksum = ChecksumOf(bytes);
    block.depth = (i + 1) * 16;
    return block;
  }
  std::vector<OfferBlock> Blocks(std::size_t count) {
    std::vector<OfferBlock> blocks;
    for (std::size_t i = 0; i < count; ++i) blocks.push_back(BlockAt(i));
    return blocks;
  }
  void Offer(std::vector<OfferBlock> blocks, absl::Duration within = absl::Seconds(1)) {
    client_->Offer(std::move(blocks), After(within), [this](std::size_t index, OfferResult r) {
      EXPECT_TRUE(told_.emplace(index, r).second) << index << " told twice";
    });
    EXPECT_TRUE(told_.empty()) << "told inside the call";
  }
  wire::Offer Asked() {
    EXPECT_TRUE(world_.RunUntil([&] { return node_->Count(wire::Type::kOffer) > 0; },
                                absl::Seconds(1)));
    return *wire::DecodeOffer(node_->Last(wire::Type::kOffer));
  }
  void Want(RequestId request, std::vector<wire::WantEntry> entries) {
    node_->Say(wire::Type::kWant, wire::Encode(wire::WantMessage{request, std::move(entries)}));
  }
  void Stored(RequestId request, std::vector<wire::StoredEntry> entries) {
    node_->Say(wire::Type::kStored, wire::Encode(wire::Stored{request, std::move(entries)}));
  }
  bool RunUntilTold(std::size_t count) {
    return world_.RunUntil([&] { return told_.size() >= count; }, absl::Seconds(5));
  }
  void ExpectNoLoans() {
    EXPECT_EQ(stats().offers_on_loan, 0u);
    EXPECT_EQ(stats().offered_bytes_on_loan, 0u);
  }

  std::map<std::size_t, OfferResult> told_;
};

TEST_F(OfferTest, ANodeOnThisHostReadsOurPool) {
  UpLocal();
  Offer(Blocks(2));
  const wire::Offer asked = Asked();
  ASSERT_EQ(asked.entries.size(), 2u);
  EXPECT_GT(asked.remaining_us, 900'000u);
  const wire::OfferEntry& second = asked.entries[1];
  EXPECT_EQ(second.key, TestDigest(1));
  EXPECT_TRUE(second.has_parent);
  EXPECT_EQ(second.parent, TestDigest(0));
  EXPECT_FALSE(asked.entries[0].has_parent);
  EXPECT_EQ(second.bytes, kBlock);
  EXPECT_EQ(second.depth, 32u);
  EXPECT_EQ(second.pool_offset, kBlock);
  EXPECT_EQ(ChecksumOf(node_->client_pool().subspan(second.pool_offset, second.bytes)),
            second.checksum);
  EXPECT_EQ(stats().offers_on_loan, 2u);
  EXPECT_EQ(stats().offered_bytes_on_loan, 2 * kBlock);
  Want(asked.request, {{0, wire::Verdict::kWanted}, {1, wire::Verdict::kWanted}});
  Settle();
  EXPECT_TRUE(told_.empty()) << "on loan until STORED";
  Stored(asked.request, {{1, wire::StoreResult::kStored}});
  ASSERT_TRUE(RunUntilTold(1));
  EXPECT_EQ(told_.at(1), OfferResult::kStored);
  EXPECT_EQ(stats().offered_bytes_on_loan, kBlock);
  Stored(asked.request, {{0, wire::StoreResult::kStored}});
  ASSERT_TRUE(RunUntilTold(2));
  EXPECT_EQ(stats().of(OfferResult::kStored), 2u);
  EXPECT_EQ(stats().stored_bytes, 2 * kBlock);
  ExpectNoLoans();
}

TEST_F(OfferTest, EveryVerdictHasItsResult) {
  UpLocal();
  options_.offered_bytes_max = kPoolBytes;
  Offer(Blocks(4));
  const wire::Offer first = Asked();
  Want(first.request, {{0, wire::Verdict::kStored},
                       {1, wire::Verdict::kRefused, wire::Refusal::kNoRoom},
                       {2, wire::Verdict::kRefused, wire::Refusal::kConflict},
                       {3, wire::Verdict::kRefused, wire::Refusal::kMalformed}});
  ASSERT_TRUE(RunUntilTold(4));
  EXPECT_EQ(told_.at(0), OfferResult::kStored);
  EXPECT_EQ(told_.at(1), OfferResult::kNoRoom);
  EXPECT_EQ(told_.at(2), OfferResult::kConflict);
  EXPECT_EQ(told_.at(3), OfferResult::kMalformed);
  ExpectNoLoans();
}

TEST_F(OfferTest, EveryStoreResultHasItsResult) {
  options_.offered_bytes_max = kPoolBytes;
  UpLocal();
  Offer(Blocks(5));
  const wire::Offer asked = Asked();
  Want(asked.request, {{4, wire::Verdict::kRefused, wire::Refusal::kLimit}});
  Stored(asked.request, {{0, wire::StoreResult::kTorn},
                         {1, wire::StoreResult::kFailed},
                         {2, wire::StoreResult::kDeadline},
                         {3, wire::StoreResult::kDropped}});
  ASSERT_TRUE(RunUntilTold(5));
  EXPECT_EQ(told_.at(0), OfferResult::kTorn);
  EXPECT_EQ(told_.at(1), OfferResult::kFailed);
  EXPECT_EQ(told_.at(2), OfferResult::kDeadline);
  EXPECT_EQ(told_.at(3), OfferResult::kDropped);
  EXPECT_EQ(told_.at(4), OfferResult::kLimit);
}

TEST_F(OfferTest, APendingBlockMayBeWantedLater) {
  UpLocal();
  Offer(Blocks(1));
  const wire::Offer asked = Asked();
  Want(asked.request, {{0, wire::Verdict::kPending}});
  Settle();
  EXPECT_TRUE(told_.empty());
  Want(asked.request, {{0, wire::Verdict::kWanted}});
  Stored(asked.request, {{0, wire::StoreResult::kStored}});
  ASSERT_TRUE(RunUntilTold(1));
  EXPECT_EQ(told_.at(0), OfferResult::kStored);
}

TEST_F(OfferTest, TheDeadlineEndsTheLoanOnOneHost) {
  UpLocal();
  Offer(Blocks(1), absl::Milliseconds(20));
  const wire::Offer asked = Asked();
  Want(asked.request, {{0, wire::Verdict::kWanted}});
  ASSERT_TRUE(RunUntilTold(1));
  EXPECT_EQ(told_.at(0), OfferResult::kDeadline);
  ExpectNoLoans();
  Stored(asked.request, {{0, wire::StoreResult::kStored}});
  Want(asked.request, {{0, wire::Verdict::kStored}});
  Settle();
  EXPECT_EQ(told_.size(), 1u);
  EXPECT_EQ(stats().late_answers, 2u);
  EXPECT_TRUE(client_->has_session());
}

TEST_F(OfferTest, ADeadlineBeforeTheOfferIsOneAtOnce) {
  UpLocal();
  Offer(Blocks(1), absl::ZeroDuration());
  ASSERT_TRUE(RunUntilTold(1));
  EXPECT_EQ(told_.at(0), OfferResult::kDeadline);
  Settle();
  EXPECT_EQ(node_->Count(wire::Type::kOffer), 0u);
}

TEST_F(OfferTest, TheLossOfTheSessionEndsTheLoanOnOneHost) {
  UpLocal();
  Offer(Blocks(2), absl::Seconds(100));
  Asked();
  CrashNode();
  ASSERT_TRUE(RunUntilTold(2));
  EXPECT_EQ(told_.at(0), OfferResult::kLost);
  ExpectNoLoans();
}

TEST_F(OfferTest, OfflineRefusesAtOnce) {
  StartLocal();
  Offer(Blocks(2));
  ASSERT_TRUE(RunUntilTold(2));
  EXPECT_EQ(told_.at(1), OfferResult::kOffline);
  ExpectNoLoans();
}

TEST_F(OfferTest, AQuarterOfThePoolMayBeOnLoan) {
  UpLocal();
  Offer(Blocks(6));  // of 16
  ASSERT_TRUE(RunUntilTold(2));
  EXPECT_EQ(told_.at(4), OfferResult::kCapped);
  EXPECT_EQ(told_.at(5), OfferResult::kCapped);
  const wire::Offer asked = Asked();
  EXPECT_EQ(asked.entries.size(), 4u);
  EXPECT_EQ(stats().of(OfferResult::kCapped), 2u);
  // What comes back may be offered again.
  Stored(asked.request, {{2, wire::StoreResult::kStored}});
  ASSERT_TRUE(RunUntilTold(3));
  std::vector<std::pair<std::size_t, OfferResult>> second;
  client_->Offer({BlockAt(6), BlockAt(7)}, After(absl::Seconds(1)),
                 [&](std::size_t index, OfferResult r) { second.emplace_back(index, r); });
  Settle();
  ASSERT_EQ(second.size(), 1u);
  EXPECT_EQ(second[0].first, 1u);
  EXPECT_EQ(second[0].second, OfferResult::kCapped);
  EXPECT_EQ(Asked().entries.size(), 1u);
  StopClient();
}

TEST_F(OfferTest, TheNodesCapOnEntriesIsKept) {
  node_->script().offers_max = 2;
  UpLocal();
  Offer(Blocks(3));
  ASSERT_TRUE(RunUntilTold(1));
  EXPECT_EQ(told_.at(2), OfferResult::kCapped);
  EXPECT_EQ(Asked().entries.size(), 2u);
}

TEST_F(OfferTest, ResultsNameTheCallersBlocks) {
  UpLocal();
  std::vector<OfferBlock> blocks = Blocks(3);
  std::vector<std::byte> elsewhere(kBlock);
  blocks[0].bytes = elsewhere;
  blocks[1].bytes = absl::Span<const std::byte>();
  Offer(std::move(blocks));
  const wire::Offer asked = Asked();
  ASSERT_EQ(asked.entries.size(), 1u);
  Stored(asked.request, {{0, wire::StoreResult::kStored}});
  ASSERT_TRUE(RunUntilTold(3));
  EXPECT_EQ(told_.at(0), OfferResult::kMalformed) << "the node cannot read outside the pool";
  EXPECT_EQ(told_.at(1), OfferResult::kMalformed);
  EXPECT_EQ(told_.at(2), OfferResult::kStored);
}

TEST_F(OfferTest, AnOfferThatCannotBeSentIsTold) {
  UpLocal();
  send_error_ = absl::ResourceExhaustedError("full");
  Offer(Blocks(2));
  ASSERT_TRUE(RunUntilTold(2));
  EXPECT_EQ(told_.at(1), OfferResult::kCapped);
  ExpectNoLoans();
  told_.clear();
  send_error_ = absl::NotFoundError("the endpoint is closed");
  Offer(Blocks(1));
  ASSERT_TRUE(RunUntilTold(1));
  EXPECT_EQ(told_.at(0), OfferResult::kLost);
}

TEST_F(OfferTest, EntriesBeyondAMessageAreCapped) {
  options_.offered_bytes_max = UINT64_MAX / 2;
  node_->script().offers_max = 10'000'000;
  UpLocal();
  Offer(std::vector<OfferBlock>(limits::kOfferEntriesMax + 1, BlockAt(0)));
  ASSERT_TRUE(RunUntilTold(1));
  EXPECT_EQ(told_.at(limits::kOfferEntriesMax), OfferResult::kCapped);
  EXPECT_EQ(Asked().entries.size(), limits::kOfferEntriesMax);
}

// ---- what no node says ----

TEST_F(OfferTest, AWantBeyondTheOfferEndsTheSession) {
  UpLocal();
  Offer(Blocks(1));
  Want(Asked().request, {{1, wire::Verdict::kWanted}});
  ASSERT_TRUE(RunUntilTold(1));
  EXPECT_EQ(told_.at(0), OfferResult::kLost);
  EXPECT_EQ(stats().protocol_errors, 1u);
}

TEST_F(OfferTest, AStoredBeyondTheOfferEndsTheSession) {
  UpLocal();
  Offer(Blocks(1));
  Stored(Asked().request, {{1, wire::StoreResult::kStored}});
  ASSERT_TRUE(RunUntilTold(1));
  EXPECT_EQ(told_.at(0), OfferResult::kLost);
  EXPECT_EQ(stats().protocol_errors, 1u);
}

TEST_F(OfferTest, ASecondWantOfABlockEndsTheSession) {
  UpLocal();
  Offer(Blocks(1));
  Want(Asked().request, {{0, wire::Verdict::kWanted}, {0, wire::Verdict::kWanted}});
  ASSERT_TRUE(RunUntilTold(1));
  EXPECT_EQ(stats().protocol_errors, 1u);
}

TEST_F(OfferTest, AWordOnASettledBlockIsLate) {
  UpLocal();
  Offer(Blocks(2));
  const wire::Offer asked = Asked();
  Stored(asked.request, {{0, wire::StoreResult::kStored}, {0, wire::StoreResult::kTorn}});
  Want(asked.request, {{0, wire::Verdict::kWanted}});
  Settle();
  EXPECT_EQ(told_.size(), 1u);
  EXPECT_TRUE(client_->has_session());
}

// ---- over the network ----

TEST_F(OfferTest, WantedBlocksGoByRendezvous) {
  UpRemote();
  std::vector<std::byte> landing(kBlock);
  node_->LandOffersIn(absl::MakeSpan(landing));
  Offer(Blocks(2));
  const wire::Offer asked = Asked();
  Want(asked.request, {{1, wire::Verdict::kWanted}, {0, wire::Verdict::kStored}});
  ASSERT_TRUE(world_.RunUntil([&] { return node_->landed().size() == 1; }, absl::Seconds(1)));
  EXPECT_EQ(ChecksumOf(landing), asked.entries[1].checksum);
  Stored(asked.request, {{1, wire::StoreResult::kStored}});
  ASSERT_TRUE(RunUntilTold(2));
  EXPECT_EQ(told_.at(0), OfferResult::kStored);
  EXPECT_EQ(told_.at(1), OfferResult::kStored);
  ExpectNoLoans();
}

TEST_F(OfferTest, ALocalClientWithoutAPoolSendsItsBlocks) {
  UpLocal(false);
  std::vector<std::byte> landing(kBlock);
  node_->LandOffersIn(absl::MakeSpan(landing));
  Offer(Blocks(1));
  Want(Asked().request, {{0, wire::Verdict::kWanted}});
  ASSERT_TRUE(world_.RunUntil([&] { return node_->landed().size() == 1; }, absl::Seconds(1)));
  EXPECT_EQ(static_cast<char>(landing[5]), 'a');
}

TEST_F(OfferTest, ADeadlineWaitsForATransferUnderWay) {
  UpRemote();
  network_.HoldBulk();
  std::vector<std::byte> landing(kBlock);
  node_->LandOffersIn(absl::MakeSpan(landing));
  Offer(Blocks(2), absl::Milliseconds(20));
  Want(Asked().request, {{0, wire::Verdict::kWanted}, {1, wire::Verdict::kPending}});
  ASSERT_TRUE(RunUntilTold(1));
  Settle();
  EXPECT_EQ(told_.size(), 1u) << "the transport still reads block 0";
  EXPECT_EQ(told_.at(1), OfferResult::kDeadline);
  EXPECT_EQ(stats().offered_bytes_on_loan, kBlock);
  network_.ReleaseBulk();
  ASSERT_TRUE(RunUntilTold(2));
  EXPECT_EQ(told_.at(0), OfferResult::kDeadline);
  ExpectNoLoans();
}

TEST_F(OfferTest, ALossWaitsForATransferUnderWay) {
  UpRemote();
  network_.HoldBulk();
  std::vector<std::byte> landing(kBlock);
  node_->LandOffersIn(absl::MakeSpan(landing));
  Offer(Blocks(1), absl::Seconds(9));
  Want(Asked().request, {{0, wire::Verdict::kWanted}});
  Settle();
  EXPECT_EQ(network_.held_bulks(), 1u);
  CrashNode();
  ASSERT_TRUE(RunUntilTold(1));
  ExpectNoLoans();
}

TEST_F(OfferTest, ATransferThatCannotBeginFails) {
  UpRemote();
  Offer(Blocks(1));
  const wire::Offer asked = Asked();
  send_error_ = absl::ResourceExhaustedError("too many bulks");
  Want(asked.request, {{0, wire::Verdict::kWanted}});
  ASSERT_TRUE(RunUntilTold(1));
  EXPECT_EQ(told_.at(0), OfferResult::kFailed);
  ExpectNoLoans();
}

TEST_F(OfferTest, ATransferThatTheNodeRefusesFails) {
  UpRemote();
  Offer(Blocks(1));
  Want(Asked().request, {{0, wire::Verdict::kWanted}});
  ASSERT_TRUE(RunUntilTold(1));
  EXPECT_EQ(told_.at(0), OfferResult::kFailed);
  EXPECT_TRUE(client_->has_session());
}

}  // namespace
}  // namespace cairn
