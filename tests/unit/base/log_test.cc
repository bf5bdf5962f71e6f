#include "libs/base/log.h"

#include <gtest/gtest.h>

#include <vector>

namespace cairn {
namespace {

class Lines : public LogSink {
 public:
  Lines() { SetLogSink(this); }
  ~Lines() override { SetLogSink(nullptr); }
  void Write(absl::string_view line) override { lines.emplace_back(line); }
  std::vector<std::string> lines;
};

TEST(LogTest, EventIsOneLineWithItsValues) {
  Lines sink;
  LogEvent(LogLevel::kWarning, "slot_quarantined").With("slot", 7).With("why", "a b\nc");
  ASSERT_EQ(sink.lines.size(), 1u);
  EXPECT_NE(sink.lines[0].find("slot_quarantined slot=7 why=\"a b\\nc\""), std::string::npos)
      << sink.lines[0];
  EXPECT_EQ(sink.lines[0].rfind("WARNING ", 0), 0u);
}

TEST(LogTest, EventBelowTheLevelIsNotWritten) {
  Lines sink;
  LogEvent(LogLevel::kDebug, "loop_woken").With("n", 1);
  EXPECT_TRUE(sink.lines.empty());
}

TEST(LogTest, LimiterHoldsBackAndCounts) {
  LogLimiter limiter(absl::Hours(1));
  std::uint64_t held = 9;
  EXPECT_TRUE(limiter.Admit(&held));
  EXPECT_EQ(held, 0u);
  EXPECT_FALSE(limiter.Admit(&held));
}

TEST(LogTest, UnknownLevelIsRefusedByName) {
  EXPECT_EQ(*ParseLogLevel("warning"), LogLevel::kWarning);
  EXPECT_NE(ParseLogLevel("loud").status().message().find("loud"), absl::string_view::npos);
}

}  // namespace
}  // namespace cairn
