#include "kernels/rows/sample.h"

#include <cmath>

#include "kernels/reference/rows_ref.h"
#include "kernels/test/device_memory.h"
#include "kernels/test/random_matrix.h"

namespace cairn::test {
namespace {

using kernels::LogitSummary;

std::vector<LogitSummary> Summaries(std::vector<float> logits, std::uint32_t vocabulary,
                                    std::uint64_t seed) {
  TestDevice device(seed);
  const auto rows = static_cast<std::uint32_t>(logits.size() / vocabulary);
  logits.resize(logits.size() + vocabulary, std::nanf(""));
  rt::Buffer logit_buffer = device.Make(logits);
  rt::Buffer summaries = device.Make(std::vector<LogitSummary>(rows + 1, {77, -7.0f, -7.0f}));
  rt::Buffer count = device.Make(std::vector<std::uint32_t>{rows});
  kernels::SampleParams params;
  params.logits = logit_buffer.as<float>();
  params.summaries = summaries.as<LogitSummary>();
  params.vocabulary = vocabulary;
  params.row_count = count.as<std::uint32_t>();
  params.rows_max = rows + 1;
  SK_EXPECT_EQ(kernels::SummarizeLogits(device.stream(), params).message(), "");
  std::vector<LogitSummary> got = device.Read<LogitSummary>(summaries);
  SK_EXPECT_EQ(got.back().token, 77u);
  got.pop_back();
  return got;
}

SK_TEST(SummariesAreThoseInDouble) {
  for (const std::uint64_t seed : Seeds(2)) {
    for (const std::uint32_t vocabulary : {1u, 2u, 31u, 256u, 257u, 1500u}) {
      for (const float spread : {0.01f, 8.0f, 300.0f}) {
        const std::vector<float> logits = RandomFloats(std::size_t{2} * vocabulary, seed, spread);
        const std::vector<LogitSummary> got = Summaries(logits, vocabulary, seed);
        for (std::size_t r = 0; r < 2; ++r) {
          const std::vector<double> row(logits.begin() + r * vocabulary,
                                        logits.begin() + (r + 1) * vocabulary);
          const auto most = std::max_element(row.begin(), row.end());
          SK_EXPECT_EQ(got[r].token, static_cast<std::uint32_t>(most - row.begin()));
          SK_EXPECT_EQ(got[r].most, static_cast<float>(*most));
          const double exact = reference::LogSumExp(row);
          SK_EXPECT(std::fabs(got[r].log_sum - exact) <= 2e-6 + std::fabs(exact) * 0x1p-23);
        }
      }
    }
  }
}

SK_TEST(OfEqualLogitsTheLowestTokenWins) {
  // Ties between threads, warps and steps of one thread.
  const std::vector<std::vector<std::uint32_t>> ties = {
      {0, 1}, {5, 261, 300}, {31, 32}, {255, 256}, {599}};
  for (const std::vector<std::uint32_t>& tie : ties) {
    std::vector<float> logits(600, -1.0f);
    for (const std::uint32_t token : tie) logits[token] = 2.0f;
    for (const std::uint64_t seed : Seeds(2)) {
      SK_EXPECT_EQ(Summaries(logits, 600, seed)[0].token, tie[0]);
    }
  }
  SK_EXPECT_EQ(Summaries(std::vector<float>(600, 3.0f), 600, 1)[0].token, 0u);
}

SK_TEST(LogitsThatAreNoNumbersAreToldApart) {
  constexpr float kNan = NAN, kInfinity = INFINITY;
  std::vector<float> logits(300, -kInfinity);
  LogitSummary none = Summaries(logits, 300, 1)[0];
  SK_EXPECT(none.token == 0 && none.most == -kInfinity && none.log_sum == -kInfinity);
  logits[290] = -5.0f;
  const LogitSummary one = Summaries(logits, 300, 1)[0];
  SK_EXPECT(one.token == 290 && one.most == -5.0f && one.log_sum == -5.0f);
  logits[3] = kNan;
  const LogitSummary nan = Summaries(logits, 300, 1)[0];
  SK_EXPECT(nan.token == 290 && std::isnan(nan.log_sum));
  logits[3] = kInfinity;
  const LogitSummary infinite = Summaries(logits, 300, 1)[0];
  SK_EXPECT(infinite.token == 3 && std::isnan(infinite.log_sum));
  const LogitSummary all_nan = Summaries(std::vector<float>(40, kNan), 40, 1)[0];
  SK_EXPECT(all_nan.token == 0 && all_nan.most == -kInfinity);
  SK_EXPECT(Summaries({}, 40, 1).empty());
}

SK_TEST(SampleSaysWhichParameterIsWrong) {
  kernels::SampleParams params;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "vocabulary is 0");
  params.vocabulary = 4;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "rows_max is 0");
  params.rows_max = 1;
  SK_EXPECT_CONTAINS(kernels::Validate(params), "a pointer is null");
}

}  // namespace
}  // namespace cairn::test
