#include "tools/bench/placement/agent_trace.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "libs/base/checksum.h"
#include "libs/base/status_macros.h"
#include "libs/gguf/gguf_file.h"
#include "libs/mapped_file/mapped_file.h"
#include "libs/tokenizer/tokenizer.h"
#include "tools/bench/placement/json_lines.h"
#include "tools/bench/placement/limits.h"

namespace cairn::bench {
namespace {

// 64 bits: two blocks of a trace that differ have one name once in 10^9 traces.
std::uint64_t HashOf(const void* bytes, std::size_t size) {
  return ChecksumOf({static_cast<const std::byte*>(bytes), size}).value();
}

absl::StatusOr<std::unique_ptr<Tokenizer>> ReadTokenizer(const std::string& model) {
  if (model.empty()) return nullptr;
  const auto read = [&]() -> absl::StatusOr<std::unique_ptr<Tokenizer>> {
    CAIRN_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(model));
    CAIRN_ASSIGN_OR_RETURN(const GgufFile gguf, GgufFile::Parse(file.bytes()));
    return Tokenizer::Create(gguf.metadata());
  };
  absl::StatusOr<std::unique_ptr<Tokenizer>> tokenizer = read();
  if (!tokenizer.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--model: ", model, ": ", tokenizer.status().message()));
  }
  return tokenizer;
}

absl::StatusOr<std::vector<std::uint32_t>> TokensOf(const JsonRecord& record,
                                                    const Tokenizer* tokenizer) {
  CAIRN_ASSIGN_OR_RETURN(const std::string text, record.Text("input", limits::kLineBytesMax));
  std::vector<std::uint32_t> tokens;
  if (tokenizer == nullptr) {
    tokens = WordTokens(text);
  } else {
    absl::StatusOr<std::vector<std::uint32_t>> encoded = tokenizer->Encode(text);
    if (!encoded.ok()) return record.Error("input", encoded.status().message());
    tokens = *std::move(encoded);
  }
  return tokens;
}

}  // namespace

std::vector<std::uint32_t> WordTokens(absl::string_view text) {
  std::vector<std::uint32_t> tokens;
  std::size_t begin = 0;
  while (begin < text.size()) {
    std::size_t end = begin;
    while (end < text.size() && absl::ascii_isspace(static_cast<unsigned char>(text[end]))) ++end;
    while (end < text.size() && !absl::ascii_isspace(static_cast<unsigned char>(text[end]))) ++end;
    tokens.push_back(static_cast<std::uint32_t>(HashOf(text.data() + begin, end - begin)));
    begin = end;
  }
  return tokens;
}

placement::TraceRequest BlocksOf(const std::vector<std::uint32_t>& tokens,
                                 std::uint32_t block_tokens, PrefixNames& names) {
  placement::TraceRequest request{
      .blocks = {}, .full_blocks = static_cast<std::uint32_t>(tokens.size() / block_tokens)};
  std::uint64_t node = 0;
  for (std::size_t at = 0; at < tokens.size(); at += block_tokens) {
    const std::size_t count = std::min<std::size_t>(block_tokens, tokens.size() - at);
    node = names.NameOf(node, HashOf(tokens.data() + at, count * sizeof(tokens[0])));
    request.blocks.push_back(node);
  }
  return request;
}

absl::StatusOr<ReplayTrace> ReadAgentTrace(const std::string& path,
                                           const AgentTraceOptions& options, ReadWatch watch) {
  CAIRN_ASSIGN_OR_RETURN(const std::unique_ptr<Tokenizer> tokenizer, ReadTokenizer(options.model));
  ReplayTrace trace{.name = path, .note = {}, .block_tokens = options.block_tokens, .requests = {}};
  trace.note = tokenizer == nullptr ? std::string("tokens: words (no --model)")
                                    : absl::StrCat("tokens: the tokenizer of ", options.model);
  CAIRN_ASSIGN_OR_RETURN(JsonLines lines, JsonLines::Open(path));
  PrefixNames names;
  std::size_t blocks = 0;
  std::size_t empty = 0;
  while (trace.requests.size() < options.requests_max) {
    CAIRN_ASSIGN_OR_RETURN(const std::optional<JsonRecord> record, lines.Next());
    if (!record.has_value()) break;
    CAIRN_ASSIGN_OR_RETURN(const std::vector<std::uint32_t> tokens,
                           TokensOf(*record, tokenizer.get()));
    if (tokens.empty()) {
      ++empty;
      continue;
    }
    placement::TraceRequest request = BlocksOf(tokens, options.block_tokens, names);
    blocks += request.blocks.size();
    if (request.blocks.size() > placement::limits::kEntryPositionsMax ||
        trace.requests.size() >= limits::kRequestsMax || blocks > limits::kBlocksMax) {
      return record->Error(
          "input",
          absl::StrCat("a prompt of over ", placement::limits::kEntryPositionsMax, " blocks of ",
                       options.block_tokens, " tokens, or a trace of over ", limits::kRequestsMax,
                       " requests or ", limits::kBlocksMax, " blocks"));
    }
    trace.requests.push_back(std::move(request));
    if (!watch(lines.ReadShare())) return absl::CancelledError("interrupted");
  }
  if (trace.requests.empty()) return absl::InvalidArgumentError(absl::StrCat(path, ": no request"));
  if (empty > 0) absl::StrAppend(&trace.note, "; ", empty, " calls without a prompt left out");
  return trace;
}

}  // namespace cairn::bench
