#include "gtest/gtest.h"
#include "libs/base/limits.h"
#include "libs/wire/messages.h"
#include "tests/unit/wire/codec_checks.h"

namespace cairn::wire {
namespace {

OfferEntry EntryOf(std::uint8_t fill) {
  OfferEntry e;
  e.key = DigestOf(fill);
  e.kind = EntryKind::kState;
  e.has_parent = true;
  e.parent = DigestOf(static_cast<std::uint8_t>(fill + 100));
  e.bytes = limits::kEntryBytesMax;
  e.checksum = Checksum(UINT64_MAX);
  e.depth = UINT64_MAX;
  e.pool_offset = UINT64_MAX;
  return e;
}

Offer SmallOffer() { return Offer{RequestId(3), 17, {EntryOf(1), EntryOf(2)}}; }

constexpr std::size_t kOfferEntriesAt = 8 + 8;
constexpr std::size_t kWantEntriesAt = 8;

TEST(WriteMessagesTest, OfferRoundTrips) {
  ExpectSound(Offer{}, DecodeOffer);
  ExpectSound(SmallOffer(), DecodeOffer);
}

TEST(WriteMessagesTest, AFullOfferFitsAMessage) {
  Offer m;
  m.remaining_us = limits::kDeadlineMicrosMax;
  m.entries.assign(limits::kOfferEntriesMax, EntryOf(8));
  EXPECT_LE(Encode(m).size(), limits::kMessageBytesMax);
  ExpectRoundTrip(m, DecodeOffer);
  m.entries.push_back(EntryOf(1));
  ExpectRefused(Encode(m), DecodeOffer, "entries");
}

TEST(WriteMessagesTest, OfferRefusesWhatCannotBe) {
  const std::string body = Encode(SmallOffer());
  ExpectRefused(With(body, 8, limits::kDeadlineMicrosMax + 1), DecodeOffer, "remaining_us");
  ExpectRefused(With(body, kOfferEntriesAt, std::uint32_t{3}), DecodeOffer, "entries");
  ExpectRefused(With(body, kOfferEntriesAt, std::uint32_t{0xffffffff}), DecodeOffer, "entries");
  const std::size_t first = kOfferEntriesAt + 4;
  ExpectRefused(With(body, first + 32, std::uint8_t{2}), DecodeOffer, "kind");
  ExpectRefused(With(body, first + 33, std::uint8_t{2}), DecodeOffer, "has_parent");
  ExpectRefused(With(body, first + 66, limits::kEntryBytesMax + 1), DecodeOffer, "bytes");
}

TEST(WriteMessagesTest, WantRoundTrips) {
  ExpectSound(WantMessage{}, DecodeWant);
  ExpectSound(WantMessage{RequestId(1),
                          {{0, Verdict::kWanted, Refusal::kNone},
                           {1, Verdict::kStored, Refusal::kNone},
                           {2, Verdict::kPending, Refusal::kNone},
                           {limits::kOfferEntriesMax - 1, Verdict::kRefused, Refusal::kLimit}}},
              DecodeWant);
  WantMessage full;
  full.entries.assign(limits::kOfferEntriesMax, WantEntry{});
  ExpectRoundTrip(full, DecodeWant);
  full.entries.push_back(WantEntry{});
  ExpectRefused(Encode(full), DecodeWant, "entries");
}

TEST(WriteMessagesTest, WantRefusesWhatCannotBe) {
  const std::string body =
      Encode(WantMessage{RequestId(1), {{0, Verdict::kRefused, Refusal::kNoRoom}}});
  const std::size_t first = kWantEntriesAt + 4;
  ExpectRefused(With(body, first, std::uint32_t{limits::kOfferEntriesMax}), DecodeWant, "index");
  ExpectRefused(With(body, first + 4, std::uint8_t{4}), DecodeWant, "verdict");
  ExpectRefused(With(body, first + 5, std::uint8_t{5}), DecodeWant, "refusal");
  // A reason without a refusal, and a refusal without a reason.
  ExpectRefused(With(body, first + 4, std::uint8_t{0}), DecodeWant, "refusal");
  ExpectRefused(With(body, first + 5, std::uint8_t{0}), DecodeWant, "refusal");
  ExpectRefused(With(body, kWantEntriesAt, std::uint32_t{2}), DecodeWant, "entries");
}

TEST(WriteMessagesTest, OfferDataRoundTrips) {
  ExpectSound(OfferData{RequestId(UINT64_MAX), limits::kOfferEntriesMax - 1}, DecodeOfferData);
  ExpectRefused(Encode(OfferData{RequestId(1), limits::kOfferEntriesMax}), DecodeOfferData,
                "index");
  ExpectRefused(std::string(limits::kBulkHeaderBytesMax + 1, '\0'), DecodeOfferData, "size");
}

TEST(WriteMessagesTest, StoredRoundTrips) {
  ExpectSound(Stored{}, DecodeStored);
  const Stored m{RequestId(1),
                 {{0, StoreResult::kStored},
                  {1, StoreResult::kTorn},
                  {2, StoreResult::kFailed},
                  {3, StoreResult::kDeadline},
                  {limits::kOfferEntriesMax - 1, StoreResult::kDropped}}};
  ExpectSound(m, DecodeStored);
  ExpectRefused(With(Encode(m), 8 + 4 + 4, std::uint8_t{5}), DecodeStored, "result");
  ExpectRefused(With(Encode(m), 8 + 4, std::uint32_t{limits::kOfferEntriesMax}), DecodeStored,
                "index");
  ExpectRefused(With(Encode(m), 8, std::uint32_t{6}), DecodeStored, "entries");
}

}  // namespace
}  // namespace cairn::wire
