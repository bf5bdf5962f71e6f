// The real model against an independent engine on the exactly dequantised weights. The expected
// values are data (tests/data/reference_logits.json holds the command that made them); the whole
// comparison is tools/reference/compare_logits.py.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <filesystem>

#include "libs/device_host/host_device.h"
#include "libs/gguf/gguf_file.h"
#include "libs/mapped_file/mapped_file.h"
#include "tests/support/json_file.h"
#include "tests/unit/device_host/prefix_run.h"

namespace cairn {
namespace {

constexpr char kModel[] = "model/SmolLM2-135M-Instruct.Q4_1.gguf";

std::vector<std::uint32_t> ToIds(const boost::json::value& list) {
  std::vector<std::uint32_t> ids;
  for (const auto& id : list.as_array()) ids.push_back(id.to_number<std::uint32_t>());
  return ids;
}

struct Limits {
  KvDtype kv;
  double difference;  // of a logit
  double margin;      // below which the reference's own choice is too close to count
};

void CompareWithReference(const Limits& limits) {
  if (!std::filesystem::exists(kModel)) GTEST_SKIP() << kModel << " is not here: run tools/setup";
  const MappedFile file = *MappedFile::Open(kModel);
  const GgufFile gguf = *GgufFile::Parse(file.bytes());
  const auto device = *HostDevice::Create(gguf, {.threads = 2, .kv_dtype = limits.kv});
  const boost::json::value data = ReadJsonFile("tests/data/reference_logits.json");
  for (const auto& prompt : data.at("prompts").as_array()) {
    std::vector<std::uint32_t> ids = ToIds(prompt.at("prompt"));
    const std::size_t prompt_tokens = ids.size();
    const std::vector<std::uint32_t> greedy = ToIds(prompt.at("greedy"));
    ids.insert(ids.end(), greedy.begin(), greedy.end() - 1);
    const std::vector<float> logits = PrefixLogits(*device, ids, 256);
    const std::size_t vocabulary = device->shape().vocabulary;
    const auto row = [&](std::size_t i) { return logits.begin() + i * vocabulary; };
    for (const auto& pair : prompt.at("logits").as_array()) {
      const auto id = pair.at(0).to_number<std::uint32_t>();
      EXPECT_NEAR(row(prompt_tokens - 1)[id], pair.at(1).to_number<double>(), limits.difference)
          << prompt.at("name") << " logit " << id;
    }
    for (std::size_t i = 0; i < greedy.size(); ++i) {
      if (prompt.at("margin").at(i).to_number<double>() < limits.margin) continue;
      const auto at = row(prompt_tokens - 1 + i);
      EXPECT_EQ(std::max_element(at, at + vocabulary) - at, greedy[i])
          << prompt.at("name") << " token " << i;
    }
  }
}

TEST(ReferenceTest, LogitsWithF32KvEqualTheReference) {
  CompareWithReference({.kv = KvDtype::kF32, .difference = 1e-3, .margin = 2e-3});
}

TEST(ReferenceTest, LogitsWithBf16KvAreNearTheReference) {
  CompareWithReference({.kv = KvDtype::kBf16, .difference = 0.5, .margin = 0.3});
}

}  // namespace
}  // namespace cairn
