#include "libs/termination/termination.h"

#include <gtest/gtest.h>

#include <csignal>
#include <thread>

namespace cairn {
namespace {

using Event = Termination::Event;

TEST(TerminationTest, SignalsAreTaken) {
  Termination termination;
  for (const int signal : {SIGTERM, SIGINT}) {
    ASSERT_EQ(std::raise(signal), 0);  // would end this process if it were not blocked
    EXPECT_EQ(termination.Wait(), Event::kSignal);
  }
  EXPECT_EQ(termination.Wait(absl::ZeroDuration()), Event::kTimeout);
}

TEST(TerminationTest, AnotherThreadMayEndTheWait) {
  Termination termination;
  std::thread other([&] { termination.Notify(); });
  EXPECT_EQ(termination.Wait(), Event::kNotified);
  other.join();
}

TEST(TerminationTest, BrokenPipesAreIgnored) {
  Termination termination;
  EXPECT_EQ(std::raise(SIGPIPE), 0);
}

}  // namespace
}  // namespace cairn
