#include "libs/node/token_book.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "libs/base/hex.h"
#include "libs/base/limits.h"
#include "libs/base/sha256.h"

namespace cairn {

absl::StatusOr<SessionToken> TokenBook::Issue(const Root& root, absl::Duration ttl, Instant now) {
  if (is_dev_mode()) {
    return absl::FailedPreconditionError(
        "dev mode: sessions use the token file in the node's run folder, OpenSession is off");
  }
  if (ttl <= absl::ZeroDuration() || ttl > absl::Seconds(limits::kSessionTokenTtlSecondsMax)) {
    return absl::InvalidArgumentError(absl::StrCat("ttl must be above 0 and at most ",
                                                   limits::kSessionTokenTtlSecondsMax, " seconds"));
  }
  DropExpired(now);
  if (tokens_.size() >= limits::kSessionTokensMax) {
    return absl::ResourceExhaustedError(
        absl::StrCat("session tokens: ", limits::kSessionTokensMax, " are live already"));
  }
  SessionToken out{
      .id = ToHex(RandomBytes(16)), .secret = RandomBytes(kTokenSecretBytes), .ttl = ttl};
  tokens_[out.id] = Token{.secret = out.secret, .root = root, .expires = now + ttl};
  return out;
}

const std::string* TokenBook::SecretOf(absl::string_view id, Instant now) {
  if (is_dev_mode()) return id == kDevTokenId ? &dev_secret_ : nullptr;
  const auto it = tokens_.find(id);
  if (it == tokens_.end() || it->second.expires <= now) return nullptr;
  return &it->second.secret;
}

bool TokenBook::Allows(absl::string_view id, const Root& root, Instant now) {
  if (is_dev_mode()) return id == kDevTokenId;
  const auto it = tokens_.find(id);
  return it != tokens_.end() && it->second.expires > now && it->second.root == root;
}

void TokenBook::DropExpired(Instant now) {
  absl::erase_if(tokens_, [now](const auto& entry) { return entry.second.expires <= now; });
}

}  // namespace cairn
