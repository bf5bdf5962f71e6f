#include "libs/node/token_book.h"

#include <gtest/gtest.h>

#include "libs/base/limits.h"
#include "libs/base/sha256.h"

namespace cairn {
namespace {

const Instant kNow = Instant::FromNanos(1'000'000'000);
const Root kRoot = Sha256Of("root");
const Root kOther = Sha256Of("other");

TEST(TokenBookTest, TokenIsGoodForItsRootUntilItExpires) {
  TokenBook book("");
  const absl::StatusOr<SessionToken> token = book.Issue(kRoot, absl::Seconds(10), kNow);
  ASSERT_TRUE(token.ok()) << token.status();
  EXPECT_EQ(token->secret.size(), kTokenSecretBytes);
  ASSERT_NE(book.SecretOf(token->id, kNow), nullptr);
  EXPECT_EQ(*book.SecretOf(token->id, kNow), token->secret);
  EXPECT_TRUE(book.Allows(token->id, kRoot, kNow));
  EXPECT_FALSE(book.Allows(token->id, kOther, kNow));
  EXPECT_FALSE(book.Allows(token->id, kRoot, kNow + absl::Seconds(10)));
  EXPECT_EQ(book.SecretOf(token->id, kNow + absl::Seconds(10)), nullptr);
  EXPECT_EQ(book.SecretOf("dev", kNow), nullptr);
}

TEST(TokenBookTest, DevTokenIsGoodForAnyRootAndNoOtherIsIssued) {
  TokenBook book("secret");
  ASSERT_NE(book.SecretOf("dev", kNow), nullptr);
  EXPECT_TRUE(book.Allows("dev", kRoot, kNow));
  EXPECT_TRUE(book.Allows("dev", kOther, kNow));
  EXPECT_FALSE(book.Allows("else", kRoot, kNow));
  EXPECT_EQ(book.Issue(kRoot, absl::Seconds(10), kNow).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST(TokenBookTest, LiveTokensAreLimitedAndExpiredOnesMakeRoom) {
  TokenBook book("");
  for (std::size_t i = 0; i < limits::kSessionTokensMax; ++i) {
    ASSERT_TRUE(book.Issue(kRoot, absl::Seconds(10), kNow).ok());
  }
  EXPECT_EQ(book.Issue(kRoot, absl::Seconds(10), kNow).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(book.Issue(kRoot, absl::Seconds(10), kNow + absl::Seconds(11)).ok());
  EXPECT_EQ(book.size(), 1u);
}

TEST(TokenBookTest, ImpossibleTtlIsRefused) {
  TokenBook book("");
  for (const absl::Duration ttl :
       {absl::ZeroDuration(), -absl::Seconds(1), absl::Hours(24 * 365)}) {
    EXPECT_EQ(book.Issue(kRoot, ttl, kNow).status().code(), absl::StatusCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace cairn
