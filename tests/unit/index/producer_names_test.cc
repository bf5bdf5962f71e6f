#include "libs/index/producer_names.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

TEST(ProducerNamesTest, NameKeepsItsNumber) {
  ProducerNames names(3);
  const ProducerId a = names.NumberOf("worker-a");
  const ProducerId b = names.NumberOf("worker-b");
  EXPECT_NE(a, b);
  EXPECT_EQ(names.NumberOf("worker-a"), a);
  EXPECT_EQ(names.NameOf(b), "worker-b");
}

TEST(ProducerNamesTest, NamesBeyondTheLimitShareOne) {
  ProducerNames names(2);
  names.NumberOf("a");
  names.NumberOf("b");
  EXPECT_EQ(names.NumberOf("c"), kOtherProducer);
  EXPECT_EQ(names.NameOf(kOtherProducer), "(other)");
  EXPECT_NE(names.NumberOf("b"), kOtherProducer);
}

}  // namespace
}  // namespace cairn
