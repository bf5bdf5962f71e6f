#include "tools/bench/placement/published_log.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <tuple>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "libs/base/status_macros.h"
#include "tools/bench/placement/json_lines.h"
#include "tools/bench/placement/limits.h"

namespace cairn::bench {
namespace {

namespace fs = std::filesystem;

constexpr absl::string_view kPrefix = "e2e_";
constexpr double kPublishedDecay = 0.99;

absl::StatusOr<LogRequest> RequestOf(const JsonRecord& record) {
  LogRequest request;
  CAIRN_ASSIGN_OR_RETURN(request.conversation, record.Text("conv_id", limits::kNameBytesMax));
  CAIRN_ASSIGN_OR_RETURN(const std::uint64_t length, record.Number("seq_len", limits::kTokensMax));
  CAIRN_ASSIGN_OR_RETURN(const std::uint64_t match, record.Number("prefix_match", length));
  if (length == 0) return record.Error("seq_len", "a request of no tokens");
  request.length = static_cast<std::uint32_t>(length);
  request.match = static_cast<std::uint32_t>(match);
  if (record.Has("n_cache_entries")) {
    CAIRN_ASSIGN_OR_RETURN(const std::uint64_t entries,
                           record.Number("n_cache_entries", limits::kRequestsMax));
    request.entries = static_cast<std::uint32_t>(entries);
  }
  CAIRN_ASSIGN_OR_RETURN(
      const std::vector<std::uint64_t> positions,
      record.Numbers("added_positions", placement::limits::kEntryPositionsMax, length));
  for (const std::uint64_t position : positions) {
    const bool ascends = request.positions.empty() || position > request.positions.back();
    if (position == 0 || position % kLogGrid != 0 || !ascends) {
      return record.Error("added_positions",
                          absl::StrCat("ascending multiples of ", kLogGrid, ", not ", position));
    }
    request.positions.push_back(static_cast<std::uint32_t>(position));
  }
  return request;
}

absl::StatusOr<std::vector<LogRequest>> ReadRequests(const std::string& path,
                                                     std::size_t requests_max) {
  std::vector<LogRequest> requests;
  CAIRN_ASSIGN_OR_RETURN(JsonLines lines, JsonLines::Open(path));
  while (requests.size() < requests_max) {
    CAIRN_ASSIGN_OR_RETURN(const std::optional<JsonRecord> record, lines.Next());
    if (!record.has_value()) break;
    CAIRN_ASSIGN_OR_RETURN(LogRequest request, RequestOf(*record));
    requests.push_back(std::move(request));
  }
  if (requests.empty()) return absl::InvalidArgumentError(absl::StrCat(path, ": no request"));
  return requests;
}

absl::StatusOr<FirstHistogram> ReadFirst(const std::string& path) {
  CAIRN_ASSIGN_OR_RETURN(const JsonRecord file, ReadJsonObject(path));
  CAIRN_ASSIGN_OR_RETURN(const boost::json::array* const log,
                         file.Array("histogram_log", limits::kRequestsMax));
  if (log->empty() || !log->front().is_object()) {
    return file.Error("histogram_log[0]", "the histogram at the first solve");
  }
  const JsonRecord first(log->front().get_object(), absl::StrCat(path, ": histogram_log[0]"));
  CAIRN_ASSIGN_OR_RETURN(const std::uint64_t observations,
                         first.Number("n_obs", std::uint64_t{1} << 40));
  CAIRN_ASSIGN_OR_RETURN(const boost::json::array* const counts,
                         first.Array("counts", placement::limits::kBinsMax));
  CAIRN_ASSIGN_OR_RETURN(placement::OverlapHistogram histogram,
                         placement::OverlapHistogram::Create(
                             {.grid = kLogGrid,
                              .bins_max = static_cast<std::uint32_t>(limits::kTokensMax / kLogGrid),
                              .decay = kPublishedDecay}));
  for (std::uint32_t bin = 0; bin < counts->size(); ++bin) {
    const std::string field = absl::StrCat("counts[", bin, "]");
    boost::json::error_code error;
    const double count = (*counts)[bin].is_number() ? (*counts)[bin].to_number<double>(error) : -1;
    if (error || !(count >= 0)) return first.Error(field, "a count, at least 0");
    if (count == 0) continue;
    const absl::Status status = histogram.Restore(bin, count);
    if (!status.ok()) return first.Error(field, status.message());
  }
  return FirstHistogram{.observations = observations, .histogram = std::move(histogram)};
}

// "e2e_dp_5" is the rule dp with 5; a name that is none of ours gives no rule.
std::pair<std::string, std::uint32_t> RuleOf(absl::string_view stem) {
  if (!absl::ConsumePrefix(&stem, kPrefix)) return {};
  if (stem == "no_cache") return {"no_cache", 0};
  for (const absl::string_view rule : {"dp", "balanced", "block"}) {
    absl::string_view rest = stem;
    std::uint32_t number = 0;
    if (absl::ConsumePrefix(&rest, rule) && absl::ConsumePrefix(&rest, "_") &&
        absl::SimpleAtoi(rest, &number) && number > 0 && number <= limits::kTokensMax) {
      return {std::string(rule), number};
    }
  }
  return {};
}

bool SameRequests(const PublishedRun& a, const PublishedRun& b) {
  return std::equal(a.requests.begin(), a.requests.end(), b.requests.begin(), b.requests.end(),
                    [](const LogRequest& x, const LogRequest& y) {
                      return x.length == y.length && x.match == y.match;
                    });
}

// A run's own histograms if it has some, else those of a run that saw the same matches: the
// histogram does not depend on the states.
absl::Status FindFirst(PublishedSet& set) {
  std::vector<std::optional<FirstHistogram>> own(set.runs.size());
  for (std::size_t r = 0; r < set.runs.size(); ++r) {
    const std::string path =
        absl::StrCat(absl::StripSuffix(set.runs[r].path, ".jsonl"), "_histograms.json");
    std::error_code error;
    if (!fs::exists(path, error)) continue;
    CAIRN_ASSIGN_OR_RETURN(FirstHistogram first, ReadFirst(path));
    own[r] = std::move(first);
  }
  for (std::size_t r = 0; r < set.runs.size(); ++r) {
    set.first.push_back(own[r]);
    for (std::size_t o = 0; o < own.size() && !set.first[r].has_value(); ++o) {
      if (own[o].has_value() && SameRequests(set.runs[r], set.runs[o])) set.first[r] = own[o];
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<PublishedSet> ReadSet(const fs::path& folder, std::size_t requests_max) {
  PublishedSet set{.name = folder.filename().string(), .runs = {}, .first = {}};
  std::error_code error;
  for (fs::directory_iterator file(folder, error), end; !error && file != end;
       file.increment(error)) {
    if (file->path().extension() != ".jsonl") continue;
    const auto [rule, number] = RuleOf(file->path().stem().string());
    if (rule.empty()) continue;
    if (set.runs.size() >= limits::kRunsMax) {
      return absl::InvalidArgumentError(
          absl::StrCat(folder.string(), ": more than ", limits::kRunsMax, " logs"));
    }
    set.runs.push_back(
        {.rule = rule, .number = number, .path = file->path().string(), .requests = {}});
  }
  if (error)
    return absl::InvalidArgumentError(absl::StrCat(folder.string(), ": ", error.message()));
  std::sort(set.runs.begin(), set.runs.end(), [](const PublishedRun& a, const PublishedRun& b) {
    return std::tie(a.rule, a.number) < std::tie(b.rule, b.number);
  });
  for (PublishedRun& run : set.runs) {
    CAIRN_ASSIGN_OR_RETURN(run.requests, ReadRequests(run.path, requests_max));
  }
  CAIRN_RETURN_IF_ERROR(FindFirst(set));
  return set;
}

}  // namespace

const PublishedRun& CachedRun(const PublishedSet& set) {
  const PublishedRun* found = &set.runs.front();
  for (const PublishedRun& run : set.runs) {
    if (run.rule == "dp") return run;
    if (found->rule == "no_cache") found = &run;
  }
  return *found;
}

std::size_t CacheEntries(const PublishedSet& set) {
  std::uint32_t entries = 0;
  for (const PublishedRun& run : set.runs) {
    for (const LogRequest& request : run.requests) entries = std::max(entries, request.entries);
  }
  return entries;
}

absl::StatusOr<std::vector<PublishedSet>> ReadPublishedSets(const std::string& folder,
                                                            std::size_t requests_max) {
  std::error_code error;
  const fs::path root = fs::canonical(folder, error);
  if (error || !fs::is_directory(root, error)) {
    return absl::InvalidArgumentError(absl::StrCat(folder, ": no such folder"));
  }
  std::vector<fs::path> folders = {root};
  for (fs::directory_iterator entry(root, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->is_directory(error)) folders.push_back(entry->path());
  }
  if (error) return absl::InvalidArgumentError(absl::StrCat(folder, ": ", error.message()));
  std::sort(folders.begin(), folders.end());
  std::vector<PublishedSet> sets;
  for (const fs::path& path : folders) {
    CAIRN_ASSIGN_OR_RETURN(PublishedSet set, ReadSet(path, requests_max));
    if (!set.runs.empty()) sets.push_back(std::move(set));
  }
  if (sets.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(folder, ": no published log (e2e_dp_M.jsonl, ...) in it or in its folders"));
  }
  return sets;
}

}  // namespace cairn::bench
