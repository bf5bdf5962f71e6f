#include "gtest/gtest.h"
#include "libs/base/limits.h"
#include "libs/wire/messages.h"
#include "tests/unit/wire/codec_checks.h"

namespace cairn::wire {
namespace {

Acquire SmallAcquire() {
  Acquire m;
  m.request = RequestId(0x1122334455667788);
  m.remaining_us = 1000;
  m.want = Want::kPull;
  m.is_hybrid = true;
  m.resume_depth_max = UINT64_MAX;
  m.released = {PinId(1), PinId(UINT64_MAX)};
  m.keys = {DigestOf(1), DigestOf(2), DigestOf(3)};
  m.kinds = {EntryKind::kKvBlock, EntryKind::kKvBlock, EntryKind::kState};
  m.prompt_tokens = 40;
  m.ends = {16, 32, 16};
  return m;
}

Descriptor DescriptorAt(std::uint32_t index) {
  Descriptor d;
  d.index = index;
  d.place = {SegmentId(UINT32_MAX), SlotId(5)};
  d.offset = UINT64_MAX;
  d.generation = Generation(UINT64_MAX - 1);
  d.bytes = limits::kEntryBytesMax;
  d.checksum = Checksum(0xabcdef);
  d.depth = 77;
  return d;
}

Acquired SmallAcquired() {
  Acquired m;
  m.request = RequestId(4);
  m.pin = PinId(9);
  m.resume_depth = 12;
  m.capped = 2;
  m.family = UINT64_MAX;
  m.overlap_depth = 32;
  m.hits = {DescriptorAt(0), DescriptorAt(2)};
  return m;
}

constexpr std::size_t kAcquireReleasedAt = 8 + 8 + 1 + 1 + 8;
constexpr std::size_t kAcquireKeysAt = kAcquireReleasedAt + 4 + 2 * 8;
constexpr std::size_t kAcquireKindsAt = kAcquireKeysAt + 4 + 3 * 32;
constexpr std::size_t kAcquireTokensAt = kAcquireKindsAt + 4 + 3;
constexpr std::size_t kAcquireEndsAt = kAcquireTokensAt + 4;
constexpr std::size_t kAcquiredOverlapAt = 8 + 1 + 8 + 8 + 4 + 8;
constexpr std::size_t kAcquiredHitsAt = kAcquiredOverlapAt + 4;

TEST(ReadMessagesTest, AcquireRoundTrips) {
  ExpectSound(Acquire{}, DecodeAcquire);
  ExpectSound(SmallAcquire(), DecodeAcquire);
}

TEST(ReadMessagesTest, AcquireHasTheDocumentedForm) {
  Acquire m;
  m.request = RequestId(2);
  m.remaining_us = 3;
  m.want = Want::kPull;
  m.keys = {DigestOf(8)};
  m.kinds = {EntryKind::kState};
  std::string expected = std::string("\2\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\1\0", 18) +
                         std::string(8, '\0') + std::string(4, '\0') + std::string("\1\0\0\0", 4) +
                         std::string(DigestOf(8).view()) + std::string("\1\0\0\0\1", 5);
  EXPECT_EQ(Encode(m), expected + std::string(8, '\0'));
  m.prompt_tokens = 9;
  m.ends = {7};
  EXPECT_EQ(Encode(m), expected + std::string("\11\0\0\0\1\0\0\0\7\0\0\0", 12));
}

TEST(ReadMessagesTest, AFullAcquireFitsAMessage) {
  Acquire m;
  m.remaining_us = limits::kDeadlineMicrosMax;
  m.released.assign(limits::kReleasesPerMessageMax, PinId(UINT64_MAX));
  m.keys.assign(limits::kKeysPerMessageMax, DigestOf(200));
  m.kinds.assign(limits::kKeysPerMessageMax, EntryKind::kState);
  m.prompt_tokens = limits::kPromptTokensMax;
  m.ends.assign(limits::kKeysPerMessageMax, limits::kPromptTokensMax);
  EXPECT_LE(Encode(m).size(), limits::kMessageBytesMax);
  ExpectRoundTrip(m, DecodeAcquire);
  m.keys.push_back(DigestOf(1));
  m.kinds.push_back(EntryKind::kKvBlock);
  m.ends.push_back(1);
  ExpectRefused(Encode(m), DecodeAcquire, "keys");
}

TEST(ReadMessagesTest, AcquireRefusesWhatItDoesNotKnow) {
  const std::string body = Encode(SmallAcquire());
  ExpectRefused(With(body, 8, limits::kDeadlineMicrosMax + 1), DecodeAcquire, "remaining_us");
  ExpectRefused(With(body, 16, std::uint8_t{2}), DecodeAcquire, "want");
  ExpectRefused(With(body, 17, std::uint8_t{2}), DecodeAcquire, "is_hybrid");
  ExpectRefused(With(body, kAcquireKindsAt + 4, std::uint8_t{2}), DecodeAcquire, "kinds");
}

TEST(ReadMessagesTest, AcquireRefusesCountsThatCannotFit) {
  const std::string body = Encode(SmallAcquire());
  ExpectRefused(With(body, kAcquireReleasedAt, std::uint32_t{0xffffffff}), DecodeAcquire,
                "released");
  ExpectRefused(With(body, kAcquireReleasedAt, std::uint32_t{100}), DecodeAcquire, "released");
  ExpectRefused(With(body, kAcquireKeysAt, std::uint32_t{0xffffffff}), DecodeAcquire, "keys");
  ExpectRefused(With(body, kAcquireKeysAt, std::uint32_t{4}), DecodeAcquire, "keys");
  ExpectRefused(With(body, kAcquireKindsAt, std::uint32_t{4}), DecodeAcquire, "kinds");
  Acquire uneven = SmallAcquire();
  uneven.kinds.pop_back();
  ExpectRefused(Encode(uneven), DecodeAcquire, "kinds");
}

TEST(ReadMessagesTest, AcquireRefusesEndsThatCannotBe) {
  const std::string body = Encode(SmallAcquire());
  ExpectRefused(With(body, kAcquireTokensAt, std::uint32_t{limits::kPromptTokensMax + 1}),
                DecodeAcquire, "prompt_tokens");
  ExpectRefused(With(body, kAcquireTokensAt, std::uint32_t{0}), DecodeAcquire, "ends");
  ExpectRefused(With(body, kAcquireTokensAt, std::uint32_t{31}), DecodeAcquire, "ends");
  ExpectRefused(With(body, kAcquireEndsAt, std::uint32_t{4}), DecodeAcquire, "ends");
  ExpectRefused(With(body, kAcquireEndsAt, std::uint32_t{UINT32_MAX}), DecodeAcquire, "ends");
  ExpectRefused(With(body, kAcquireEndsAt + 4, std::uint32_t{0}), DecodeAcquire, "ends");
  ExpectRefused(With(body, kAcquireEndsAt + 4, std::uint32_t{32}), DecodeAcquire, "ends");
  Acquire short_of_one = SmallAcquire();
  short_of_one.ends.pop_back();
  ExpectRefused(Encode(short_of_one), DecodeAcquire, "ends");
  Acquire without_length = SmallAcquire();
  without_length.prompt_tokens = 0;
  ExpectRefused(Encode(without_length), DecodeAcquire, "ends");
}

TEST(ReadMessagesTest, AcquiredRoundTrips) {
  ExpectSound(Acquired{}, DecodeAcquired);
  ExpectSound(SmallAcquired(), DecodeAcquired);
}

TEST(ReadMessagesTest, AFullAcquiredFitsAMessage) {
  Acquired m;
  for (std::uint32_t i = 0; i < limits::kKeysPerMessageMax; ++i) m.hits.push_back(DescriptorAt(i));
  EXPECT_LE(Encode(m).size(), limits::kMessageBytesMax);
  ExpectRoundTrip(m, DecodeAcquired);
}

TEST(ReadMessagesTest, AcquiredRefusesWhatCannotBe) {
  const std::string body = Encode(SmallAcquired());
  ExpectRefused(With(body, 8, std::uint8_t{4}), DecodeAcquired, "result");
  ExpectRefused(With(body, kAcquiredOverlapAt, std::uint32_t{limits::kPromptTokensMax + 1}),
                DecodeAcquired, "overlap_depth");
  ExpectRefused(With(body, kAcquiredHitsAt, std::uint32_t{3}), DecodeAcquired, "hits");
  ExpectRefused(With(body, kAcquiredHitsAt, std::uint32_t{0xffffffff}), DecodeAcquired, "hits");
  // An index beyond any ACQUIRE, one given twice, and one that goes back.
  const std::size_t second = kAcquiredHitsAt + 4 + 52;
  ExpectRefused(With(body, second, std::uint32_t{limits::kKeysPerMessageMax}), DecodeAcquired,
                "hits.index");
  ExpectRefused(With(body, second, std::uint32_t{0}), DecodeAcquired, "hits.index");
  Acquired back = SmallAcquired();
  std::swap(back.hits[0], back.hits[1]);
  ExpectRefused(Encode(back), DecodeAcquired, "hits.index");
  Acquired large = SmallAcquired();
  large.hits[0].bytes = limits::kEntryBytesMax + 1;
  ExpectRefused(Encode(large), DecodeAcquired, "hits.bytes");
}

TEST(ReadMessagesTest, ReleaseRoundTrips) {
  ExpectSound(Release{}, DecodeRelease);
  ExpectSound(Release{{PinId(3), PinId(UINT64_MAX)}}, DecodeRelease);
  Release full;
  full.pins.assign(limits::kReleasesPerMessageMax, PinId(1));
  ExpectRoundTrip(full, DecodeRelease);
  full.pins.push_back(PinId(2));
  ExpectRefused(Encode(full), DecodeRelease, "pins");
}

TEST(ReadMessagesTest, SuspectRoundTrips) {
  ExpectSound(Suspect{PinId(UINT64_MAX), limits::kKeysPerMessageMax - 1}, DecodeSuspect);
  ExpectRefused(Encode(Suspect{PinId(1), limits::kKeysPerMessageMax}), DecodeSuspect, "index");
}

TEST(ReadMessagesTest, PullRoundTrips) {
  ExpectSound(Pull{}, DecodePull);
  ExpectSound(Pull{RequestId(1), limits::kDeadlineMicrosMax, PinId(2), {0, 7, 7}}, DecodePull);
  ExpectRefused(Encode(Pull{RequestId(1), limits::kDeadlineMicrosMax + 1, PinId(2), {}}),
                DecodePull, "remaining_us");
  ExpectRefused(Encode(Pull{RequestId(1), 0, PinId(2), {limits::kKeysPerMessageMax}}), DecodePull,
                "indices");
  Pull full;
  full.indices.assign(limits::kKeysPerMessageMax, 0);
  ExpectRoundTrip(full, DecodePull);
  full.indices.push_back(0);
  ExpectRefused(Encode(full), DecodePull, "indices");
}

TEST(ReadMessagesTest, PullDataRoundTrips) {
  const PullData m{RequestId(UINT64_MAX), 3, limits::kEntryBytesMax, Checksum(UINT64_MAX)};
  ExpectSound(m, DecodePullData);
  ExpectRefused(Encode(PullData{RequestId(1), 3, limits::kEntryBytesMax + 1, Checksum(1)}),
                DecodePullData, "bytes");
  ExpectRefused(Encode(PullData{RequestId(1), limits::kKeysPerMessageMax, 1, Checksum(1)}),
                DecodePullData, "index");
}

TEST(ReadMessagesTest, PullFailedRoundTrips) {
  const PullFailed m{RequestId(5), 3, PullFailure::kOverloaded};
  ExpectSound(m, DecodePullFailed);
  ExpectRefused(With(Encode(m), 12, std::uint8_t{3}), DecodePullFailed, "why");
  ExpectRefused(With(Encode(m), 8, std::uint32_t{limits::kKeysPerMessageMax}), DecodePullFailed,
                "index");
}

TEST(ReadMessagesTest, ABodyOverTheLimitIsRefused) {
  ExpectRefused(std::string(limits::kMessageBytesMax + 1, '\0'), DecodeRelease, "size");
}

}  // namespace
}  // namespace cairn::wire
