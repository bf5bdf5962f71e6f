#ifndef CAIRN_TOOLS_CAIRNCTL_KEY_CASE_H_
#define CAIRN_TOOLS_CAIRNCTL_KEY_CASE_H_

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "libs/span/identity.h"
#include "libs/span/prompt_hasher.h"

namespace cairn {

// A case of a golden-vector file, read and computed.
struct KeyCase {
  std::string name;
  ModelIdentity identity;
  Digest256 fingerprint;
  std::string name_space;
  std::string salt;
  std::uint32_t block_tokens = 0;
  Root root;
  bool has_stream = false;  // instead of segments
  PromptHasher prompt;      // its keys
};
// INVALID_ARGUMENT naming the field and its fault.
absl::StatusOr<KeyCase> ReadKeyCase(const boost::json::value& input);

// Reads one case of a golden-vector file ({name, identity, namespace, salt, block_tokens, and
// either segments or stream}) and returns it with every computed field: fingerprint, root, and for
// each block keys, digests, state_keys. Computed fields in the input are ignored. The prompt may
// end in a span, as a prefill-only one may. INVALID_ARGUMENT naming the field and its fault.
absl::StatusOr<boost::json::object> ComputeKeyCase(const boost::json::value& input);

}  // namespace cairn
#endif  // CAIRN_TOOLS_CAIRNCTL_KEY_CASE_H_
