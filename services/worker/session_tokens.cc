#include "services/worker/session_tokens.h"

#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"

namespace cairn {

TokenSource DevTokenSource(const std::string& node_run_dir) {
  return [path = absl::StrCat(node_run_dir, "/token")](auto done) {
    std::ifstream in(path, std::ios::binary);
    if (!in) {
      done(absl::UnavailableError(absl::StrCat("cannot read ", path, ": is the node running?")));
      return;
    }
    char token[33];
    in.read(token, sizeof token);
    if (in.gcount() != 32) {
      done(absl::UnavailableError(absl::StrCat(path, " is no token of 32 bytes")));
      return;
    }
    done(AccessToken{.token_id = "dev", .token = std::string(token, 32)});
  };
}

}  // namespace cairn
