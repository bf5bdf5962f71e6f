#include "libs/span/identity.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "libs/base/limits.h"
#include "libs/base/status_macros.h"
#include "libs/span/hash_tag.h"

namespace cairn {
namespace {

struct Field {
  absl::string_view name;
  std::string ModelIdentity::*value;
};

// In hashed order.
constexpr Field kFields[] = {
    {"model", &ModelIdentity::model},       {"weights_digest", &ModelIdentity::weights_digest},
    {"arch", &ModelIdentity::arch},         {"kv_layout", &ModelIdentity::kv_layout},
    {"rope", &ModelIdentity::rope},         {"adapter", &ModelIdentity::adapter},
    {"numerics", &ModelIdentity::numerics},
};

absl::Status CheckLength(absl::string_view name, absl::string_view value) {
  if (value.size() <= limits::kIdentityFieldBytesMax) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, ": ", value.size(), " bytes, more than ", limits::kIdentityFieldBytesMax));
}

}  // namespace

absl::StatusOr<Digest256> FingerprintOf(const ModelIdentity& identity) {
  Sha256 sha;
  sha.Update(HashTag("cairn.identity.v1"));
  for (const Field& field : kFields) {
    CAIRN_RETURN_IF_ERROR(CheckLength(field.name, identity.*field.value));
    sha.UpdateLengthPrefixed(identity.*field.value);
  }
  return sha.Finish();
}

absl::StatusOr<Root> RootOf(const Digest256& fingerprint, absl::string_view name_space,
                            absl::string_view salt, std::uint32_t block_tokens) {
  CAIRN_RETURN_IF_ERROR(CheckLength("namespace", name_space));
  CAIRN_RETURN_IF_ERROR(CheckLength("salt", salt));
  if (block_tokens == 0) return absl::InvalidArgumentError("block_tokens: must be at least 1");
  return Sha256()
      .Update(HashTag("cairn.root.v1"))
      .Update(fingerprint.view())
      .UpdateLengthPrefixed(name_space)
      .UpdateLengthPrefixed(salt)
      .UpdateU32(block_tokens)
      .Finish();
}

std::vector<absl::string_view> DifferingFields(const ModelIdentity& a, const ModelIdentity& b) {
  std::vector<absl::string_view> names;
  for (const Field& field : kFields) {
    if (a.*field.value != b.*field.value) names.push_back(field.name);
  }
  return names;
}

}  // namespace cairn
