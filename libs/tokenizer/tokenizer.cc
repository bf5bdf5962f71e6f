#include "libs/tokenizer/tokenizer.h"

#include <array>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "libs/base/check.h"
#include "libs/base/limits.h"
#include "libs/base/status_macros.h"
#include "libs/base/utf8.h"
#include "libs/tokenizer/byte_alphabet.h"
#include "libs/tokenizer/merge_table.h"
#include "libs/tokenizer/splitter.h"

namespace cairn {
namespace {

constexpr absl::string_view kTokensKey = "tokenizer.ggml.tokens";
constexpr absl::string_view kTypesKey = "tokenizer.ggml.token_type";
constexpr absl::string_view kMergesKey = "tokenizer.ggml.merges";
constexpr std::uint32_t kNoToken = UINT32_MAX;

// tokenizer.ggml.token_type.
enum class TokenType : std::int64_t {
  kNormal = 1,
  kUnknown = 2,
  kControl = 3,
  kUserDefined = 4,
  kUnused = 5,
};

absl::Status Malformed(absl::string_view key, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("metadata key '", key, "': ", what));
}

absl::Status RefuseWhatIsNotBuilt(const GgufMetadata& metadata) {
  CAIRN_ASSIGN_OR_RETURN(const absl::string_view model, metadata.GetString("tokenizer.ggml.model"));
  if (model != "gpt2") {
    return absl::UnimplementedError(absl::StrCat("tokenizer.ggml.model ", QuotedName(model),
                                                 " is not supported; supported: 'gpt2'"));
  }
  CAIRN_ASSIGN_OR_RETURN(const bool adds_space,
                         metadata.GetBoolOr("tokenizer.ggml.add_space_prefix", false));
  if (adds_space) {
    return absl::UnimplementedError("tokenizer.ggml.add_space_prefix true is not supported");
  }
  return absl::OkStatus();
}

// The id that `key` names, if it is there; it must be in the vocabulary.
absl::StatusOr<absl::optional<std::uint32_t>> NamedId(const GgufMetadata& metadata,
                                                      absl::string_view key, std::size_t size) {
  if (!metadata.Has(key)) return absl::optional<std::uint32_t>();
  CAIRN_ASSIGN_OR_RETURN(const std::uint64_t id, metadata.GetUint(key));
  if (id >= size) return Malformed(key, absl::StrCat(id, " of a vocabulary of ", size));
  return absl::optional<std::uint32_t>(static_cast<std::uint32_t>(id));
}

}  // namespace

struct Tokenizer::State {
  explicit State(Splitter rules) : splitter(std::move(rules)) {}

  Splitter splitter;
  ByteAlphabet alphabet;
  std::vector<std::string> bytes_of;  // by id
  std::vector<bool> is_normal;        // by id: text may give it
  absl::flat_hash_map<std::string, std::uint32_t> control_id_of;
  std::array<std::uint32_t, 256> id_of_byte;
  MergeTable merges;
  absl::optional<std::uint32_t> bos;
  absl::optional<std::uint32_t> eos;

  // The written form of normal tokens; needed while loading only.
  using IdOf = absl::flat_hash_map<absl::string_view, std::uint32_t>;

  absl::StatusOr<IdOf> LoadTokens(const GgufMetadata& metadata);
  absl::Status LoadMerges(const GgufMetadata& metadata, const IdOf& id_of);
  absl::Status LoadMerge(std::uint32_t rank, absl::string_view merge, const IdOf& id_of,
                         std::string& joined);
  void EncodePiece(absl::string_view piece, MergeTable::Scratch& scratch,
                   std::vector<std::uint32_t>& out) const;
};

absl::StatusOr<Tokenizer::State::IdOf> Tokenizer::State::LoadTokens(const GgufMetadata& metadata) {
  CAIRN_ASSIGN_OR_RETURN(const auto tokens, metadata.GetStrings(kTokensKey));
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::int64_t> types, metadata.GetInts(kTypesKey));
  if (tokens.empty() || tokens.size() > limits::kTokenizerVocabularyMax) {
    return Malformed(kTokensKey, absl::StrCat(tokens.size(), " tokens; expected 1 to ",
                                              limits::kTokenizerVocabularyMax));
  }
  if (types.size() != tokens.size()) {
    return Malformed(kTypesKey,
                     absl::StrCat(types.size(), " types for ", tokens.size(), " tokens"));
  }
  bytes_of.reserve(tokens.size());
  is_normal.reserve(tokens.size());
  IdOf id_of;
  id_of.reserve(tokens.size());
  for (std::uint32_t id = 0; id < tokens.size(); ++id) {
    const absl::string_view token = tokens[id];
    const TokenType type = static_cast<TokenType>(types[id]);
    if (token.size() > limits::kTokenizerTokenBytesMax) {
      return Malformed(kTokensKey, absl::StrCat("token ", id, " has ", token.size(), " bytes"));
    }
    if (type < TokenType::kNormal || type > TokenType::kUnused || type == TokenType::kUserDefined) {
      // User-defined tokens are cut out of text before the rules: without that, ids would be wrong.
      return absl::UnimplementedError(absl::StrCat("metadata key '", kTypesKey, "': token ", id,
                                                   " ", QuotedName(token), " has type ", types[id],
                                                   "; supported: 1, 2, 3, 5"));
    }
    is_normal.push_back(type == TokenType::kNormal);
    if (type == TokenType::kNormal) {
      bytes_of.push_back(alphabet.BytesOf(token).value_or(std::string(token)));
      if (id_of.try_emplace(token, id).second) continue;
    } else {
      bytes_of.emplace_back(token);
      if (control_id_of.try_emplace(std::string(token), id).second) continue;
      if (type == TokenType::kUnused) continue;  // fillers may share a name
    }
    return Malformed(kTokensKey,
                     absl::StrCat("token ", id, " ", QuotedName(token), " is there twice"));
  }
  return id_of;
}

absl::Status Tokenizer::State::LoadMerges(const GgufMetadata& metadata, const IdOf& id_of) {
  CAIRN_ASSIGN_OR_RETURN(const auto list, metadata.GetStrings(kMergesKey));
  for (int byte = 0; byte < 256; ++byte) {
    const auto at = id_of.find(alphabet.CharacterOf(static_cast<std::uint8_t>(byte)));
    id_of_byte[byte] = at == id_of.end() ? kNoToken : at->second;
  }
  merges.Reserve(list.size());
  std::string joined;
  for (std::uint32_t rank = 0; rank < list.size(); ++rank) {
    CAIRN_RETURN_IF_ERROR(LoadMerge(rank, list[rank], id_of, joined));
  }
  return absl::OkStatus();
}

// "left right": all of left, right and their join must be normal tokens, so that no merge can lead
// from text to a control token.
absl::Status Tokenizer::State::LoadMerge(std::uint32_t rank, absl::string_view merge,
                                         const IdOf& id_of, std::string& joined) {
  const std::size_t space = merge.find(' ');
  if (space == absl::string_view::npos || merge.find(' ', space + 1) != absl::string_view::npos) {
    return Malformed(kMergesKey,
                     absl::StrCat("merge ", rank, " ", QuotedName(merge), " is not two words"));
  }
  joined.assign(merge.data(), space);
  joined.append(merge.data() + space + 1, merge.size() - space - 1);
  const auto left = id_of.find(merge.substr(0, space));
  const auto right = id_of.find(merge.substr(space + 1));
  const auto result = id_of.find(joined);
  if (left == id_of.end() || right == id_of.end() || result == id_of.end()) {
    return Malformed(kMergesKey, absl::StrCat("merge ", rank, " ", QuotedName(merge),
                                              " names or makes what is no normal token"));
  }
  if (!merges.Add(left->second, right->second, rank, result->second)) {
    return Malformed(kMergesKey,
                     absl::StrCat("merge ", rank, " ", QuotedName(merge), " is there twice"));
  }
  return absl::OkStatus();
}

void Tokenizer::State::EncodePiece(absl::string_view piece, MergeTable::Scratch& scratch,
                                   std::vector<std::uint32_t>& out) const {
  scratch.symbols.clear();
  for (char c : piece) {
    // A byte without a token vanishes before merges, so that its neighbours may join, as in the
    // reference (tools/reference/README.md).
    const std::uint32_t id = id_of_byte[static_cast<std::uint8_t>(c)];
    if (id != kNoToken) scratch.symbols.push_back({id, 0, 0});
  }
  merges.Apply(scratch, out);
}

Tokenizer::Tokenizer(std::unique_ptr<State> state) : state_(std::move(state)) {}
Tokenizer::~Tokenizer() = default;

absl::StatusOr<std::unique_ptr<Tokenizer>> Tokenizer::Create(const GgufMetadata& metadata) {
  CAIRN_RETURN_IF_ERROR(RefuseWhatIsNotBuilt(metadata));
  CAIRN_ASSIGN_OR_RETURN(const absl::string_view pre, metadata.GetString("tokenizer.ggml.pre"));
  CAIRN_ASSIGN_OR_RETURN(Splitter splitter, Splitter::Create(pre));
  auto state = std::make_unique<State>(std::move(splitter));
  CAIRN_ASSIGN_OR_RETURN(const State::IdOf id_of, state->LoadTokens(metadata));
  CAIRN_RETURN_IF_ERROR(state->LoadMerges(metadata, id_of));
  const std::size_t size = state->bytes_of.size();
  CAIRN_ASSIGN_OR_RETURN(state->bos, NamedId(metadata, "tokenizer.ggml.bos_token_id", size));
  CAIRN_ASSIGN_OR_RETURN(state->eos, NamedId(metadata, "tokenizer.ggml.eos_token_id", size));
  return std::unique_ptr<Tokenizer>(new Tokenizer(std::move(state)));
}

absl::StatusOr<std::vector<std::uint32_t>> Tokenizer::Encode(absl::string_view text) const {
  if (text.size() > limits::kTokenizerTextBytesMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("text of ", text.size(), " bytes; at most ", limits::kTokenizerTextBytesMax));
  }
  std::vector<std::uint32_t> out;
  MergeTable::Scratch scratch;
  while (!text.empty()) {
    const std::size_t valid_bytes = Utf8PrefixBytes(text);
    CAIRN_RETURN_IF_ERROR(state_->splitter.Split(
        text.substr(0, valid_bytes),
        [&](absl::string_view piece) { state_->EncodePiece(piece, scratch, out); }));
    text.remove_prefix(valid_bytes);
    if (text.empty()) break;
    for (std::size_t n = NextUtf8(text).bytes; n > 0; --n) {
      state_->EncodePiece(text.substr(0, 1), scratch, out);
      text.remove_prefix(1);
    }
  }
  return out;
}

std::string Tokenizer::Decode(absl::Span<const std::uint32_t> ids) const {
  std::string out;
  for (std::uint32_t id : ids) {
    const absl::string_view bytes = BytesOf(id);
    out.append(bytes.data(), bytes.size());
  }
  return out;
}

absl::string_view Tokenizer::BytesOf(std::uint32_t id) const {
  return id < size() ? absl::string_view(state_->bytes_of[id]) : absl::string_view();
}

std::uint32_t Tokenizer::size() const {
  return static_cast<std::uint32_t>(state_->bytes_of.size());
}

bool Tokenizer::IsControl(std::uint32_t id) const { return id < size() && !state_->is_normal[id]; }

absl::optional<std::uint32_t> Tokenizer::ControlId(absl::string_view name) const {
  const auto at = state_->control_id_of.find(name);
  if (at == state_->control_id_of.end()) return absl::nullopt;
  return at->second;
}

absl::optional<std::uint32_t> Tokenizer::bos_id() const { return state_->bos; }
absl::optional<std::uint32_t> Tokenizer::eos_id() const { return state_->eos; }

bool Tokenizer::HasByte(std::uint8_t byte) const { return state_->id_of_byte[byte] != kNoToken; }

}  // namespace cairn
