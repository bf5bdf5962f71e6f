#ifndef CAIRN_LIBS_NODE_ROOT_CLAIM_H_
#define CAIRN_LIBS_NODE_ROOT_CLAIM_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "libs/base/ids.h"
#include "libs/index/identity_table.h"
#include "libs/span/identity.h"

namespace cairn {

// Everything that a root is made of (keys.md), as a peer or an administrator names it.
struct RootClaim {
  ModelIdentity identity;
  std::string name_space;
  std::string salt;
  std::uint32_t block_tokens = 0;
};

// INVALID_ARGUMENT naming the field that is too long, or block_tokens.
absl::StatusOr<Root> RootOf(const RootClaim& claim);

// The claim as named fields, for IdentityTable: the model's identity, then namespace, salt (secret)
// and block_tokens. Owns what the views point at; neither copied nor moved.
class ClaimFields {
 public:
  explicit ClaimFields(const RootClaim& claim);
  ClaimFields(const ClaimFields&) = delete;
  ClaimFields& operator=(const ClaimFields&) = delete;
  const std::vector<IdentityField>& fields() const { return fields_; }

 private:
  const RootClaim claim_;
  const std::string weights_hex_;
  const std::string block_tokens_;
  std::vector<IdentityField> fields_;
};

}  // namespace cairn
#endif  // CAIRN_LIBS_NODE_ROOT_CLAIM_H_
