#include "tools/bench/placement/published_plans.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "libs/base/rng.h"
#include "tests/unit/bench_placement/written_file.h"

namespace cairn::bench {
namespace {

constexpr char kLogs[] = "../shared/data/placement_golden";

std::string Line(std::uint32_t length, std::uint32_t match,
                 const std::vector<std::uint32_t>& positions) {
  return absl::StrCat("{\"conv_id\": \"c\", \"seq_len\": ", length, ", \"prefix_match\": ", match,
                      ", \"n_cache_entries\": 3, \"added_positions\": [",
                      absl::StrJoin(positions, ", "), "]}\n");
}

std::string Histograms(const std::vector<double>& counts, std::uint64_t observations) {
  return absl::StrCat("{\"histogram_log\": [{\"n_obs\": ", observations, ", \"counts\": [",
                      absl::StrJoin(counts, ", "), "]}]}");
}

// A log of the published method with one state, planned by trying every position.
class OneStateLog {
 public:
  explicit OneStateLog(std::uint64_t seed) : rng_(seed) {
    for (double& count : counts_) count = static_cast<double>(rng_.Below(50)) / 7;
  }
  std::string Make(std::size_t requests) {
    std::string text;
    std::uint32_t best = Best();
    for (std::size_t i = 1; i <= requests; ++i) {
      const auto length = static_cast<std::uint32_t>(rng_.Between(700, 1500));
      const auto match = static_cast<std::uint32_t>(rng_.Below(640));
      for (double& count : counts_) count *= 0.99;
      counts_[match / 64] += 1;
      if ((kObservations + i) % 10 == 0) best = Best();
      text +=
          Line(length, match, best == 0 ? std::vector<std::uint32_t>{} : std::vector{best * 64});
    }
    return text;
  }
  std::string First() const { return Histograms({counts_.begin(), counts_.end()}, kObservations); }
  static constexpr std::uint64_t kObservations = 600;

 private:
  std::uint32_t Best() const {
    double most = 0;
    std::uint32_t best = 0;
    for (std::uint32_t s = 1; s < counts_.size(); ++s) {
      double claims = 0;
      for (std::size_t t = s; t < counts_.size(); ++t) claims += counts_[t];
      if (claims * s > most + 1e-9) {
        most = claims * s;
        best = s;
      }
    }
    return best;
  }
  Rng rng_;
  std::array<double, 10> counts_ = {};
};

const PlanCheck& Of(const std::vector<PlanCheck>& checks, const std::string& rule) {
  return *std::find_if(checks.begin(), checks.end(),
                       [&](const PlanCheck& check) { return check.rule == rule; });
}

TEST(PublishedPlansTest, AMethodsLogIsReproduced) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const WrittenFolder folder;
    OneStateLog log(seed);
    folder.Write("e2e_dp_1_histograms.json", log.First());
    folder.Write("e2e_dp_1.jsonl", log.Make(200));
    const PublishedSet set = ReadPublishedSets(folder.path(), 1000).value().front();
    const std::vector<PlanCheck> checks = CheckPublishedPlans(set).value();
    ASSERT_EQ(checks.size(), 1u);
    EXPECT_EQ(checks[0].budget, 1u);
    EXPECT_EQ(checks[0].requests, 200u);
    EXPECT_EQ(checks[0].equal, 200u) << checks[0].first_difference;
  }
}

TEST(PublishedPlansTest, WhatDiffersIsCountedAndShown) {
  const WrittenFolder folder;
  folder.Write("e2e_balanced_2.jsonl", Line(1000, 0, {320, 640}) + Line(1000, 0, {320, 576}));
  folder.Write("e2e_block_128.jsonl", Line(300, 0, {128, 256}) + Line(100, 0, {}));
  folder.Write("e2e_no_cache.jsonl", Line(300, 0, {}));
  folder.Write("notes.jsonl", "not a log");
  const PublishedSet set = ReadPublishedSets(folder.path(), 1000).value().front();
  const std::vector<PlanCheck> checks = CheckPublishedPlans(set).value();
  ASSERT_EQ(checks.size(), 2u);
  EXPECT_EQ(Of(checks, "block").equal, 2u);
  EXPECT_EQ(Of(checks, "balanced").equal, 1u);
  EXPECT_TRUE(absl::StrContains(Of(checks, "balanced").first_difference,
                                "request 2: [320 576] published, [320 640] planned"))
      << Of(checks, "balanced").first_difference;
}

TEST(PublishedPlansTest, RunsOverTheSameRequestsShareAHistogram) {
  const WrittenFolder folder;
  folder.Write("e2e_dp_1.jsonl", Line(1000, 70, {}) + Line(900, 0, {}));
  folder.Write("e2e_dp_2.jsonl", Line(1000, 70, {}) + Line(900, 0, {}));
  folder.Write("e2e_dp_3.jsonl", Line(1000, 71, {}));
  folder.Write("e2e_dp_2_histograms.json", Histograms({0, 0, 4}, 600));
  const PublishedSet set = ReadPublishedSets(folder.path(), 1000).value().front();
  ASSERT_EQ(set.runs.size(), 3u);
  EXPECT_TRUE(set.first[0].has_value());
  EXPECT_TRUE(set.first[1].has_value());
  EXPECT_FALSE(set.first[2].has_value());
  const absl::Status status = CheckPublishedPlans(set).status();
  EXPECT_TRUE(absl::StrContains(status.message(), "e2e_dp_3.jsonl: no histogram")) << status;
}

TEST(PublishedLogTest, ReadsTheFoldersOfAFolder) {
  const WrittenFolder folder;
  folder.Write("b/e2e_block_64.jsonl", Line(100, 0, {64}));
  folder.Write("a/e2e_block_64.jsonl", Line(100, 64, {64}));
  folder.Write("c/other.txt", "");
  const std::vector<PublishedSet> sets = ReadPublishedSets(folder.path(), 1000).value();
  ASSERT_EQ(sets.size(), 2u);
  EXPECT_EQ(sets[0].name, "a");
  EXPECT_EQ(sets[1].name, "b");
  EXPECT_EQ(sets[0].runs[0].requests[0].match, 64u);
  EXPECT_EQ(sets[0].runs[0].requests[0].entries, 3u);
}

TEST(PublishedLogTest, ARunWithACacheStandsForTheSet) {
  const WrittenFolder folder;
  folder.Write("e2e_no_cache.jsonl", Line(100, 0, {}));
  folder.Write("e2e_block_64.jsonl", Line(100, 64, {64}));
  const auto read = [&] { return ReadPublishedSets(folder.path(), 1000).value().front(); };
  EXPECT_EQ(CachedRun(read()).rule, "block");
  folder.Write("e2e_dp_2.jsonl", Line(100, 64, {64}));
  EXPECT_EQ(CachedRun(read()).rule, "dp");
  EXPECT_EQ(CacheEntries(read()), 3u);
}

TEST(PublishedLogTest, WhatNoRunCouldWriteIsRefusedByFileAndLine) {
  const std::map<std::string, std::string> bad = {
      {Line(0, 0, {}), "seq_len: "},
      {Line(100, 101, {}), "prefix_match: "},
      {Line(1000, 0, {65}), "added_positions: "},
      {Line(1000, 0, {0}), "added_positions: "},
      {Line(1000, 0, {128, 64}), "added_positions: "},
      {Line(1000, 0, {1024}), "added_positions[0]: "},
      {"{\"conv_id\": 5, \"seq_len\": 1, \"prefix_match\": 0, \"added_positions\": []}",
       "conv_id: "},
      {"{\"seq_len\": 1}", "conv_id: missing"},
  };
  for (const auto& [line, what] : bad) {
    const WrittenFolder folder;
    folder.Write("e2e_block_64.jsonl", Line(100, 0, {64}) + line);
    const absl::Status status = ReadPublishedSets(folder.path(), 1000).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << line;
    EXPECT_TRUE(absl::StrContains(status.message(), "e2e_block_64.jsonl:2: " + what)) << status;
  }
}

TEST(PublishedLogTest, BadHistogramsAndFoldersAreRefused) {
  const WrittenFolder folder;
  folder.Write("e2e_dp_1.jsonl", Line(100, 0, {}));
  for (const std::string text :
       {"{}", "{\"histogram_log\": []}", "{\"histogram_log\": [{\"n_obs\": -1, \"counts\": []}]}",
        "{\"histogram_log\": [{\"n_obs\": 1, \"counts\": [\"x\"]}]}",
        "{\"histogram_log\": [{\"n_obs\": 1, \"counts\": [-1]}]}",
        "{\"histogram_log\": [{\"n_obs\": 1, \"counts\": [1e30]}]}", "["}) {
    folder.Write("e2e_dp_1_histograms.json", text);
    const absl::Status status = ReadPublishedSets(folder.path(), 1000).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_TRUE(absl::StrContains(status.message(), "e2e_dp_1_histograms.json")) << status;
  }
  const WrittenFolder empty;
  EXPECT_FALSE(ReadPublishedSets(empty.path(), 1000).ok());
  EXPECT_FALSE(ReadPublishedSets(empty.path() + "/none", 1000).ok());
}

TEST(PublishedPlansTest, ThePublishedOnesAreReproducedForEveryRequest) {
  if (!std::filesystem::exists(kLogs)) GTEST_SKIP() << "skipped: no published logs at " << kLogs;
  const std::vector<PublishedSet> sets = ReadPublishedSets(kLogs, 10'000).value();
  for (const PublishedSet& set : sets) {
    const std::vector<PlanCheck> checks = CheckPublishedPlans(set).value();
    EXPECT_GE(checks.size(), 2u);
    for (const PlanCheck& check : checks) {
      EXPECT_EQ(check.requests, 400u);
      EXPECT_EQ(check.equal, check.requests) << check.first_difference;
    }
  }
}

}  // namespace
}  // namespace cairn::bench
