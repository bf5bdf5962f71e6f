// Replays a trace in Mooncake's form (a JSON object a line: input_length in tokens, hash_ids of
// blocks) through libs/placement by its rules R1 to R9 (replay.h), and prints the share of the
// dense ceiling and the states per request: of the panel as the service runs it, of each of its
// experts alone, and of the rules to compare with.
//   bench_placement_replay TRACE [REQUESTS]

#include <boost/json/parse.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "libs/placement/baselines.h"
#include "libs/placement/default_experts.h"
#include "libs/placement/paper_expert.h"
#include "libs/placement/replay.h"

namespace cairn::placement {
namespace {

constexpr std::uint32_t kBlockTokens = 512;
constexpr std::uint32_t kStates[] = {1, 2, 4};

std::vector<TraceRequest> ReadTrace(const char* path, std::size_t requests_max) {
  std::vector<TraceRequest> trace;
  std::ifstream in(path);
  for (std::string text; trace.size() < requests_max && std::getline(in, text);) {
    const boost::json::value line = boost::json::parse(text);
    TraceRequest request;
    for (const boost::json::value& id : line.at("hash_ids").as_array()) {
      request.blocks.push_back(id.to_number<std::uint64_t>());
    }
    request.full_blocks = line.at("input_length").to_number<std::uint32_t>() / kBlockTokens;
    trace.push_back(std::move(request));
  }
  return trace;
}

void Print(const ReplayLine& line, std::uint32_t states_max) {
  std::printf("  M=%u  %-12s share %.4f  states/request %.2f\n", states_max, line.strategy.c_str(),
              line.Share(), line.StatesPerRequest());
}

int Run(const char* path, std::size_t requests_max) {
  const std::vector<TraceRequest> trace = ReadTrace(path, requests_max);
  if (trace.empty()) {
    std::fprintf(stderr, "no requests in %s\n", path);
    return EXIT_FAILURE;
  }
  std::printf("%s: %zu requests\n", path, trace.size());
  for (const std::uint32_t states_max : kStates) {
    const auto start = std::chrono::steady_clock::now();
    const auto report = Replay(trace, DefaultExperts(), states_max);
    if (!report.ok()) {
      std::fprintf(stderr, "%s\n", report.status().ToString().c_str());
      return EXIT_FAILURE;
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    Print(report->followed, states_max);
    std::printf("       (last leader %s, %.2f s)\n", report->last_leader.c_str(), seconds.count());
    for (const ReplayLine& line : report->experts) Print(line, states_max);
    std::vector<std::unique_ptr<Expert>> others;
    others.push_back(std::make_unique<PaperExpert>());
    for (const NamedRule& rule : BaselineRules()) {
      if (rule.name != "marconi" && rule.name != "none" && others.size() < 6) {
        others.push_back(std::make_unique<BaselineExpert>(rule.name, rule.rule));
      }
    }
    const auto rest = Replay(trace, std::move(others), states_max);
    if (!rest.ok()) continue;
    for (const ReplayLine& line : rest->experts) Print(line, states_max);
  }
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace cairn::placement

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: bench_placement_replay TRACE [REQUESTS]\n");
    return 2;
  }
  const std::size_t requests_max =
      argc > 2 ? std::strtoull(argv[2], nullptr, 10) : std::numeric_limits<std::size_t>::max();
  return cairn::placement::Run(argv[1], requests_max);
}
