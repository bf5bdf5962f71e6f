#include "libs/wire/local_messages.h"

#include "gtest/gtest.h"
#include "libs/base/limits.h"
#include "tests/unit/wire/codec_checks.h"

namespace cairn::wire {
namespace {

LocalChallenge SmallChallenge() {
  LocalChallenge m;
  m.node_boot = {1, UINT64_MAX};
  m.node_nonce = std::string(kNonceBytes, 'n');
  return m;
}

LocalProof SmallProof() {
  LocalProof m;
  m.token_id = "dev";
  m.client_nonce = std::string(kNonceBytes, 'c');
  m.profile = LocalProfile::kOtherUser;
  m.transport_address = std::string("\0\1address", 9);
  m.pool_bytes = limits::kPoolBytesMax;
  m.mac = DigestOf(4);
  return m;
}

LocalWelcome SmallWelcome() {
  LocalWelcome m;
  m.mac = DigestOf(6);
  m.ticket = std::string(kTicketBytes, 't');
  m.arena_boot = {5, 6};
  m.transport_address = "node";
  m.segments_total = 3;
  m.segments = {{SegmentId(0), limits::kSegmentBytesMax, 4096}, {SegmentId(UINT32_MAX), 9, 9}};
  return m;
}

TEST(LocalMessagesTest, ChallengeRoundTrips) {
  ExpectSound(SmallChallenge(), DecodeLocalChallenge);
  const std::string body = With(Encode(SmallChallenge()), 1, std::uint32_t{kWireVersion + 1});
  EXPECT_EQ(DecodeLocalChallenge(body).status().code(), absl::StatusCode::kFailedPrecondition);
  LocalChallenge m = SmallChallenge();
  m.node_nonce.pop_back();
  ExpectRefused(Encode(m), DecodeLocalChallenge, "node_nonce");
}

TEST(LocalMessagesTest, ProofRoundTrips) {
  ExpectSound(SmallProof(), DecodeLocalProof);
  LocalProof m = SmallProof();
  m.pool_bytes = limits::kPoolBytesMax + 1;
  ExpectRefused(Encode(m), DecodeLocalProof, "pool_bytes");
  m = SmallProof();
  m.client_nonce += 'c';
  ExpectRefused(Encode(m), DecodeLocalProof, "client_nonce");
  m = SmallProof();
  m.token_id = std::string(kTokenIdBytesMax + 1, 'i');
  ExpectRefused(Encode(m), DecodeLocalProof, "token_id");
  m = SmallProof();
  m.transport_address = std::string(limits::kTransportAddressBytesMax + 1, 'a');
  ExpectRefused(Encode(m), DecodeLocalProof, "transport_address");
  ExpectRefused(With(Encode(SmallProof()), 1 + 4 + 3 + 4 + kNonceBytes, std::uint8_t{2}),
                DecodeLocalProof, "profile");
}

TEST(LocalMessagesTest, WelcomeRoundTrips) {
  ExpectSound(SmallWelcome(), DecodeLocalWelcome);
  LocalWelcome m = SmallWelcome();
  m.transport_address = std::string(limits::kTransportAddressBytesMax, 'a');
  m.segments_total = limits::kArenaSegmentsMax;
  m.segments.assign(limits::kLocalGrantsMax, {SegmentId(7), 1 << 20, 4096});
  EXPECT_LE(Encode(m).size(), limits::kLocalMessageBytesMax);
  ExpectRoundTrip(m, DecodeLocalWelcome);
  m.segments.push_back({SegmentId(8), 1 << 20, 4096});
  ExpectRefused(Encode(m), DecodeLocalWelcome, "segments");
}

TEST(LocalMessagesTest, WelcomeRefusesWhatCannotBe) {
  LocalWelcome m = SmallWelcome();
  m.segments_total = 1;
  ExpectRefused(Encode(m), DecodeLocalWelcome, "segments_total");
  m = SmallWelcome();
  m.segments_total = limits::kArenaSegmentsMax + 1;
  ExpectRefused(Encode(m), DecodeLocalWelcome, "segments_total");
  m = SmallWelcome();
  m.segments[1].words_bytes = 10;
  ExpectRefused(Encode(m), DecodeLocalWelcome, "words_bytes");
  m = SmallWelcome();
  m.segments[0].bytes = limits::kSegmentBytesMax + 1;
  ExpectRefused(Encode(m), DecodeLocalWelcome, "segments.bytes");
  m = SmallWelcome();
  m.ticket.clear();
  ExpectRefused(Encode(m), DecodeLocalWelcome, "ticket");
}

TEST(LocalMessagesTest, SegmentsRoundTrip) {
  ExpectSound(LocalSegments{}, DecodeLocalSegments);
  ExpectSound(LocalSegments{{{SegmentId(3), 4096, 0}}}, DecodeLocalSegments);
  const std::string body = Encode(LocalSegments{{{SegmentId(3), 4096, 0}}});
  ExpectRefused(With(body, 1, std::uint32_t{0xffffffff}), DecodeLocalSegments, "segments");
}

TEST(LocalMessagesTest, RefusedRoundTrips) {
  ExpectSound(LocalRefused{WelcomeResult::kFull, "why"}, DecodeLocalRefused);
  ExpectRefused(With(Encode(LocalRefused{}), 1, std::uint8_t{6}), DecodeLocalRefused, "result");
  const absl::StatusOr<LocalRefused> cut = DecodeLocalRefused(
      Encode(LocalRefused{WelcomeResult::kFull, std::string(kMessageTextBytesMax + 1, 'm')}));
  ASSERT_TRUE(cut.ok()) << cut.status();
  EXPECT_EQ(cut->message.size(), kMessageTextBytesMax);
}

TEST(LocalMessagesTest, TypeComesFirstAndIsChecked) {
  EXPECT_EQ(*LocalTypeOf(Encode(SmallChallenge())), LocalType::kChallenge);
  EXPECT_EQ(*LocalTypeOf(Encode(SmallProof())), LocalType::kProof);
  EXPECT_EQ(*LocalTypeOf(Encode(SmallWelcome())), LocalType::kWelcome);
  EXPECT_EQ(*LocalTypeOf(Encode(LocalSegments{})), LocalType::kSegments);
  EXPECT_EQ(*LocalTypeOf(Encode(LocalRefused{})), LocalType::kRefused);
  EXPECT_FALSE(LocalTypeOf("").ok());
  EXPECT_FALSE(LocalTypeOf(std::string(1, '\0')).ok());
  EXPECT_FALSE(LocalTypeOf("\6").ok());
  ExpectRefused(Encode(SmallProof()), DecodeLocalChallenge, "type");
  ExpectRefused(std::string(limits::kLocalMessageBytesMax + 1, '\1'), DecodeLocalChallenge, "size");
}

TEST(LocalMessagesTest, ClientMacCoversEveryInput) {
  const LocalChallenge challenge = SmallChallenge();
  const LocalProof proof = SmallProof();
  const Digest256 mac = LocalClientMac("token", challenge, proof);
  LocalProof with_mac = proof;
  with_mac.mac = mac;
  EXPECT_EQ(LocalClientMac("token", challenge, with_mac), mac);
  EXPECT_NE(LocalClientMac("tokem", challenge, proof), mac);
  LocalChallenge other = challenge;
  other.node_boot.low ^= 1;
  EXPECT_NE(LocalClientMac("token", other, proof), mac);
  other = challenge;
  other.node_nonce[31] ^= 1;
  EXPECT_NE(LocalClientMac("token", other, proof), mac);
  LocalProof changed = proof;
  changed.client_nonce[0] ^= 1;
  EXPECT_NE(LocalClientMac("token", challenge, changed), mac);
  changed = proof;
  changed.profile = LocalProfile::kSameUser;
  EXPECT_NE(LocalClientMac("token", challenge, changed), mac);
  changed = proof;
  changed.transport_address += 'x';
  EXPECT_NE(LocalClientMac("token", challenge, changed), mac);
  changed = proof;
  changed.pool_bytes -= 1;
  EXPECT_NE(LocalClientMac("token", challenge, changed), mac);
}

TEST(LocalMessagesTest, NodeMacCoversEveryInput) {
  const LocalChallenge challenge = SmallChallenge();
  const LocalProof proof = SmallProof();
  const LocalWelcome welcome = SmallWelcome();
  const Digest256 mac = LocalNodeMac("token", challenge, proof, welcome);
  EXPECT_NE(mac, LocalClientMac("token", challenge, proof));
  EXPECT_NE(LocalNodeMac("tokem", challenge, proof, welcome), mac);
  LocalChallenge other = challenge;
  other.node_nonce[0] ^= 1;
  EXPECT_NE(LocalNodeMac("token", other, proof, welcome), mac);
  LocalProof other_proof = proof;
  other_proof.client_nonce[0] ^= 1;
  EXPECT_NE(LocalNodeMac("token", challenge, other_proof, welcome), mac);
  LocalWelcome other_welcome = welcome;
  other_welcome.ticket[0] ^= 1;
  EXPECT_NE(LocalNodeMac("token", challenge, proof, other_welcome), mac);
  other_welcome = welcome;
  other_welcome.transport_address += 'x';
  EXPECT_NE(LocalNodeMac("token", challenge, proof, other_welcome), mac);
}

}  // namespace
}  // namespace cairn::wire
