#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "libs/placement/line_solver.h"
#include "libs/placement/overlap_histogram.h"
#include "tests/support/json_file.h"

// The plans that the authors of "Sparse Prefix Caching" (arXiv 2605.05219) published, request by
// request, as read-only logs beside this repository. Nothing of them is copied here; where they are
// absent the test says so and is skipped. The rule by which they come about stands in the logs'
// README: per request the histogram fades by 0.99 and takes the match, a new plan is solved
// whenever the number of observations is a multiple of 10, and a request keeps the positions within
// it.

namespace cairn::placement {
namespace {

constexpr char kLogs[] = "../shared/data/placement_golden";
constexpr std::uint32_t kGrid = 64;
constexpr std::uint64_t kObservationsPerPlan = 10;

struct Request {
  std::uint32_t length = 0;
  std::uint32_t match = 0;
  std::vector<std::uint32_t> positions;
};

std::vector<Request> ReadLog(const std::string& path) {
  std::vector<Request> requests;
  std::ifstream in(path);
  for (std::string text; std::getline(in, text);) {
    const boost::json::value line = boost::json::parse(text);
    Request request{.length = line.at("seq_len").to_number<std::uint32_t>(),
                    .match = line.at("prefix_match").to_number<std::uint32_t>(),
                    .positions = {}};
    for (const boost::json::value& position : line.at("added_positions").as_array()) {
      request.positions.push_back(position.to_number<std::uint32_t>());
    }
    requests.push_back(std::move(request));
  }
  return requests;
}

struct Published {
  std::string set;
  std::uint32_t states = 0;
};

class PublishedPlansTest : public testing::TestWithParam<Published> {};

TEST_P(PublishedPlansTest, AreReproducedForEveryRequest) {
  const std::string folder = std::string(kLogs) + "/" + GetParam().set;
  const std::string log = folder + "/e2e_dp_" + std::to_string(GetParam().states) + ".jsonl";
  if (!std::filesystem::exists(log)) GTEST_SKIP() << "skipped: no published log at " << log;
  const boost::json::value first =
      ReadJsonFile(folder + "/e2e_dp_5_histograms.json").at("histogram_log").at(0);
  std::uint64_t observations = first.at("n_obs").to_number<std::uint64_t>();
  OverlapHistogram histogram =
      OverlapHistogram::Create({.grid = kGrid, .bins_max = 257, .decay = 0.99}).value();
  std::uint32_t bin = 0;
  for (const boost::json::value& count : first.at("counts").as_array()) {
    if (count.to_number<double>() > 0) {
      ASSERT_TRUE(histogram.Restore(bin, count.to_number<double>()).ok());
    }
    ++bin;
  }
  std::vector<std::uint32_t> plan = SolveLine(histogram.Line(), GetParam().states)->depths;
  const std::vector<Request> requests = ReadLog(log);
  int equal = 0;
  for (const Request& request : requests) {
    ASSERT_TRUE(histogram.Observe(request.match).ok());
    if (++observations % kObservationsPerPlan == 0) {
      plan = SolveLine(histogram.Line(), GetParam().states)->depths;
    }
    std::vector<std::uint32_t> kept;
    for (const std::uint32_t depth : plan) {
      if (depth * kGrid <= request.length) kept.push_back(depth * kGrid);
    }
    if (kept == request.positions) ++equal;
  }
  EXPECT_EQ(requests.size(), 400u);
  EXPECT_EQ(equal, 400) << log;
}

INSTANTIATE_TEST_SUITE_P(Logs, PublishedPlansTest,
                         testing::Values(Published{"quality_clean", 1},
                                         Published{"quality_clean", 5},
                                         Published{"system_prompts_clean", 1},
                                         Published{"system_prompts_clean", 5}),
                         [](const testing::TestParamInfo<Published>& param) {
                           return param.param.set + "_" + std::to_string(param.param.states);
                         });

}  // namespace
}  // namespace cairn::placement
