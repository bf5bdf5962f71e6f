#include "services/node/memory_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "libs/base/units.h"

namespace cairn {
namespace {

using ::testing::HasSubstr;

// A machine's files below a folder of the test's own.
class MemoryCheckTest : public ::testing::Test {
 protected:
  MemoryCheckTest() {
    root_ = absl::StrCat(testing::TempDir(), "cairn_memory_XXXXXX");
    EXPECT_NE(::mkdtemp(root_.data()), nullptr);
    Put("/proc/meminfo", "MemTotal:       33554432 kB\nMemAvailable:   16777216 kB\n");
  }
  ~MemoryCheckTest() override { std::filesystem::remove_all(root_); }
  void Put(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  std::string root_;
};

TEST_F(MemoryCheckTest, WithoutGroupsWhatIsAvailableCounts) {
  const MemoryFigures memory = ReadMemoryFigures(root_);
  EXPECT_EQ(memory.available_bytes, 16 * kGiB);
  EXPECT_FALSE(memory.group.has_value());
  EXPECT_TRUE(CheckArenaFits(14 * kGiB, memory).ok());
  const absl::Status status = CheckArenaFits(15 * kGiB, memory);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(),
            "arena.bytes is 15360 MiB, but MemAvailable is 16384 MiB, less 10 % 14745 MiB");
}

TEST_F(MemoryCheckTest, AVersion2LimitLessWhatIsUsedCounts) {
  Put("/proc/self/cgroup", "0::/pods/one\n");
  Put("/sys/fs/cgroup/pods/one/memory.max", "8589934592\n");
  Put("/sys/fs/cgroup/pods/one/memory.current", "3221225472\n");
  Put("/sys/fs/cgroup/pods/one/memory.stat", "anon 5\ninactive_file 1073741824\nactive_file 0\n");
  const MemoryFigures memory = ReadMemoryFigures(root_);
  ASSERT_TRUE(memory.group.has_value());
  EXPECT_EQ(memory.group->left_bytes(), 6 * kGiB);
  const absl::Status status = CheckArenaFits(6 * kGiB, memory);
  EXPECT_THAT(std::string(status.message()), HasSubstr("arena.bytes is 6144 MiB"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("leaves 6144 MiB"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("memory.max says 8192 MiB"));
}

TEST_F(MemoryCheckTest, ALimitOfAGroupAboveHolds) {
  Put("/proc/self/cgroup", "0::/pods/one\n");
  Put("/sys/fs/cgroup/pods/one/memory.max", "max\n");
  Put("/sys/fs/cgroup/pods/memory.max", "4294967296\n");
  Put("/sys/fs/cgroup/memory.max", "8589934592\n");
  const MemoryFigures memory = ReadMemoryFigures(root_);
  ASSERT_TRUE(memory.group.has_value());
  EXPECT_EQ(memory.group->limit_bytes, 4 * kGiB);
}

TEST_F(MemoryCheckTest, AVersion1LimitCounts) {
  Put("/proc/self/cgroup", "8:cpu,cpuacct:/x\n4:memory:/docker/abc\n0::/\n");
  // In a container the host's path is not there, but its top is.
  Put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "2147483648\n");
  Put("/sys/fs/cgroup/memory/memory.usage_in_bytes", "0\n");
  const MemoryFigures memory = ReadMemoryFigures(root_);
  ASSERT_TRUE(memory.group.has_value());
  EXPECT_EQ(memory.group->left_bytes(), 2 * kGiB);
}

TEST_F(MemoryCheckTest, AnEndlessVersion1LimitIsNone) {
  Put("/proc/self/cgroup", "4:memory:/\n");
  Put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_FALSE(ReadMemoryFigures(root_).group.has_value());
}

TEST_F(MemoryCheckTest, ThisMachineHasMemory) {
  EXPECT_GT(ReadMemoryFigures().available_bytes, 0U);
  EXPECT_TRUE(CheckArenaFits(kMiB, ReadMemoryFigures()).ok());
}

TEST_F(MemoryCheckTest, ShmThatIsTooSmallSaysHowMuchIsNeeded) {
  EXPECT_TRUE(CheckShm(1, root_).ok());
  const absl::Status status = CheckShm(100'000'000, root_);
  EXPECT_THAT(std::string(status.message()), HasSubstr(absl::StrCat("MB in ", root_)));
}

}  // namespace
}  // namespace cairn
