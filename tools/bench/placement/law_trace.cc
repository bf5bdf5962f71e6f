#include "tools/bench/placement/law_trace.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "libs/base/rng.h"

namespace cairn::bench {
namespace {

using Blocks = std::vector<std::uint64_t>;

constexpr std::size_t kEntriesGoneOnFrom = 200;  // the last ones
constexpr std::size_t kSessions = 100;
constexpr std::size_t kSessionBlocksMax = 120;
constexpr std::size_t kDocuments = 50;
constexpr std::size_t kHeads = 8;
constexpr std::size_t kBlocksMin = 10;
constexpr std::size_t kBlocksMax = 80;

// Makes requests one after the other; a last block that is not full ends each.
class Maker {
 public:
  explicit Maker(std::uint64_t seed) : rng_(seed) {
    for (std::size_t i = 0; i < kDocuments; ++i) documents_.push_back(Fresh(LengthOf()));
    sessions_.resize(kSessions);
  }

  Blocks Uniform() {
    Blocks blocks;
    if (!entries_.empty()) {
      blocks = entries_[rng_.Below(entries_.size())];
      blocks.resize(rng_.Between(0, blocks.size()));
    }
    Append(blocks, std::max<std::size_t>(kBlocksMin, kBlocksMax / 2 - blocks.size() / 2));
    blocks.resize(std::min(blocks.size(), kBlocksMax));
    entries_.push_back(blocks);
    if (entries_.size() > kEntriesGoneOnFrom) entries_.erase(entries_.begin());
    return blocks;
  }
  Blocks Session() {
    Blocks& session = sessions_[rng_.Below(sessions_.size())];
    if (session.size() > kSessionBlocksMax) session.clear();
    Append(session, rng_.Between(1, 12));
    return session;
  }
  // Rank r is asked for in proportion to 1 / r.
  Blocks Document() {
    Blocks blocks = documents_[Ranked(documents_.size())];
    Append(blocks, rng_.Between(1, 4));
    return blocks;
  }
  Blocks Head() {
    Blocks blocks = documents_[rng_.Below(kHeads)];
    Append(blocks, rng_.Between(kBlocksMin, kBlocksMax));
    return blocks;
  }
  Blocks Jump(bool is_late) {
    Blocks blocks = documents_[rng_.Below(documents_.size())];
    blocks.resize(blocks.size() * (is_late ? 3 : 1) / 4);
    Append(blocks, kBlocksMax - blocks.size());
    return blocks;
  }
  std::uint64_t FreshContent() { return ++contents_; }

 private:
  std::size_t LengthOf() { return rng_.Between(kBlocksMin, kBlocksMax - 4); }
  void Append(Blocks& blocks, std::size_t count) {
    for (; count > 0; --count) blocks.push_back(FreshContent());
  }
  Blocks Fresh(std::size_t count) {
    Blocks blocks;
    Append(blocks, count);
    return blocks;
  }
  // Exact in integers: weights of 1 / r in 2^20ths.
  std::size_t Ranked(std::size_t count) {
    std::uint64_t total = 0;
    for (std::size_t r = 1; r <= count; ++r) total += (std::uint64_t{1} << 20) / r;
    std::uint64_t left = rng_.Below(total);
    std::size_t r = 1;
    for (; r < count && left >= (std::uint64_t{1} << 20) / r; ++r) left -= (1u << 20) / r;
    return r - 1;
  }

  Rng rng_;
  std::uint64_t contents_ = 0;
  std::vector<Blocks> entries_;
  std::vector<Blocks> sessions_;
  std::vector<Blocks> documents_;
};

Blocks MakeRequest(Maker& maker, const std::string& law, bool is_late) {
  if (law == "uniform") return maker.Uniform();
  if (law == "sessions") return maker.Session();
  if (law == "documents") return maker.Document();
  if (law == "heads") return maker.Head();
  return maker.Jump(is_late);
}

}  // namespace

const std::vector<Law>& Laws() {
  static const std::vector<Law>* const laws = new std::vector<Law>{
      {"uniform", "requests part anywhere"},        {"sessions", "conversations that only grow"},
      {"documents", "questions on documents"},      {"heads", "shared heads of fixed length"},
      {"jump", "the law changes half way through"},
  };
  return *laws;
}

absl::StatusOr<ReplayTrace> MakeLawTrace(const LawTraceOptions& options) {
  const std::vector<Law>& laws = Laws();
  const bool is_known = std::any_of(laws.begin(), laws.end(),
                                    [&](const Law& law) { return law.name == options.law; });
  if (!is_known) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--law is one of ",
        absl::StrJoin(laws, ", ",
                      [](std::string* out, const Law& law) { absl::StrAppend(out, law.name); }),
        ", not \"", options.law, "\""));
  }
  ReplayTrace trace{.name = absl::StrCat("law:", options.law),
                    .note = absl::StrCat("seed ", options.seed),
                    .block_tokens = options.block_tokens,
                    .requests = {}};
  Maker maker(options.seed);
  PrefixNames names;
  for (std::size_t i = 0; i < options.requests; ++i) {
    Blocks contents = MakeRequest(maker, options.law, i >= options.requests / 2);
    placement::TraceRequest request{.blocks = {},
                                    .full_blocks = static_cast<std::uint32_t>(contents.size())};
    contents.push_back(maker.FreshContent());  // the last block, not full
    std::uint64_t node = 0;
    for (const std::uint64_t content : contents) {
      node = names.NameOf(node, content);
      request.blocks.push_back(node);
    }
    trace.requests.push_back(std::move(request));
  }
  return trace;
}

}  // namespace cairn::bench
