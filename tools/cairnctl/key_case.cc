#include "tools/cairnctl/key_case.h"

#include <boost/json/array.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "libs/base/limits.h"
#include "libs/base/status_macros.h"
#include "libs/span/identity.h"
#include "libs/span/prompt_hasher.h"
#include "libs/span/token_stream.h"
#include "tools/cairnctl/json_fields.h"

namespace cairn {
namespace {

constexpr std::uint64_t kU32Max = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kPositionMax = std::numeric_limits<std::int64_t>::max();

absl::StatusOr<ModelIdentity> ReadIdentity(const JsonFields& fields) {
  CAIRN_RETURN_IF_ERROR(fields.AllowOnly(
      {"model", "weights_digest", "arch", "kv_layout", "rope", "adapter", "numerics"}));
  ModelIdentity identity;
  CAIRN_ASSIGN_OR_RETURN(identity.model, fields.String("model"));
  CAIRN_ASSIGN_OR_RETURN(identity.weights_digest, fields.HexBytes("weights_digest"));
  CAIRN_ASSIGN_OR_RETURN(identity.arch, fields.String("arch"));
  CAIRN_ASSIGN_OR_RETURN(identity.kv_layout, fields.String("kv_layout"));
  CAIRN_ASSIGN_OR_RETURN(identity.rope, fields.String("rope"));
  CAIRN_ASSIGN_OR_RETURN(identity.adapter, fields.String("adapter"));
  CAIRN_ASSIGN_OR_RETURN(identity.numerics, fields.String("numerics"));
  return identity;
}

absl::StatusOr<std::vector<Token>> ReadTokens(const JsonFields& fields) {
  CAIRN_ASSIGN_OR_RETURN(const boost::json::array* array, fields.Array("tokens"));
  if (array->size() > limits::kPromptTokensMax) {
    return FieldError(fields.PathOf("tokens"),
                      absl::StrCat("more than ", limits::kPromptTokensMax, " tokens"));
  }
  std::vector<Token> tokens;
  tokens.reserve(array->size());
  for (const boost::json::value& value : *array) {
    absl::StatusOr<std::uint64_t> token = ReadNumber(value, "", kU32Max);
    if (!token.ok()) {
      return FieldError(absl::StrCat(fields.PathOf("tokens"), "[", tokens.size(), "]"),
                        token.status().message());
    }
    tokens.push_back(static_cast<Token>(*token));
  }
  return tokens;
}

absl::StatusOr<Extra> ReadExtra(const JsonFields& fields) {
  CAIRN_RETURN_IF_ERROR(fields.AllowOnly({"first", "count", "hash"}));
  Extra extra;
  CAIRN_ASSIGN_OR_RETURN(const std::uint64_t first, fields.Number("first", kU32Max));
  CAIRN_ASSIGN_OR_RETURN(const std::uint64_t count, fields.Number("count", kU32Max));
  CAIRN_ASSIGN_OR_RETURN(extra.hash, fields.HexBytes("hash"));
  extra.first = static_cast<std::uint32_t>(first);
  extra.count = static_cast<std::uint32_t>(count);
  return extra;
}

absl::StatusOr<PromptSegment> ReadSegment(const JsonFields& fields) {
  CAIRN_RETURN_IF_ERROR(fields.AllowOnly({"kind", "tokens", "base", "extras"}));
  PromptSegment segment;
  CAIRN_ASSIGN_OR_RETURN(const std::string kind_name, fields.String("kind"));
  absl::StatusOr<SegmentKind> kind = ParseSegmentKind(kind_name);
  if (!kind.ok()) return FieldError(fields.PathOf("kind"), kind.status().message());
  segment.head.kind = *kind;
  if (fields.Has("base")) {
    CAIRN_ASSIGN_OR_RETURN(segment.head.base, fields.Number("base", kPositionMax));
  }
  if (fields.Has("extras")) {
    CAIRN_ASSIGN_OR_RETURN(const boost::json::array* extras, fields.Array("extras"));
    for (const boost::json::value& value : *extras) {
      const std::string path =
          absl::StrCat(fields.PathOf("extras"), "[", segment.head.extras.size(), "]");
      CAIRN_ASSIGN_OR_RETURN(const JsonFields extra_fields, JsonFields::Of(value, path));
      CAIRN_ASSIGN_OR_RETURN(Extra extra, ReadExtra(extra_fields));
      segment.head.extras.push_back(std::move(extra));
    }
  }
  CAIRN_ASSIGN_OR_RETURN(segment.tokens, ReadTokens(fields));
  return segment;
}

absl::StatusOr<PromptHasher> HashSegments(const JsonFields& fields, const Root& root,
                                          const PromptOptions& options) {
  CAIRN_ASSIGN_OR_RETURN(const boost::json::array* array, fields.Array("segments"));
  std::vector<PromptSegment> segments;
  for (const boost::json::value& value : *array) {
    const std::string path = absl::StrCat("segments[", segments.size(), "]");
    CAIRN_ASSIGN_OR_RETURN(const JsonFields segment_fields, JsonFields::Of(value, path));
    CAIRN_ASSIGN_OR_RETURN(PromptSegment segment, ReadSegment(segment_fields));
    segments.push_back(std::move(segment));
  }
  return HashPrompt(root, options, segments);
}

absl::StatusOr<PromptHasher> HashStreamFields(const JsonFields& fields, const Root& root,
                                              const PromptOptions& options) {
  CAIRN_ASSIGN_OR_RETURN(const JsonFields stream, fields.Object("stream"));
  CAIRN_RETURN_IF_ERROR(stream.AllowOnly({"tokens", "ssep", "pdep"}));
  CAIRN_ASSIGN_OR_RETURN(const std::uint64_t ssep, stream.Number("ssep", kU32Max));
  CAIRN_ASSIGN_OR_RETURN(const std::uint64_t pdep, stream.Number("pdep", kU32Max));
  CAIRN_ASSIGN_OR_RETURN(const std::vector<Token> tokens, ReadTokens(stream));
  const StreamIds ids{.ssep = static_cast<Token>(ssep), .pdep = static_cast<Token>(pdep)};
  absl::StatusOr<PromptHasher> prompt = HashStream(root, options, ids, tokens);
  if (!prompt.ok()) return FieldError("stream", prompt.status().message());
  return prompt;
}

boost::json::array HexArray(absl::Span<const Digest256> digests) {
  boost::json::array out;
  out.reserve(digests.size());
  for (const Digest256& digest : digests) out.emplace_back(digest.ToHex());
  return out;
}

}  // namespace

absl::StatusOr<KeyCase> ReadKeyCase(const boost::json::value& input) {
  CAIRN_ASSIGN_OR_RETURN(const JsonFields fields, JsonFields::Of(input, ""));
  CAIRN_RETURN_IF_ERROR(
      fields.AllowOnly({"name", "identity", "fingerprint", "namespace", "salt", "block_tokens",
                        "root", "segments", "stream", "keys", "digests", "state_keys"}));
  CAIRN_ASSIGN_OR_RETURN(std::string name, fields.String("name"));
  CAIRN_ASSIGN_OR_RETURN(const JsonFields identity_fields, fields.Object("identity"));
  CAIRN_ASSIGN_OR_RETURN(ModelIdentity identity, ReadIdentity(identity_fields));
  CAIRN_ASSIGN_OR_RETURN(std::string name_space, fields.String("namespace"));
  CAIRN_ASSIGN_OR_RETURN(std::string salt, fields.String("salt"));
  CAIRN_ASSIGN_OR_RETURN(const std::uint64_t block_tokens, fields.Number("block_tokens", kU32Max));
  absl::StatusOr<Digest256> fingerprint = FingerprintOf(identity);
  if (!fingerprint.ok()) return FieldError("identity", fingerprint.status().message());
  const PromptOptions options{.block_tokens = static_cast<std::uint32_t>(block_tokens),
                              .prefill_only = true};
  CAIRN_ASSIGN_OR_RETURN(const Root root,
                         RootOf(*fingerprint, name_space, salt, options.block_tokens));
  const bool has_stream = fields.Has("stream");
  if (has_stream == fields.Has("segments")) {
    return FieldError("", "a case has either segments or stream");
  }
  CAIRN_ASSIGN_OR_RETURN(PromptHasher prompt, has_stream ? HashStreamFields(fields, root, options)
                                                         : HashSegments(fields, root, options));
  return KeyCase{.name = std::move(name),
                 .identity = std::move(identity),
                 .fingerprint = *fingerprint,
                 .name_space = std::move(name_space),
                 .salt = std::move(salt),
                 .block_tokens = options.block_tokens,
                 .root = root,
                 .has_stream = has_stream,
                 .prompt = std::move(prompt)};
}

absl::StatusOr<boost::json::object> ComputeKeyCase(const boost::json::value& input) {
  CAIRN_ASSIGN_OR_RETURN(KeyCase computed, ReadKeyCase(input));
  boost::json::object out;
  const boost::json::object& in = input.get_object();
  const boost::json::string_view prompt_field = computed.has_stream ? "stream" : "segments";
  out["name"] = in.at("name");
  out["identity"] = in.at("identity");
  out["fingerprint"] = computed.fingerprint.ToHex();
  out["namespace"] = in.at("namespace");
  out["salt"] = in.at("salt");
  out["block_tokens"] = in.at("block_tokens");
  out["root"] = computed.root.ToHex();
  out[prompt_field] = in.at(prompt_field);
  out["keys"] = HexArray(computed.prompt.keys());
  out["digests"] = HexArray(computed.prompt.Digests());
  out["state_keys"] = HexArray(computed.prompt.StateKeys());
  return out;
}

}  // namespace cairn
