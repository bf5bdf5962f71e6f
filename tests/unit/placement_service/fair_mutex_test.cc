#include "services/placement/fair_mutex.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace cairn {
namespace {

TEST(FairMutexTest, WhoWaitsIsLetInBeforeTheHolderGetsItAgain) {
  FairMutex mutex;
  std::vector<int> order;
  mutex.Lock();
  std::vector<std::thread> waiting;
  for (int i = 1; i <= 3; ++i) {
    waiting.emplace_back([&, i] {
      FairLock lock(mutex);
      order.push_back(i);
    });
  }
  // Three have a ticket before the holder asks for another one: it comes after all of them.
  while (mutex.Waiting() < 3) std::this_thread::yield();
  EXPECT_TRUE(mutex.IsWanted());
  mutex.Unlock();
  mutex.Lock();
  order.push_back(4);
  EXPECT_FALSE(mutex.IsWanted());
  mutex.Unlock();
  for (std::thread& thread : waiting) thread.join();
  ASSERT_EQ(order.size(), 4u);
  EXPECT_EQ(order[3], 4);
}

TEST(FairMutexTest, OneAtATimeIsInside) {
  FairMutex mutex;
  std::uint64_t count = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 3000; ++k) {
        FairLock lock(mutex);
        ++count;  // a race, were it not for the lock
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 12'000u);
}

}  // namespace
}  // namespace cairn
