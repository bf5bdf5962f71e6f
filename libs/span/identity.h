#ifndef CAIRN_LIBS_SPAN_IDENTITY_H_
#define CAIRN_LIBS_SPAN_IDENTITY_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "libs/base/ids.h"
#include "libs/base/model_identity.h"
#include "libs/base/sha256.h"

namespace cairn {

// The SHA-256 that stands for an identity. INVALID_ARGUMENT naming the field if one is longer than
// limits::kIdentityFieldBytesMax; any field may be empty.
absl::StatusOr<Digest256> FingerprintOf(const ModelIdentity& identity);

// The root of every key of one (identity, namespace, salt, block size). `name_space` and `salt` may
// be empty here: whether a deployment may leave them so is its configuration's decision.
// INVALID_ARGUMENT if one is too long or `block_tokens` is 0.
absl::StatusOr<Root> RootOf(const Digest256& fingerprint, absl::string_view name_space,
                            absl::string_view salt, std::uint32_t block_tokens);

// The names of the fields in which two identities differ, in the order above: the reason of a miss
// ("identity differs in: rope"). Empty if they are equal.
std::vector<absl::string_view> DifferingFields(const ModelIdentity& a, const ModelIdentity& b);

}  // namespace cairn
#endif  // CAIRN_LIBS_SPAN_IDENTITY_H_
