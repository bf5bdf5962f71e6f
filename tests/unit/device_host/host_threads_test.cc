#include "libs/device_host/host_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace cairn {
namespace {

TEST(HostThreadsTest, EverySectionRunsEachPartOnce) {
  for (const std::uint32_t threads : {1u, 2u, 4u}) {
    HostThreads team(threads);
    std::vector<std::atomic<int>> runs(threads);
    for (int section = 1; section <= 500; ++section) {
      team.Run([&](std::uint32_t part) { runs[part]++; });
      for (const auto& count : runs) ASSERT_EQ(count.load(), section);
    }
  }
}

TEST(HostThreadsTest, WritesOfASectionAreSeenByTheNext) {
  HostThreads team(3);
  std::vector<int> values(3, 0);
  for (int section = 0; section < 1000; ++section) {
    team.Run([&](std::uint32_t part) { values[part] = section; });
    team.Run([&](std::uint32_t part) { ASSERT_EQ(values[(part + 1) % 3], section); });
  }
}

}  // namespace
}  // namespace cairn
