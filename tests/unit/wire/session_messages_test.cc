#include "gtest/gtest.h"
#include "libs/base/limits.h"
#include "libs/wire/messages.h"
#include "tests/unit/wire/codec_checks.h"

namespace cairn::wire {
namespace {

Hello TicketHello() {
  Hello m;
  m.ticket = std::string(kTicketBytes, 't');
  m.identity = {"model", std::string("\0\xff", 2), "arch", "layout", "rope", "adapter", "num"};
  m.name_space = "tenant";
  m.salt = "salt";
  m.block_tokens = 16;
  m.block_bytes = 1 << 20;
  m.producer = "worker-a";
  return m;
}

Hello TokenHello() {
  Hello m = TicketHello();
  m.ticket.clear();
  m.token_id = "dev";
  m.client_nonce = std::string(kNonceBytes, 'n');
  return m;
}

TEST(SessionMessagesTest, HelloRoundTrips) {
  ExpectSound(TicketHello(), DecodeHello);
  ExpectSound(TokenHello(), DecodeHello);
}

TEST(SessionMessagesTest, HelloAtItsLimitsFitsTheFirstMessage) {
  Hello m = TokenHello();
  m.token_id = std::string(kTokenIdBytesMax, 'i');
  m.producer = std::string(kProducerBytesMax, 'p');
  m.block_tokens = limits::kBlockTokensMax;
  m.block_bytes = limits::kEntryBytesMax;
  m.identity.rope += std::string(limits::kFirstMessageBytesMax - Encode(m).size(), 'r');
  ASSERT_EQ(Encode(m).size(), limits::kFirstMessageBytesMax);
  ExpectRoundTrip(m, DecodeHello);
  m.identity.rope += 'r';
  ExpectRefused(Encode(m), DecodeHello, "size");
}

TEST(SessionMessagesTest, HelloOfAnotherVersionIsToldApart) {
  const std::string body = With(Encode(TicketHello()), 0, std::uint32_t{kWireVersion + 1});
  EXPECT_EQ(DecodeHello(body).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(DecodeHello(body.substr(0, 4)).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(SessionMessagesTest, HelloHasEitherATicketOrAToken) {
  Hello both = TokenHello();
  both.ticket = std::string(kTicketBytes, 't');
  ExpectRefused(Encode(both), DecodeHello, "token_id");
  Hello neither = TokenHello();
  neither.token_id.clear();
  ExpectRefused(Encode(neither), DecodeHello, "token_id");
  Hello no_nonce = TokenHello();
  no_nonce.client_nonce.clear();
  ExpectRefused(Encode(no_nonce), DecodeHello, "client_nonce");
  Hello nonce_with_ticket = TicketHello();
  nonce_with_ticket.client_nonce = std::string(kNonceBytes, 'n');
  ExpectRefused(Encode(nonce_with_ticket), DecodeHello, "client_nonce");
  Hello short_ticket = TicketHello();
  short_ticket.ticket.pop_back();
  ExpectRefused(Encode(short_ticket), DecodeHello, "ticket");
}

TEST(SessionMessagesTest, HelloBoundsItsNumbers) {
  Hello m = TicketHello();
  m.block_tokens = limits::kBlockTokensMax + 1;
  ExpectRefused(Encode(m), DecodeHello, "block_tokens");
  m = TicketHello();
  m.block_bytes = limits::kEntryBytesMax + 1;
  ExpectRefused(Encode(m), DecodeHello, "block_bytes");
  m = TicketHello();
  m.producer = std::string(kProducerBytesMax + 1, 'p');
  ExpectRefused(Encode(m), DecodeHello, "producer");
}

TEST(SessionMessagesTest, ALengthThatCannotFitIsRefused) {
  ExpectRefused(With(Encode(TicketHello()), 4, std::uint32_t{0xffffffff}), DecodeHello, "ticket");
}

TEST(SessionMessagesTest, ChallengeRoundTrips) {
  ExpectSound(Challenge{std::string(kNonceBytes, '\0')}, DecodeChallenge);
  ExpectRefused(Encode(Challenge{"short"}), DecodeChallenge, "node_nonce");
  ExpectRefused(Encode(Challenge{std::string(kNonceBytes + 1, 'n')}), DecodeChallenge,
                "node_nonce");
}

TEST(SessionMessagesTest, ProofRoundTrips) { ExpectSound(Proof{DigestOf(7)}, DecodeProof); }

TEST(SessionMessagesTest, WelcomeRoundTrips) {
  ExpectSound(Welcome{}, DecodeWelcome);
  Welcome m;
  m.result = WelcomeResult::kStopping;
  m.message = std::string(kMessageTextBytesMax, 'm');
  m.node_boot = {UINT64_MAX, 1};
  m.root = DigestOf(9);
  m.pins_max = UINT32_MAX;
  m.offers_max = 3;
  m.pin_age_max_us = UINT64_MAX;
  ExpectSound(m, DecodeWelcome);
}

TEST(SessionMessagesTest, WelcomeOfAnUnknownResultIsRefused) {
  ExpectRefused(With(Encode(Welcome{}), 0, std::uint8_t{6}), DecodeWelcome, "result");
}

TEST(SessionMessagesTest, ALongTextForPeopleIsCut) {
  Welcome m;
  m.message = std::string(kMessageTextBytesMax + 100, 'm');
  const absl::StatusOr<Welcome> back = DecodeWelcome(Encode(m));
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->message, std::string(kMessageTextBytesMax, 'm'));
}

TEST(SessionMessagesTest, ProofMacCoversEveryInput) {
  const Digest256 mac = ProofMac("token", "node", "client", "hello");
  EXPECT_EQ(mac, ProofMac("token", "node", "client", "hello"));
  EXPECT_NE(mac, ProofMac("tokem", "node", "client", "hello"));
  EXPECT_NE(mac, ProofMac("token", "nodf", "client", "hello"));
  EXPECT_NE(mac, ProofMac("token", "node", "clienu", "hello"));
  EXPECT_NE(mac, ProofMac("token", "node", "client", "hellp"));
  // Independent of this code: HMAC over the documented bytes.
  EXPECT_EQ(mac, HmacSha256("token", std::string("cairn.remote.v1\0nodeclient", 26) +
                                         std::string(Sha256Of("hello").view())));
}

}  // namespace
}  // namespace cairn::wire
