#include "libs/node/options.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "libs/node/root_claim.h"
#include "libs/node/stats.h"

namespace cairn {
namespace {

NodeOptions Good() {
  NodeOptions options;
  options.arena_bytes = 4 * kGiB;
  return options;
}

TEST(NodeOptionsTest, DefaultsWithAnArenaAreValid) { EXPECT_TRUE(Validate(Good()).ok()); }

TEST(NodeOptionsTest, EachBadFieldIsNamed) {
  const std::pair<const char*, std::function<void(NodeOptions&)>> bad[] = {
      {"arena_bytes", [](NodeOptions& o) { o.arena_bytes = 0; }},
      {"arena_bytes", [](NodeOptions& o) { o.arena_bytes += 1; }},
      {"arena_bytes", [](NodeOptions& o) { o.segment_bytes = 64 * kKiB; }},
      {"segment_bytes", [](NodeOptions& o) { o.segment_bytes = 5000; }},
      {"shards", [](NodeOptions& o) { o.shards = 5; }},
      {"shards", [](NodeOptions& o) { o.shards = 0; }},
      {"sessions_max", [](NodeOptions& o) { o.sessions_max = 5000; }},
      {"hello_pending_max", [](NodeOptions& o) { o.hello_pending_max = 0; }},
      {"pins_per_session_max", [](NodeOptions& o) { o.pins_per_session_max = 0; }},
      {"loans_max", [](NodeOptions& o) { o.loans_max = 1 << 20; }},
      {"pin_age_max", [](NodeOptions& o) { o.pin_age_max = absl::ZeroDuration(); }},
      {"hello_deadline", [](NodeOptions& o) { o.hello_deadline = absl::InfiniteDuration(); }},
  };
  for (const auto& [field, spoil] : bad) {
    NodeOptions options = Good();
    spoil(options);
    const absl::Status status = Validate(options);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << field;
    EXPECT_EQ(std::string(status.message()).rfind(field, 0), 0u) << status;
  }
}

TEST(NodeStatsTest, SumOfShardsCountsEveryMember) {
  ShardStats one;
  auto* numbers = reinterpret_cast<std::uint64_t*>(&one);
  const std::size_t count = sizeof one / sizeof(std::uint64_t);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = i + 1;
  ShardStats sum = one;
  sum += one;
  const auto* summed = reinterpret_cast<const std::uint64_t*>(&sum);
  for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(summed[i], 2 * (i + 1)) << i;
}

TEST(NodeStatsTest, EveryRefusalHasAName) {
  for (std::size_t i = 0; i < kHelloRefusals; ++i) {
    EXPECT_NE(HelloRefusalName(static_cast<HelloRefusal>(i)), std::string());
  }
}

TEST(RootClaimTest, EveryPartChangesTheRoot) {
  const RootClaim base{.identity = {.model = "m", .numerics = "n"},
                       .name_space = "s",
                       .salt = "t",
                       .block_tokens = 16};
  const Root root = *RootOf(base);
  RootClaim other = base;
  other.salt = "u";
  EXPECT_NE(*RootOf(other), root);
  other = base;
  other.block_tokens = 32;
  EXPECT_NE(*RootOf(other), root);
  other = base;
  other.identity.rope = "r";
  EXPECT_NE(*RootOf(other), root);
  other.identity.rope = std::string(limits::kIdentityFieldBytesMax + 1, 'r');
  EXPECT_FALSE(RootOf(other).ok());
  const ClaimFields fields(base);
  ASSERT_EQ(fields.fields().size(), 10u);
  EXPECT_TRUE(fields.fields()[8].is_secret) << "the salt is compared, never shown";
}

}  // namespace
}  // namespace cairn
