#include "tools/bench/placement/mooncake_trace.h"

#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "libs/base/status_macros.h"
#include "tools/bench/placement/json_lines.h"
#include "tools/bench/placement/limits.h"

namespace cairn::bench {
namespace {

constexpr std::uint32_t kBlockTokens = 512;

absl::StatusOr<placement::TraceRequest> RequestOf(const JsonRecord& record, PrefixNames& names) {
  CAIRN_ASSIGN_OR_RETURN(const std::uint64_t tokens,
                         record.Number("input_length", limits::kTokensMax));
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::uint64_t> ids,
                         record.Numbers("hash_ids", placement::limits::kEntryPositionsMax,
                                        std::numeric_limits<std::uint64_t>::max()));
  placement::TraceRequest request{.blocks = {},
                                  .full_blocks = static_cast<std::uint32_t>(tokens / kBlockTokens)};
  if (ids.empty()) return record.Error("hash_ids", "a request has at least one");
  if (request.full_blocks > ids.size()) {
    return record.Error("hash_ids",
                        absl::StrCat(ids.size(), " of them, but ", tokens, " tokens have ",
                                     request.full_blocks, " full blocks"));
  }
  std::uint64_t node = 0;
  for (const std::uint64_t id : ids) {
    node = names.NameOf(node, id);
    request.blocks.push_back(node);
  }
  return request;
}

}  // namespace

absl::StatusOr<ReplayTrace> ReadMooncakeTrace(const std::string& path, std::size_t requests_max,
                                              ReadWatch watch) {
  ReplayTrace trace{.name = path, .note = {}, .block_tokens = kBlockTokens, .requests = {}};
  CAIRN_ASSIGN_OR_RETURN(JsonLines lines, JsonLines::Open(path));
  PrefixNames names;
  std::size_t blocks = 0;
  while (trace.requests.size() < requests_max) {
    CAIRN_ASSIGN_OR_RETURN(const std::optional<JsonRecord> record, lines.Next());
    if (!record.has_value()) break;
    CAIRN_ASSIGN_OR_RETURN(placement::TraceRequest request, RequestOf(*record, names));
    blocks += request.blocks.size();
    if (trace.requests.size() >= limits::kRequestsMax || blocks > limits::kBlocksMax) {
      return record->Error("hash_ids",
                           absl::StrCat("a trace of over ", limits::kRequestsMax, " requests or ",
                                        limits::kBlocksMax, " blocks; give a --limit"));
    }
    trace.requests.push_back(std::move(request));
    if (!watch(lines.ReadShare())) return absl::CancelledError("interrupted");
  }
  if (trace.requests.empty()) return absl::InvalidArgumentError(absl::StrCat(path, ": no request"));
  return trace;
}

}  // namespace cairn::bench
