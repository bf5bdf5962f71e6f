#include "libs/node/root_claim.h"

#include "absl/strings/str_cat.h"
#include "libs/base/hex.h"
#include "libs/base/status_macros.h"

namespace cairn {

absl::StatusOr<Root> RootOf(const RootClaim& claim) {
  CAIRN_ASSIGN_OR_RETURN(const Digest256 fingerprint, FingerprintOf(claim.identity));
  return RootOf(fingerprint, claim.name_space, claim.salt, claim.block_tokens);
}

ClaimFields::ClaimFields(const RootClaim& claim)
    : claim_(claim),
      weights_hex_(ToHex(claim.identity.weights_digest)),
      block_tokens_(absl::StrCat(claim.block_tokens)) {
  fields_ = {{"model", claim_.identity.model},
             {"weights_digest", weights_hex_},
             {"arch", claim_.identity.arch},
             {"kv_layout", claim_.identity.kv_layout},
             {"rope", claim_.identity.rope},
             {"adapter", claim_.identity.adapter},
             {"numerics", claim_.identity.numerics},
             {"namespace", claim_.name_space},
             {"salt", claim_.salt, true},
             {"block_tokens", block_tokens_}};
}

}  // namespace cairn
