#include "libs/placement/default_experts.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "libs/placement/limits.h"

namespace cairn::placement {
namespace {

TEST(DefaultExpertsTest, AreFewAndHaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (const auto& expert : DefaultExperts()) names.insert(std::string(expert->name()));
  EXPECT_EQ(names.size(), DefaultExperts().size());
  EXPECT_LE(names.size(), limits::kExpertsMax);
  EXPECT_TRUE(names.contains("marconi"));
}

}  // namespace
}  // namespace cairn::placement
