#ifndef CAIRN_LIBS_NODE_TOKEN_BOOK_H_
#define CAIRN_LIBS_NODE_TOKEN_BOOK_H_

#include <cstddef>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "libs/base/ids.h"
#include "libs/base/instant.h"

namespace cairn {

// What a client needs to open sessions. `secret` never travels but over mTLS (OpenSession) or in a
// file that only its owner reads (dev mode).
struct SessionToken {
  std::string id;
  std::string secret;  // kTokenSecretBytes raw bytes
  absl::Duration ttl;
};
inline constexpr std::size_t kTokenSecretBytes = 32;
inline constexpr char kDevTokenId[] = "dev";

// TokenBook knows which secrets open sessions, and for which root.
//
// Invariants:
//   1. A token that OpenSession gave is good for exactly one root, until it expires. Expiry ends no
//      session: it only stops new ones.
//   2. In dev mode the one token is good for any root, and Issue refuses.
// Threads: one. Time is an argument.
// Limits:  limits::kSessionTokensMax live tokens, then RESOURCE_EXHAUSTED.
class TokenBook {
 public:
  explicit TokenBook(std::string dev_secret) : dev_secret_(std::move(dev_secret)) {}

  absl::StatusOr<SessionToken> Issue(const Root& root, absl::Duration ttl, Instant now);

  // The secret of a live token, or nullptr. Valid until the next call.
  const std::string* SecretOf(absl::string_view id, Instant now);
  // Whether a live token opens a session on `root`.
  bool Allows(absl::string_view id, const Root& root, Instant now);

  bool is_dev_mode() const { return !dev_secret_.empty(); }
  std::size_t size() const { return tokens_.size(); }

 private:
  struct Token {
    std::string secret;
    Root root;
    Instant expires;
  };
  void DropExpired(Instant now);

  const std::string dev_secret_;
  absl::flat_hash_map<std::string, Token> tokens_;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_NODE_TOKEN_BOOK_H_
